/* The row pass of u8 as a product with a banded matrix of integer weights (smp_gaussian.whole): what the kernels that
 * make it on tensor cores share with the code that launches them. A product makes SMP_BANDED_TILE columns of a row from
 * windows of 32 bytes, one a step; smp_io.table holds the matrices (src/stages/shared/banded_matrices.h). */
#ifndef SMP_KERNELS_GAUSSIAN_BANDED_MMA_H
#define SMP_KERNELS_GAUSSIAN_BANDED_MMA_H

#include "gaussian/gaussian_weights.h"

enum {
    SMP_BANDED_STEPS = 3,                         /* at most: they reach 8, 24 or 40 samples to a side */
    SMP_BANDED_RADIUS = SMP_GAUSSIAN_INTEGER_ROWS /* of gaussian_mma_u8.cu, at most */
};

/* Bytes of the window to the left of its tile. */
#ifdef __cplusplus
SMP_HOST_DEVICE constexpr int smp_banded_side(int steps)
#else
SMP_HOST_DEVICE int smp_banded_side(int steps)
#endif
{
    return 16 * steps - 8;
}
/* The fewest steps that reach as far as the taps of a row; 0: none do. */
SMP_HOST_DEVICE int smp_banded_steps(int radius, int channels)
{
    for (int steps = 1; steps <= SMP_BANDED_STEPS; steps++)
        if (radius * channels <= smp_banded_side(steps))
            return steps;
    return 0;
}
/* 32-bit words of the matrices: high bytes of the weights, then low ones; step by step; four registers of 32 lanes. */
SMP_HOST_DEVICE int smp_banded_words(int steps)
{
    return 2 * steps * 4 * 32;
}
/* The row weight of distance k as a multiple of 1/65536. */
SMP_HOST_DEVICE uint32_t smp_banded_weight(const smp_gaussian *g, int k)
{
    k = k < 0 ? -k : k;
    return (uint32_t)(g->a[k] * (float)SMP_GAUSSIAN_ONE);
}

/* The radius of gaussian_mma_u8.cu's kernel for this launch, or 0: none. Zero weights have no effect, so one kernel
 * serves several radii. The border value must be zero. Offsets in a row and strides have 32 bits. */
SMP_HOST_DEVICE int smp_banded_warp(const smp_gaussian *g, const smp_io *io)
{
    const int fits = io->in.format == SMP_U8 && io->out.format == SMP_U8 && io->in.width * io->in.channels <= 1 << 30 &&
                     (io->out.stride | io->second.stride) >> 31 == 0;
    if (!fits || !smp_rows_aligned(io) || io->in.channels > SMP_GAUSSIAN_CHANNELS || !g->whole ||
        (g->edge == SMP_CONSTANT && g->fill != 0.f) || g->radius < SMP_BANDED_LEAST ||
        !smp_banded_steps(g->radius, io->in.channels))
        return 0;
    return g->radius <= 8 ? g->radius : g->radius <= 10 ? 10 : 12;
}

#endif
