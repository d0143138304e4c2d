/* The row pass of bytes as a product with a banded matrix of whole weights (gaussian_weights.h where
 * smp_gaussian.whole): what the kernels that make it on tensor cores and those who launch them share. A product makes
 * SMP_BANDED_TILE columns of a row from a window of 32 bytes a step; smp_io.table holds the matrices
 * (src/stages/shared/stencil/banded_matrices.h). */
#pragma once

#include "gaussian/gaussian_weights.h"

enum {
    SMP_BANDED_STEPS = 3,                         /* of a window, at most: sides of 8, 24 or 40 samples */
    SMP_BANDED_RADIUS = SMP_GAUSSIAN_INTEGER_ROWS /* of gaussian_mma_u8.cu, at most */
};

/* Bytes to the left of a tile that a window of `steps` begins with. */
#ifdef __cplusplus
SMP_HOST_DEVICE constexpr int smp_banded_side(int steps)
#else
SMP_HOST_DEVICE int smp_banded_side(int steps)
#endif
{
    return 16 * steps - 8;
}
/* Returns how many steps reach as far as the taps of a row; 0: none do. */
SMP_HOST_DEVICE int smp_banded_steps(int radius, int channels)
{
    for (int steps = 1; steps <= SMP_BANDED_STEPS; steps++)
        if (radius * channels <= smp_banded_side(steps))
            return steps;
    return 0;
}
/* 32-bit words of the matrix: high and low bytes of the weights, each step after the other; four registers of 32 lanes.
 */
SMP_HOST_DEVICE int smp_banded_words(int steps)
{
    return 2 * steps * 4 * 32;
}
/* The row weight of distance k as a whole number of 65536ths. */
SMP_HOST_DEVICE uint32_t smp_banded_weight(const smp_gaussian *g, int k)
{
    k = k < 0 ? -k : k;
    return (uint32_t)(g->a[k] * (float)SMP_GAUSSIAN_ONE);
}

/* The radius of gaussian_mma_u8.cu's kernel for this launch, or 0: none. Taps of weight zero change nothing, so one
 * serves several radii. Outside the picture it knows zero, but no other value, and places in a row have 32 bits. */
SMP_HOST_DEVICE int smp_banded_warp(const smp_gaussian *g, const smp_io *io)
{
    const int fits = io->in.format == SMP_U8 && io->out.format == SMP_U8 && io->in.width * io->in.channels <= 1 << 30;
    if (!fits || !smp_rows_aligned(io) || io->in.channels > SMP_GAUSSIAN_CHANNELS || !g->whole ||
        (g->edge == SMP_CONSTANT && g->fill != 0.f) || g->radius < SMP_BANDED_LEAST ||
        !smp_banded_steps(g->radius, io->in.channels))
        return 0;
    return g->radius <= 8 ? g->radius : g->radius <= 10 ? 10 : 12;
}
