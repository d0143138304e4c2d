/* The monotonic clock, in seconds. */
#ifndef SMP_BASE_CLOCK_H
#define SMP_BASE_CLOCK_H

#include <time.h>

static inline double smp_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
