/* What readers and writers elsewhere have in common: a process that was taken, the bounds it has, what it said, and why
 * it is gone. For worker_reader.c and worker_writer.c. */
#pragma once

#include <stdatomic.h>

#include "io/decoder/worker_process.h"

typedef struct smp_asked {
    smp_worker *worker; /* null: it died */
    uint64_t charged;   /* bytes counted against the limit: the process's */
    uint64_t picture;   /* bytes of rows that it was checked for */
    double time_limit;  /* as in smp_read_options */
    double allowed;     /* seconds for its file, as bounded last */
    void *left;         /* the arena of a worker that died, whose rows may still be read: until smp_asked_end */
    size_t left_size;
} smp_asked;

/* Seconds of the processor for a file, before which it had used others. */
void smp_asked_bound_time(smp_asked *a, double before, double seconds);

/* Before a header is known a process may take what --max-memory allows; after it, what was asked for. more: bytes of
 * addresses besides. */
void smp_asked_bound_memory(const smp_asked *a, bool opened, uint64_t more);

/* Fills in what smp_alloc may give there, and sends, within the watch's patience. */
smp_code smp_asked_send(smp_asked *a, smp_ask *ask, uint64_t max_memory, const smp_wire *rest, const int *descriptors,
                        int count, smp_error *err);

/* Waits for the answer and what follows it, within the patience. Data: from smp_alloc. */
smp_code smp_asked_receive(smp_asked *a, const smp_patience *patience, smp_answer *answer, smp_wire *wire,
                           smp_error *err);

/* Charges the process's memory to the program. */
void smp_asked_charge(smp_asked *a, const smp_answer *answer, uint64_t limit);

/* Reports what the process says is wrong; a code that is not its to say, or no word, is no answer. */
smp_code smp_asked_error(smp_asked *a, const smp_answer *answer, smp_error *told, smp_error *err);

/* Ends it; rows of it may still be read. As smp_worker_end. */
int smp_asked_lose(smp_asked *a);

/* It is gone, and why. ended: the program lost its patience. */
smp_code smp_asked_fail_dead(smp_asked *a, bool ended, smp_error *err);

/* It gave an answer that is none. */
smp_code smp_asked_fail_answer(smp_asked *a, smp_error *err);

/* Gives the process back, or ends it where it did not close its file. */
void smp_asked_end(smp_asked *a, bool closed);

/* Requests that processes answered. */
extern atomic_uint_fast64_t smp_asked_count;
