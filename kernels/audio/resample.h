/* resample: another rate by a windowed sinc. Parameters, definition, kernels.
 *
 * The definition. With L / M the ratio of the rates in lowest terms, frame j of a channel is y after
 *     y = 0
 *     for k = 0 .. 2 half - 1    y = fma(w[p][k], x[i - half + 1 + k], y)
 * in f32, with i = floor(j M / L), p = j M mod L, x = 0 outside the sound (w: io->table, L rows of 2 half floats). */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum {
    SMP_RESAMPLE_MOST = 65536, /* of L and M */
    SMP_RESAMPLE_TURNS = 64,   /* CPU: results of a phase that are made of the same planes */
    SMP_RESAMPLE_TILE = 128    /* GPU: frames of a channel that a block makes at a time */
};

typedef struct smp_resample {
    int32_t l, m, half;
    int32_t exchange; /* GPU, swizzled: the power of two in M, up to 32, less 1, where L is 1; else 0 */
} smp_resample;

typedef struct smp_resample_place {
    int64_t first; /* the input frame of the first tap */
    int32_t phase;
} smp_resample_place;

SMP_HOST_DEVICE smp_resample_place smp_resample_at(const smp_resample *p, int64_t j)
{
    const int64_t at = j * p->m;
    const smp_resample_place place = {at / p->l - p->half + 1, (int32_t)(at % p->l)};
    return place;
}

/* Input frames that `count` frames in a row read, at most. */
SMP_HOST_DEVICE int64_t smp_resample_span(const smp_resample *p, int64_t count)
{
    return ((count - 1) * p->m + p->l - 1) / p->l + 2 * p->half;
}

/* CPU: how the frames are split into planes, of which there are m: frame u is frame u / m of plane u % m. Results l
 * frames apart read frames m apart, which lie side by side in a plane. Of ratios of small numbers, l and m are a
 * multiple of L and M, so that phases are made some at a time. */
typedef struct smp_resample_split {
    int64_t l, m, plane; /* frames of a plane */
} smp_resample_split;

SMP_HOST_DEVICE smp_resample_split smp_resample_split_of(const smp_resample *p)
{
    enum { SOME = 3, FEW = 16, LINE = 16 /* floats of a cache line */ };
    const int64_t times = p->l < FEW && p->l % SOME ? SOME : 1, m = p->m * times;
    const int64_t frames = SMP_RESAMPLE_TURNS + (m + 2 * p->half) / m + 2;
    const smp_resample_split s = {p->l * times, m, ((frames + LINE - 1) / LINE | 1) * LINE};
    return s;
}

/* CPU: planes serve where a phase has many results in a row; else frames one by one. */
SMP_HOST_DEVICE int smp_resample_in_planes(const smp_resample *p)
{
    enum { MOST = 2048 };
    return p->l <= MOST && p->m <= MOST;
}

/* Planes, and the results of all phases at once. */
SMP_HOST_DEVICE size_t smp_resample_scratch(const smp_resample *p)
{
    enum { LINE = 64, PLACE = 16, MORE = 3 /* bytes; phases */ };
    const smp_resample_split s = smp_resample_split_of(p);
    const size_t results = (size_t)(s.l + MORE) * (SMP_RESAMPLE_TURNS * sizeof(float) + PLACE);
    return smp_resample_in_planes(p) ? (size_t)(s.m * s.plane) * sizeof(float) + results + LINE : 0;
}

SMP_CPU_DECLARE(resample_naive);
SMP_CPU_DECLARE(resample_tiled);
