/* The blur by a Gaussian, for gaussian and the stages that build on it: parameters and the arithmetic of one tap.
 *
 * The definition, the same on every device and for every storage of the input:
 *   row pass      m = a[0]*p[x];  for k = 1..r:  m = fma(a[k], p[x-k] + p[x+k], m)       f32; p are code values
 *   column pass   s = w[r]*m[y-r];  for i = -r+1..r:  s = fma(w[|i|], m[y+i], s)           f32, from top to bottom
 * and one rounding at the store. Pair sums of 8- and 16-bit samples are exact in f32, so integer storage may add
 * integers. Outside the picture under `zero` and `constant`, p has the border value, and m that value times the sum of
 * all a.
 *
 * a and w are the Gaussian's weights b, which sum to 1. For 8-bit pictures up to radius SMP_GAUSSIAN_INTEGER_ROWS, a
 * are multiples of 1/65536, a[k] = A[k] / 65536 (smp_gaussian_integer_rows() in
 * src/stages/shared/stencil/gaussian_plan.h). m of u8 is then exact in f32, in any order of the taps and on tensor
 * cores. They sum to N / 65536, which w[k] = b[k] * 65536 / N compensates. A[k] / N differ so little from b[k] that a
 * result moves by less than 0.01 code values. Else a = w = b. */
#pragma once

#include "lib/tuning.h"
#include "stencil/stencil.h"

enum { SMP_GAUSSIAN_INLINE = 64 }; /* weights that travel with the parameters; wider filters use smp_io.table */

typedef struct smp_gaussian {
    int32_t radius;
    int32_t edge;                 /* smp_edge */
    float fill;                   /* of `constant`: a fraction of full scale */
    int32_t whole;                /* N where a are multiples of 1/65536, else 0 */
    float w[SMP_GAUSSIAN_INLINE]; /* column pass: w[k] for distance k, when radius < SMP_GAUSSIAN_INLINE */
    float a[SMP_GAUSSIAN_INLINE]; /* row pass: likewise */
} smp_gaussian;

/* Largest radius with integer row weights for 8-bit pictures: beyond, results would move by more than 0.01. */
enum { SMP_GAUSSIAN_INTEGER_ROWS = 12, SMP_GAUSSIAN_ONE = 65536 };

/* w[0..radius] of the column pass. */
SMP_HOST_DEVICE const float *smp_gaussian_weights(const smp_gaussian *g, const void *table)
{
    return g->radius < SMP_GAUSSIAN_INLINE ? g->w : (const float *)table;
}
/* a[0..radius] of the row pass. */
SMP_HOST_DEVICE const float *smp_gaussian_across(const smp_gaussian *g, const void *table)
{
    return g->radius < SMP_GAUSSIAN_INLINE ? g->a : (const float *)table;
}
/* m in rows outside the picture, where p is `outside`. */
SMP_HOST_DEVICE float smp_gaussian_outside(const smp_gaussian *g, float outside)
{
    return g->whole ? outside * ((float)g->whole / (float)SMP_GAUSSIAN_ONE) : outside;
}

SMP_HOST_DEVICE float smp_gaussian_first(float w, float p)
{
    return w * p;
}
SMP_HOST_DEVICE float smp_gaussian_pair(float s, float w, float left, float right)
{
    return fmaf(w, left + right, s);
}
SMP_HOST_DEVICE float smp_gaussian_tap(float s, float w, float m)
{
    return fmaf(w, m, s);
}

/* One value of the row pass, in rows outside the picture too. */
SMP_HOST_DEVICE float smp_gaussian_row(const smp_view *in, const smp_gaussian *g, const float *a, int64_t x, int64_t y,
                                       int c)
{
    const float outside = smp_outside(g->edge, g->fill, in->white);
    if (smp_border(y, in->height, g->edge) < 0)
        return smp_gaussian_outside(g, outside);
    float m = smp_gaussian_first(a[0], smp_at_border(in, x, y, c, g->edge, outside));
    for (int k = 1; k <= g->radius; k++)
        m = smp_gaussian_pair(m, a[k], smp_at_border(in, x - k, y, c, g->edge, outside),
                              smp_at_border(in, x + k, y, c, g->edge, outside));
    return m;
}

