/* Count, sum, spread and extremes of samples of several files, the same to the last bit whatever the order and the
 * grouping in which files are added: what stats needs of a file are its count n, its sum s, and the sum m of squared
 * distances from its mean. Over files the squared distances from the mean of all are sum(m) + sum(s * s / n) - S * S /
 * N (Chan, Golub, LeVeque 1983), with exact sums, and with quotients that are kept as two doubles: right to about
 * 2^-100 of S * S / N. Of one file they are m itself. */
#pragma once

#include "base/exact.h"
#include "reduce/stats.h"

typedef struct smp_moments {
    int64_t count; /* of finite samples */
    float min, max;
    smp_exact sum, inside, between; /* of s, m, and s * s / n */
} smp_moments;

/* More samples than this are not added up: 2^62. */
#define SMP_MOMENTS_MOST (INT64_C(1) << 62)

void smp_moments_of(const smp_stats_chunk *all, smp_moments *moments);
void smp_moments_join(smp_moments *total, const smp_moments *more);

/* Count, sum, squares and extremes, each rounded once. */
smp_stats_chunk smp_moments_read(const smp_moments *moments);

/* Without the count, which the caller keeps. */
void smp_moments_pack(const smp_moments *moments, smp_packer *to);
void smp_moments_unpack(smp_unpacker *from, smp_moments *moments);
