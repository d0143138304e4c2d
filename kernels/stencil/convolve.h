/* taps: a sum of weighted neighbours, for convolve and correlate. Parameters and the arithmetic of one tap.
 *
 * The definition, the same on every device and for every storage of the input: s = offset in code values; then, for
 * every element of the kernel in row order (zeros too), s = fma(k[j][i], p[y-up+j][x-left+i], s) in f32; one rounding
 * at the store. The kernel is applied as it stands (correlation); the planner has flipped it where a convolution is
 * meant. */
#ifndef SMP_KERNELS_TAPS_H
#define SMP_KERNELS_TAPS_H

#include "lib/tuning.h"
#include "stencil/stencil.h"

enum {
    SMP_CONVOLVE_MAX = 63,    /* rows and columns of a kernel */
    SMP_CONVOLVE_INLINE = 225 /* elements that travel with the parameters (15 x 15); larger kernels use smp_io.table */
};

typedef struct smp_convolve {
    int32_t rows, cols;
    int32_t up, left;             /* rows above and columns before the middle */
    int32_t edge;                 /* smp_edge */
    int32_t keep_alpha;           /* alpha passes through: the kernel is not an average */
    int32_t inside;               /* results of samples within 0..white lie within 0..white */
    float fill;                   /* of `constant`: a fraction of full scale */
    float offset;                 /* a fraction of full scale */
    float k[SMP_CONVOLVE_INLINE]; /* row by row, when they fit */
} smp_convolve;

SMP_HOST_DEVICE const float *smp_convolve_kernel(const smp_convolve *t, const void *table)
{
    return t->rows * t->cols <= SMP_CONVOLVE_INLINE ? t->k : (const float *)table;
}
SMP_HOST_DEVICE int64_t smp_convolve_down(const smp_convolve *t)
{
    return t->rows - 1 - t->up;
}
SMP_HOST_DEVICE int64_t smp_convolve_right(const smp_convolve *t)
{
    return t->cols - 1 - t->left;
}

/* The sum before the first tap, and one tap. */
SMP_HOST_DEVICE float smp_convolve_first(const smp_convolve *t, float white)
{
    return t->offset * white;
}
SMP_HOST_DEVICE float smp_convolve_tap(float s, float k, float p)
{
    return fmaf(k, p, s);
}

/* CPU: floats from a window row to the next. */
SMP_HOST_DEVICE int64_t smp_convolve_pitch(const smp_convolve *t, int channels)
{
    int64_t floats = STENCIL_PITCH + (int64_t)(t->cols - 1) * channels;
    return (floats + STENCIL_LANES - 1) / STENCIL_LANES * STENCIL_LANES;
}

/* CPU scratch of the tiled walk: the window and four output rows. */
SMP_HOST_DEVICE size_t smp_convolve_scratch(const smp_convolve *t, int channels)
{
    int64_t reach = t->rows - 1;
    return (smp_stencil_window(reach, smp_stencil_step(reach), smp_convolve_pitch(t, channels)) + 4 * STENCIL_PITCH) *
           sizeof(float);
}

/* GPU: a tile is SMP_CONVOLVE_ACROSS samples by SMP_CONVOLVE_DOWN rows, a row of four samples 32 apart and four rows a
 * thread. Its rows come into shared memory in batches; a row begins at a multiple of four samples, `margin` before the
 * tile. */
SMP_HOST_DEVICE int smp_convolve_margin(const smp_convolve *t, int channels)
{
    return (t->left * channels + 3) / 4 * 4;
}
/* Floats from a row to the next; rows of a batch. */
SMP_HOST_DEVICE int smp_convolve_line(const smp_convolve *t, int channels)
{
    return smp_convolve_margin(t, channels) + SMP_CONVOLVE_ACROSS + ((int)smp_convolve_right(t) * channels + 3) / 4 * 4;
}
SMP_HOST_DEVICE int smp_convolve_batch(const smp_convolve *t, int channels)
{
    const int most = SMP_CONVOLVE_SHARED / 4 / smp_convolve_line(t, channels), all = SMP_CONVOLVE_DOWN + t->rows - 1;
    return all < most ? all : most;
}

/* GPU: the side of convolve_warp.cu's kernel, one warp a strip, for this launch, or 0: none. Outside the picture they
 * know zero, but no other value; places in a row have 32 bits. */
SMP_HOST_DEVICE int smp_convolve_warp(const smp_convolve *t, const smp_io *io)
{
    const int channels = io->in.channels, side = t->rows;
    const int square =
        (side == 3 || side == 5 || side == 7) && t->cols == side && t->up == side / 2 && t->left == side / 2;
    return square && smp_rows_aligned(io) && io->in.format == io->out.format && io->in.format != SMP_U16 &&
                   !(t->keep_alpha && io->in.alpha) && (channels == 1 || channels == 3 || channels == 4) &&
                   (t->edge != SMP_CONSTANT || t->fill == 0.f) && io->in.width * channels <= 1 << 30
               ? side
               : 0;
}
/* Packs of 16 bytes that they reach to a side. */
#ifdef __cplusplus
SMP_HOST_DEVICE constexpr int smp_convolve_packs(int side, int channels, int sample_size)
{
    return (side / 2 * channels * sample_size + 15) / 16;
}
#endif

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(convolve_naive);
SMP_CPU_DECLARE(convolve_tiled);
#ifdef __cplusplus
}
#endif

#endif
