/* stats: count, extremes, sum and spread of the samples of a picture or a sound, per channel. The record of a chunk and
 * the arithmetic that every device repeats. Kernel parameters: smp_histogram_params, for the launch that counts for
 * percentiles; the launch that makes chunks needs none.
 *
 * Result (SMP_RESULT_CHUNKS): smp_stats_chunk [chunks][channels]; for chunks and lanes see the end of view.h. In a
 * chunk, sums are of d = v - pivot in double, where the pivot is the chunk's first sample of that channel (0 when that
 * is not finite): a lane adds d to one sum and d * d, rounded, to another. Samples that are not finite add nothing.
 *
 * Why a pivot: the sum of squares about the mean is then squares - sum^2 / n. The pivot is one of the samples, so that
 * subtraction loses at most a factor n + 1 of precision, however far the values are from 0. Why double: for code values
 * of 8 and 16 bits every sum is an exact integer below 2^53, so that integer loops give the same bytes. */
#pragma once

#include "reduce/histogram.h"

typedef struct smp_stats_chunk {
    double sum;     /* of the finite samples */
    double squares; /* of their distances from their mean */
    int64_t count;  /* of finite samples; 0: everything else is 0 */
    float min, max; /* of them */
} smp_stats_chunk;

SMP_HOST_DEVICE int smp_stats_finite(float v)
{
    return v - v == 0.f;
}

SMP_HOST_DEVICE float smp_stats_pivot(float first)
{
    return smp_stats_finite(first) ? first : 0.f;
}

/* The record of a chunk from the sums of d and d * d over its lanes, and its extremes. */
SMP_HOST_DEVICE smp_stats_chunk smp_stats_close(int64_t count, float pivot, double sum, double squares, float min,
                                                float max)
{
    smp_stats_chunk chunk = {0., 0., count, 0.f, 0.f};
    if (count > 0) {
        double spread = squares - sum * sum / (double)count;
        chunk.sum = (double)pivot * (double)count + sum;
        chunk.squares = spread > 0. ? spread : 0.;
        chunk.min = min + 0.f; /* -0 and 0 compare equal: the result must not show which came first */
        chunk.max = max + 0.f;
    }
    return chunk;
}

/* Two chunks, or subtrees of chunks, as one: the pairwise update of Chan, Golub and LeVeque (1983). */
SMP_HOST_DEVICE smp_stats_chunk smp_stats_join(smp_stats_chunk a, smp_stats_chunk b)
{
    if (a.count == 0 || b.count == 0)
        return a.count == 0 ? b : a;
    double n = (double)a.count, m = (double)b.count, delta = b.sum / m - a.sum / n;
    smp_stats_chunk both = {a.sum + b.sum, a.squares + b.squares + delta * delta * (n * m / (n + m)), a.count + b.count,
                            a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
    return both;
}

/* The record of a chunk of integer code values from their own sums: exact, and so the same. */
SMP_HOST_DEVICE smp_stats_chunk smp_stats_close_codes(int64_t count, int32_t pivot, int64_t sum, int64_t squares,
                                                      int32_t min, int32_t max)
{
    squares += pivot * (count * pivot - 2 * sum);
    sum -= count * pivot;
    return smp_stats_close(count, (float)pivot, (double)sum, (double)squares, (float)min, (float)max);
}

/* Bytes of scratch memory of the tiled CPU kernels: a chunk of f32 samples, or the histogram's tables. */
static inline size_t smp_stats_scratch(const smp_io *io, const void *params)
{
    size_t chunk = (size_t)SMP_CHUNK * (size_t)io->in.channels * sizeof(float),
           tables = smp_histogram_scratch(io, params);
    return chunk > tables ? chunk : tables;
}

SMP_CPU_DECLARE(stats_naive);
SMP_CPU_DECLARE(stats_tiled);