/* CPU: the most output rows that the column pass of a tile makes at once (gaussian_at_once()); a step is a multiple. */
enum { SMP_GAUSSIAN_AT_ONCE = 8 };

/* CPU scratch of the tiled walk: a window, a line and those output rows. */
SMP_HOST_DEVICE size_t smp_gaussian_scratch(int radius, int channels)
{
    int64_t reach = 2 * (int64_t)radius;
    return (smp_stencil_window(reach, smp_stencil_step(reach), STENCIL_PITCH) +
            smp_stencil_line((int64_t)radius * channels) + SMP_GAUSSIAN_AT_ONCE * STENCIL_PITCH) *
           sizeof(float);
}

/* GPU: rows by float4s (gaussian_tiled_rows.cuh), from lines in shared memory. Lines hold samples as the input stores
 * them, so the border value must be one; weights are parameters. */
enum { SMP_GAUSSIAN_CHANNELS = 4 }; /* at most */

SMP_HOST_DEVICE int smp_gaussian_float4s(const smp_gaussian *g, int channels)
{
    return g->radius < SMP_GAUSSIAN_INLINE && channels <= SMP_GAUSSIAN_CHANNELS &&
           (g->edge != SMP_CONSTANT || g->fill == 0.f || g->fill == 1.f);
}
/* Samples of halo: what groups of four taps read, in whole 16-byte vectors. */
SMP_HOST_DEVICE int smp_gaussian_halo(int radius, int channels, int sample_size)
{
    const int vec = 16 / sample_size, samples = (radius + 3) / 4 * 4 * channels;
    return (samples + vec - 1) / vec * vec;
}

/* GPU: the kernels of gaussian_warp.cuh, one warp a strip, with 1, 3 or 4 channels: for equal formats, and, up to
 * SMP_GAUSSIAN_MIXED_RADIUS, between u8 and f32. For integer samples zero weights have no effect, so one kernel serves
 * several radii. */
enum { SMP_GAUSSIAN_WARP_RADIUS = 16, SMP_GAUSSIAN_MIXED_RADIUS = 3 };
/* From u8 to u8, kernels of radii up to this need integer row weights, which every plan for bytes makes. */
enum { SMP_GAUSSIAN_DOTS_RADIUS = 3 };

/* The radius of the kernel for this launch, or 0: none. The border value must be zero, rows are aligned, and offsets in
 * a row have 32 bits. */
SMP_HOST_DEVICE int smp_gaussian_warp(const smp_gaussian *g, const smp_io *io)
{
    const int channels = io->in.channels, radius = g->radius, from = io->in.format, to = io->out.format;
    if (!smp_rows_aligned(io) || radius > SMP_GAUSSIAN_WARP_RADIUS || (g->edge == SMP_CONSTANT && g->fill != 0.f) ||
        io->in.width * channels > 1 << 30 || (channels != 1 && channels != 3 && channels != 4))
        return 0;
    if (from == SMP_U8 && to == SMP_U8)
        return radius <= 2 ? 2 : radius <= 8 ? radius : radius <= 12 ? 12 : 16;
    if (from == SMP_U8 && to == SMP_F32)
        return radius <= 2 ? 2 : radius <= SMP_GAUSSIAN_MIXED_RADIUS ? radius : 0;
    if (from == SMP_U16 && to == SMP_U16)
        return radius <= 2 ? 2 : radius <= 4 ? 4 : radius <= 8 ? 8 : radius <= 12 ? 12 : 16;
    if (from == SMP_F32 && to == SMP_U8)
        return radius <= SMP_GAUSSIAN_MIXED_RADIUS ? radius : 0;
    return from == to ? radius : 0;
}

#ifdef __cplusplus
#define SMP_GAUSSIAN_CONSTANT SMP_HOST_DEVICE constexpr
#else
#define SMP_GAUSSIAN_CONSTANT SMP_HOST_DEVICE
#endif
/* Samples that a lane makes of a row: as many as leave their sums in registers and are one store. */
SMP_GAUSSIAN_CONSTANT int smp_gaussian_lane(int32_t from, int32_t to, int radius)
{
    return SMP_GAUSSIAN_LANE(from == SMP_F32 || to == SMP_F32, radius);
}
