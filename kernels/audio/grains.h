/* tempo, pitch: a sound cut into grains, which are joined where they fit (WSOLA: Verhelst and Roelands, 1993): where, a
 * trace says (trace.h, stages/shared/sound/stretching.c).
 *
 * Grain k makes frames k hop .. k hop + hop - 1 of the result and, as it fades out, the first `overlap` frames of grain
 * k + 1. It begins at frame at[k] / 2^16 of the sound (io->table), and moves by `step` / 2^32 frames a frame: its frame
 * j is x at at[k] 2^16 + j step. Where the step is 2^32, at[k] is whole, and that is one frame of the sound; else a sum
 * of 2 half taps around it, in f32: y[t mod 8] = fma(w, x[floor - half + 1 + t], y[t mod 8]) for t = 0 .. 2 half - 1,
 * with w = fma(part, W[p + 1][t] - W[p][t], W[p][t]), and then y[0..3] + y[4..7], [0] + [2] and [1] + [3], [0] + [1].
 * The fraction's first bits are the phase p, its other ones `part`; W follows at[] in the table. Grain k - 1 fades out
 * as k comes: fma(f, new - old, old), f = s^2 (3 - 2 s), s = (j + 1/2) / overlap.
 */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_GRAINS_PHASES = 256, SMP_GRAINS_PHASE_BITS = 8, SMP_GRAINS_SUMS = 8, SMP_GRAINS_HALF = 64 };

typedef struct smp_grains {
    int64_t step;     /* of a frame, times 2^32 */
    int64_t count;    /* of at[]; 0: grain k begins at frame k hop num / den, rounded down */
    int64_t num, den; /* below 2^28 and 2^25 */
    int32_t hop, overlap;
    int32_t half; /* taps on either side, a multiple of 4; 0: none, whole frames */
    float rise;   /* 1 / overlap */
} smp_grains;

SMP_HOST_DEVICE const float *smp_grains_weights(const smp_io *io, const smp_grains *p)
{
    return (const float *)(const void *)((const int64_t *)io->table + p->count);
}

/* Where grain k begins, in 2^-16 frames. */
SMP_HOST_DEVICE int64_t smp_grain_at(const smp_io *io, const smp_grains *p, int64_t k)
{
    const int64_t due = k * p->hop;
    return p->count ? ((const int64_t *)io->table)[k] : (due / p->den * p->num + due % p->den * p->num / p->den) << 16;
}

/* Where its frame j is. */
typedef struct smp_grain_place {
    int64_t frame;
    uint32_t fraction; /* of a frame, times 2^32 */
} smp_grain_place;

SMP_FORMULA smp_grain_place smp_grain_place_of(const smp_grains *p, int64_t at, int64_t j)
{
    const int64_t moved = ((at & 0xffff) << 16) + j * p->step;
    const smp_grain_place place = {(at >> 16) + (moved >> 32), (uint32_t)moved};
    return place;
}

SMP_FORMULA float smp_grain_sum(const float sum[SMP_GRAINS_SUMS])
{
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* Frame j of the grain that begins at `at`. */
SMP_HOST_DEVICE float smp_grain_frame(const smp_io *io, const smp_grains *p, int64_t at, int64_t j, int channel)
{
    const smp_grain_place place = smp_grain_place_of(p, at, j);
    if (!p->half)
        return smp_frame_at(&io->in, place.frame, channel);
    const uint32_t fraction = place.fraction, below = fraction << SMP_GRAINS_PHASE_BITS;
    const float part = (float)(below >> 8) * 0x1p-24f;
    const int32_t taps = 2 * p->half;
    const float *w = smp_grains_weights(io, p) + (int64_t)(fraction >> (32 - SMP_GRAINS_PHASE_BITS)) * taps;
    float sum[SMP_GRAINS_SUMS] = {0};
    for (int32_t t = 0; t < taps; t += SMP_GRAINS_SUMS)
        for (int32_t i = 0; i < SMP_GRAINS_SUMS; i++)
            sum[i] = fmaf(fmaf(part, w[taps + t + i] - w[t + i], w[t + i]),
                          smp_frame_at(&io->in, place.frame - p->half + 1 + t + i, channel), sum[i]);
    return smp_grain_sum(sum);
}

/* How far grain k has come at frame j: 1 behind the overlap. */
SMP_FORMULA float smp_grain_fade(const smp_grains *p, int64_t k, int64_t j)
{
    const float s = ((float)j + 0.5f) * p->rise;
    return j >= p->overlap || k == 0 ? 1.f : s * s * (3.f - 2.f * s);
}

/* The definition. */
SMP_HOST_DEVICE float smp_grains_sample(const smp_io *io, const smp_grains *p, int64_t y, int channel)
{
    const int64_t k = y / p->hop, j = y - k * p->hop;
    const float now = smp_grain_frame(io, p, smp_grain_at(io, p, k), j, channel), f = smp_grain_fade(p, k, j);
    if (f == 1.f)
        return smp_one_nan(now);
    const float before = smp_grain_frame(io, p, smp_grain_at(io, p, k - 1), j + p->hop, channel);
    return smp_one_nan(fmaf(f, now - before, before));
}

SMP_CPU_DECLARE(grains_naive);
SMP_CPU_DECLARE(grains_tiled);
