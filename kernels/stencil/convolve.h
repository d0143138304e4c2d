/* convolve and correlate: a sum of weighted neighbours. Parameters and the arithmetic of one tap.
 *
 * The definition, the same on every device and for every storage of the input: s = offset in code values; then, for
 * every element of the kernel in row order (zeros too), s = fma(k[j][i], p[y-up+j][x-left+i], s) in f32; one rounding
 * at the store. The kernel is applied as it is (correlation); for a convolution the planner flips it. */
#pragma once

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
    int32_t keep_alpha;           /* alpha passes through: the kernel is no average */
    int32_t inside;               /* results of samples within 0..white lie within 0..white */
    float fill;                   /* of `constant`: a fraction of full scale */
    float offset;                 /* a fraction of full scale */
    float k[SMP_CONVOLVE_INLINE]; /* row by row, when they fit */
} smp_convolve;

SMP_HOST_DEVICE const float *smp_convolve_kernel(const smp_convolve *kernel, const void *table)
{
    return kernel->rows * kernel->cols <= SMP_CONVOLVE_INLINE ? kernel->k : (const float *)table;
}
SMP_HOST_DEVICE int64_t smp_convolve_down(const smp_convolve *kernel)
{
    return kernel->rows - 1 - kernel->up;
}
SMP_HOST_DEVICE int64_t smp_convolve_right(const smp_convolve *kernel)
{
    return kernel->cols - 1 - kernel->left;
}

/* The sum before the first tap, and one tap. */
SMP_HOST_DEVICE float smp_convolve_first(const smp_convolve *kernel, float white)
{
    return kernel->offset * white;
}
SMP_HOST_DEVICE float smp_convolve_tap(float s, float k, float p)
{
    return fmaf(k, p, s);
}

/* CPU: floats from a window row to the next. */
SMP_HOST_DEVICE int64_t smp_convolve_pitch(const smp_convolve *kernel, int channels)
{
    int64_t floats = STENCIL_PITCH + (int64_t)(kernel->cols - 1) * channels;
    return (floats + STENCIL_LANES - 1) / STENCIL_LANES * STENCIL_LANES;
}

/* CPU scratch of the tiled walk: the window and four output rows. */
SMP_HOST_DEVICE size_t smp_convolve_scratch(const smp_convolve *kernel, int channels)
{
    int64_t reach = kernel->rows - 1;
    return (smp_stencil_window(reach, smp_stencil_step(reach), smp_convolve_pitch(kernel, channels)) +
            4 * STENCIL_PITCH) *
           sizeof(float);
}

/* GPU: a tile is SMP_CONVOLVE_ACROSS samples by SMP_CONVOLVE_DOWN rows. A thread has four samples, 32 apart, of four
 * rows. Rows come into shared memory in batches; a row begins at a multiple of four samples, `margin` before the tile.
 */
SMP_HOST_DEVICE int smp_convolve_margin(const smp_convolve *kernel, int channels)
{
    return (kernel->left * channels + 3) / 4 * 4;
}
/* Floats from a row to the next; rows of a batch. */
SMP_HOST_DEVICE int smp_convolve_line(const smp_convolve *kernel, int channels)
{
    return smp_convolve_margin(kernel, channels) + SMP_CONVOLVE_ACROSS +
           ((int)smp_convolve_right(kernel) * channels + 3) / 4 * 4;
}
SMP_HOST_DEVICE int smp_convolve_batch(const smp_convolve *kernel, int channels)
{
    const int most = SMP_CONVOLVE_SHARED / 4 / smp_convolve_line(kernel, channels),
              all = SMP_CONVOLVE_DOWN + kernel->rows - 1;
    return all < most ? all : most;
}

/* GPU: the side of convolve_warp.cu's kernel, one warp a strip, for this launch, or 0: none. The border value must be
 * zero; offsets in a row have 32 bits. */
SMP_HOST_DEVICE int smp_convolve_warp(const smp_convolve *kernel, const smp_io *io)
{
    const int channels = io->in.channels, side = kernel->rows;
    const int square = (side == 3 || side == 5 || side == 7) && kernel->cols == side && kernel->up == side / 2 &&
                       kernel->left == side / 2;
    return square && smp_rows_aligned(io) && io->in.format == io->out.format && io->in.format != SMP_U16 &&
                   !(kernel->keep_alpha && io->in.alpha) && (channels == 1 || channels == 3 || channels == 4) &&
                   (kernel->edge != SMP_CONSTANT || kernel->fill == 0.f) && io->in.width * channels <= 1 << 30
               ? side
               : 0;
}
/* 16-byte packs of their reach to a side. */
#ifdef __cplusplus
SMP_HOST_DEVICE constexpr int smp_convolve_packs(int side, int channels, int sample_size)
{
    return (side / 2 * channels * sample_size + 15) / 16;
}
#endif

SMP_CPU_DECLARE(convolve_naive);
SMP_CPU_DECLARE(convolve_tiled);
