/* Work that is left in its midst once nobody wants it: a function that computes and does nothing else, as kernels do,
 * which neither allocate, lock nor do I/O. What it was writing is not whole then. */
#pragma once

#include <stdbool.h>

typedef struct smp_wish {
    bool (*gone)(void *context); /* for ever; any thread asks, from a signal handler too */
    void *context;
} smp_wish;

/* Calls work(argument), and returns when that does or, soon after smp_wishes_ask(), when the wish is gone. */
void smp_while_wished(const smp_wish *wish, void (*work)(void *argument), void *argument);

/* Has all threads that work so ask whether they should. Takes SIGURG, which else nobody in the program handles. */
void smp_wishes_ask(void);
