/* A few threads that run one function for parts 0 .. n-1 and sleep in between. Sleeping, not spinning: on a machine
 * whose cores are busy with decoding and encoding (or with other programs), threads that wait actively, as OpenMP's do,
 * take the time that they wait for; measured 10 times slower at a load of 12 on 2 cores. */
#ifndef SMP_BASE_POOL_H
#define SMP_BASE_POOL_H

#include "base/error.h"

typedef struct smp_pool smp_pool;

/* Cores that this process may use: containers and taskset may leave fewer than the machine has. At least 1. */
int smp_pool_cores(void);

/* `threads` counts the calling thread; 1 starts none. *out null on failure. */
smp_code smp_pool_open(int threads, smp_pool **out, smp_error *err);

/* Calls fn(context, part) for every part, at most one call a thread at a time, and returns when all are done. One
 * caller at a time. */
void smp_pool_run(smp_pool *pool, int parts, void (*fn)(void *context, int part), void *context);

void smp_pool_close(smp_pool *pool);

#endif
