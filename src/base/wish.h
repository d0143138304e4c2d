/* Work that is left in its midst once nobody wants it: that only computes, as kernels do, and neither allocates, locks
 * nor does I/O. What it was writing is not whole then. */
#pragma once

#include <stdbool.h>

typedef struct smp_wish {
    bool (*gone)(void *context); /* for ever; any thread asks, from a signal handler too */
    void *context;
} smp_wish;

/* Calls work(context, part), and returns when that does or, soon after smp_wishes_ask(), when the wish is gone. wish
 * may be null. Work may call it again: a part goes with the whole. */
void smp_while_wished(const smp_wish *wish, void (*work)(void *context, int part), void *context, int part);

/* Has all that work so ask. Takes SIGURG, which else nobody in the program handles. */
void smp_wishes_ask(void);
