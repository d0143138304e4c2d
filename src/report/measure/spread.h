/* Spread of a value over many files: quantiles, and a histogram. */
#pragma once

#include <stddef.h>

enum { SMP_SPREAD_BINS = 32 };

typedef struct smp_spread {
    size_t count;                          /* of the values that are finite */
    double least, low, middle, high, most; /* low and high: quartiles */
    double scale; /* of the usual distance from the middle, as a normal distribution's deviation: the larger of what the
                     median of the distances and what the quartiles say; 0: more than half of the values are the same */
    size_t bins[SMP_SPREAD_BINS]; /* from least to most */
} smp_spread;

/* values: not NaN; they are sorted. scratch: as many. */
void smp_spread_find(double *values, size_t count, double *scratch, smp_spread *spread);
