/* The monotonic clock, in seconds; times of files in nanoseconds. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline double smp_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int64_t smp_nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
