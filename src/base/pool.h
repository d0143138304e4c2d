/* A few threads that run one function for parts 0 .. n-1 and sleep in between. They sleep and do not spin, because
 * other threads (decoding, encoding, other programs) need the cores: spinning threads, as OpenMP's, were 10 times
 * slower at a load of 12 on 2 cores. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

typedef struct smp_pool smp_pool;

/* Cores that this process may use, at least 1. Containers and taskset may allow fewer than the machine has. */
int smp_pool_cores(void);

/* `threads` includes the calling thread; 1 starts none. *out is null on failure. */
smp_code smp_pool_open(int threads, smp_pool **out, smp_error *err);

/* Calls fn(context, part) for every part and returns when all are done. A thread runs one part at a time. One caller at
 * a time. */
void smp_pool_run(smp_pool *pool, int parts, void (*fn)(void *context, int part), void *context);

/* The same for parts that wait for a file system more than they compute: by a few threads, which are started where they
 * pay and *pool is null; where they do not, or cannot be had, by the calling thread. */
void smp_pool_wait(smp_pool **pool, bool pays, int parts, void (*fn)(void *context, int part), void *context);

void smp_pool_close(smp_pool *pool); /* null is allowed */
