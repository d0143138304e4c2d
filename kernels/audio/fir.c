/* fir on the CPU.
 *   naive  tap after tap for every sample: the definition.
 *   tiled  splits some thousand frames into a plane a channel, which stays in the first- or second-level cache. A run
 *          of results stays in registers, one vector each; a loaded vector of samples serves the taps 32 frames apart
 *          of all results that use it. Arithmetic is the limit: two fused operations a cycle, 0.4 to 0.6 loads for
 *          each. Vectors are written out, because compilers keep such a block of sums in memory. */
#include <string.h>

#include "audio/fir.h"
#include "audio/vectors.h"
#include "lib/constants.h"
#include "lib/elementwise.h"
#include "lib/planes.h"

SMP_CPU_KERNEL(fir_naive)
{
    const smp_fir *p = params;
    const float *k = io->table;
    if (p->parts) {
        SMP_PASTE(fir_fft_one, SMP_ISA)(io, params, scratch, y0, y1);
        return;
    }
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < channels; c++) {
            float s = 0.f;
            for (int b = 0; b < p->taps; b += SMP_FIR_BLOCK)
                for (int j = 0; j < SMP_FIR_APART; j++)
                    for (int i = b + j; i < b + SMP_FIR_BLOCK && i < p->taps; i += SMP_FIR_APART)
                        s = smp_fir_tap(s, k[i], smp_frame_at(&io->in, y - p->before + i, c));
            ((float *)smp_row(&io->out, y))[c] = smp_one_nan(s);
        }
}

/* Vectors of results, and taps held. */
#if defined(__AVX512F__)
enum { RUN = 16, AT_ONCE = 8 /* with a sample, 25 of 32 registers */ };
#else
enum { RUN = 8, AT_ONCE = 4 /* 13 of 16 registers */ };
#endif

enum { APART = SMP_FIR_APART / LANES /* vectors between the taps of a group */, FRAMES = RUN * LANES };
_Static_assert((int)SMP_FIR_CHUNK % FRAMES == 0 && (int)FRAMES <= (int)SMP_FIR_SLACK,
               "whole runs, and room for what they read");

/* Adds `count` taps, 32 apart, to all sums. count is a constant after inlining, and so are all indices. */
SMP_INLINE void add_taps(vec *sum, const float *x, const float *k, const int count)
{
    vec tap[AT_ONCE];
#pragma GCC unroll 8
    for (int t = 0; t < count; t++)
        tap[t] = VEC_ALL(k[t * SMP_FIR_APART]);
#pragma GCC unroll 64
    for (int m = 0; m < RUN + APART * (count - 1); m++) {
        const vec v = VEC_LOAD(x + m * LANES);
#pragma GCC unroll 8
        for (int t = 0; t < count; t++)
            if (m - APART * t >= 0 && m - APART * t < RUN)
                sum[m - APART * t] = VEC_FMA(tap[t], v, sum[m - APART * t]);
    }
}

/* A group: as many taps at a time as registers hold. */
SMP_INLINE void add_group(vec *sum, const float *x, const float *k, const int count)
{
#pragma GCC unroll 8
    for (int t = 0; t < count; t += AT_ONCE)
        add_taps(sum, x + t * SMP_FIR_APART, k + t * SMP_FIR_APART, count - t < AT_ONCE ? count - t : AT_ONCE);
}

/* FRAMES results; x: the sample for the first tap of the first result. */
SMP_INLINE void one_run(float *to, const float *x, const float *k, int taps)
{
    vec sum[RUN];
#pragma GCC unroll 64
    for (int r = 0; r < RUN; r++)
        sum[r] = VEC_ALL(0.f);
    for (int b = 0; b < taps; b += SMP_FIR_BLOCK) {
        const int have = taps - b < SMP_FIR_BLOCK ? taps - b : SMP_FIR_BLOCK;
        const int last = (have - 1) % SMP_FIR_APART + 1; /* groups from here on have a tap less */
        const float *from = x + b, *with = k + b;
        for (int j = 0; j < SMP_FIR_APART && j < have;) {
            const int end = j < last ? last : SMP_FIR_APART;
            SMP_BY_COUNT(smp_fir_group(have, j), for (; j < end; j++) add_group(sum, from + j, with + j, N))
        }
    }
#pragma GCC unroll 64
    for (int r = 0; r < RUN; r++)
        VEC_STORE(to + r * LANES, sum[r]);
}

/* Stores planes of results to frames y .. y+count-1. channels is a constant in the usual cases. */
SMP_INLINE void join_end_to_end(float *restrict to, const float *restrict planes, int64_t count, const int channels)
{
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < channels; c++)
            to[i * channels + c] = smp_one_nan(planes[c * SMP_FIR_PLANE + i]);
}

SMP_INLINE void join(const smp_view *out, int64_t y, int64_t count, const float *planes)
{
    const int channels = out->channels;
    float *to = smp_row(out, y);
    if (out->stride == channels * (int64_t)sizeof(float))
        SMP_BY_CHANNELS(channels, join_end_to_end(to, planes, count, N))
    else
        for (int64_t i = 0; i < count; i++, to = (float *)(void *)((char *)to + out->stride))
            for (int c = 0; c < channels; c++)
                to[c] = smp_one_nan(planes[c * SMP_FIR_PLANE + i]);
}

SMP_CPU_KERNEL(fir_tiled)
{
    const smp_fir *p = params;
    const float *k = io->table;
    if (p->parts) {
        SMP_PASTE(fir_fft_lanes, SMP_ISA)(io, params, scratch, y0, y1);
        return;
    }
    float *results = scratch, *plane = results + io->in.channels * SMP_FIR_PLANE;
    for (int64_t y = y0; y < y1; y += SMP_FIR_CHUNK) {
        const int64_t n = y1 - y < SMP_FIR_CHUNK ? y1 - y : SMP_FIR_CHUNK;
        for (int c = 0; c < io->in.channels; c++) {
            smp_plane_load(plane, &io->in, c, y - p->before, n + p->taps - 1);
            memset(plane + n + p->taps - 1, 0, SMP_FIR_SLACK * sizeof(float));
            for (int64_t i = 0; i < n; i += FRAMES)
                one_run(results + c * SMP_FIR_PLANE + i, plane + i, k, p->taps);
        }
        join(&io->out, y, n, results);
    }
}
