/* The row pass of bytes as a product with a banded matrix of whole weights (bell.h where smp_bell.whole):
 * what the kernels that make it on tensor cores and those who launch them share. A product makes SMP_BANDED_TILE
 * columns of a row from a window of 32 bytes a step; smp_io.table holds the matrices (src/stages/banded_matrices.h). */
#ifndef SMP_KERNELS_BELL_BANDED_H
#define SMP_KERNELS_BELL_BANDED_H

#include "bell.h"

enum {
    SMP_BANDED_STEPS = 3, /* of a window, at most: sides of 8, 24 or 40 samples */
    SMP_BANDED_TILE = 16,
    SMP_BANDED_ROWS = 8,                     /* that a product takes, and that gaussian_banded.cu makes together */
    SMP_BANDED_ACROSS = 8 * SMP_BANDED_TILE, /* bytes of a strip, one warp's */
    SMP_BANDED_RADIUS = SMP_BELL_WHOLE,      /* gaussian_banded.cu: most, .. */
    SMP_BANDED_LEAST = 4                     /* .. and least: below it bell_warp.cuh is faster */
};

/* Bytes to the left of a tile that a window of `steps` begins with. */
#ifdef __cplusplus
SMP_FN constexpr int smp_banded_side(int steps)
#else
SMP_FN int smp_banded_side(int steps)
#endif
{
    return 16 * steps - 8;
}
/* How many steps reach as far as the taps of a row; 0: none do. */
SMP_FN int smp_banded_steps(int radius, int channels)
{
    for (int steps = 1; steps <= SMP_BANDED_STEPS; steps++)
        if (radius * channels <= smp_banded_side(steps))
            return steps;
    return 0;
}
/* 32-bit words of the matrix: high and low bytes of the weights, each step after the other; four registers of 32 lanes.
 */
SMP_FN int smp_banded_words(int steps)
{
    return 2 * steps * 4 * 32;
}
/* The row weight of distance k as a whole number of 65536ths. */
SMP_FN uint32_t smp_banded_weight(const smp_bell *g, int k)
{
    k = k < 0 ? -k : k;
    return (uint32_t)(g->a[k] * (float)SMP_BELL_ONE);
}

/* The radius of gaussian_banded.cu's kernel for this launch, or 0: none. Taps of weight zero change nothing, so one
 * serves several radii. Outside the picture it knows zero, but no other value, and places in a row have 32 bits. */
SMP_FN int smp_banded_warp(const smp_bell *g, const smp_io *io)
{
    const int fits = io->in.format == SMP_U8 && io->out.format == SMP_U8 && io->in.width * io->in.channels <= 1 << 30;
    if (!fits || !smp_rows_aligned(io) || io->in.channels > SMP_BELL_CHANNELS || !g->whole || (g->edge == SMP_CONSTANT && g->fill != 0.f) ||
        g->radius < SMP_BANDED_LEAST || !smp_banded_steps(g->radius, io->in.channels))
        return 0;
    return g->radius <= 8 ? g->radius : g->radius <= 10 ? 10 : 12;
}

#endif
