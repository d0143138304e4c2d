/* The blur by a bell in whole numbers (smp_bell.fixed), for gaussian arithmetic=fixed: 8-bit samples in and out.
 *
 * The definition, the same on every device; sums of integers have no order:
 *   weights       w[0..r] >= 0, whole, w[0] + 2 * (w[1] + .. + w[r]) = 65536
 *   row pass      S = (sum of w[|k|] * p[x+k] + 128) >> 8             16 bits, 8 of them a fraction
 *   column pass   out = (sum of w[|i|] * S[y+i] + 2^23) >> 24
 * Samples that are stored as floats are rounded before, as a store would; results stored as floats are whole. Outside
 * under `zero` and `constant`: p is that value, rounded, and so S is 256 times it.
 *
 * Against real arithmetic: with |d| the sum over all taps of the weights' own rounding errors, in 65536ths (at most 2r:
 * a half a tap, and what the middle takes), out is off by at most 0.5 (the last rounding) + 1/512 (that of S) + 2 * 255 *
 * |d| / 65536. For r up to SMP_FIXED_RADIUS that is less than 1.5, and so out is never more than 1 from the float
 * definition's (bell.h). */
#ifndef SMP_KERNELS_BELL_FIXED_H
#define SMP_KERNELS_BELL_FIXED_H

#include "bell_banded.h"

enum { SMP_FIXED_ONE = SMP_BELL_ONE, SMP_FIXED_RADIUS = SMP_BELL_INLINE - 1 };

/* Weight of distance |k|. */
SMP_FN uint32_t smp_fixed_weight(const smp_bell *g, int k)
{
    return (uint32_t)g->w[k < 0 ? -k : k];
}

/* A sample of any storage as the code value that it is, or rounds to. */
SMP_FN uint32_t smp_fixed_code(float v)
{
    return smp_to_u8(v);
}

/* The code value outside the picture under `zero` and `constant`. */
SMP_FN uint32_t smp_fixed_outside(const smp_bell *g)
{
    return smp_fixed_code(smp_outside(g->edge, g->fill, 255.f));
}

/* Sums that are complete. The largest are 65536 * 255 and 65536 * 65280. */
SMP_FN uint32_t smp_fixed_row(uint32_t sum)
{
    return (sum + 128) >> 8;
}
SMP_FN uint32_t smp_fixed_result(uint32_t sum)
{
    return (sum + (1u << 23)) >> 24;
}

/* One value of the row pass, in a row of the picture. */
SMP_FN uint32_t smp_fixed_row_at(const smp_view *in, const smp_bell *g, int64_t x, int64_t y, int c)
{
    const float outside = (float)smp_fixed_outside(g);
    uint32_t sum = 0;
    for (int k = -g->radius; k <= g->radius; k++)
        sum += smp_fixed_weight(g, k) * smp_fixed_code(smp_at_border(in, x + k, y, c, g->edge, outside));
    return smp_fixed_row(sum);
}

/* GPU: the kernels that make both passes on tensor cores, one warp a strip. */
enum {
    SMP_FIXED_WARP_RADIUS = 8,
    SMP_FIXED_ROWS = 16 /* that a product of the column pass makes */
};
/* How many steps of bell_banded.h; 0: such a kernel does not reach as far. */
SMP_FN int smp_fixed_steps(const smp_bell *g, int channels)
{
    return g->radius <= SMP_FIXED_WARP_RADIUS ? smp_banded_steps(g->radius, channels) : 0;
}
/* The same of a launch. Outside the picture these kernels know zero, but no other value, and places in a row have 32
 * bits. */
SMP_FN int smp_fixed_warp(const smp_bell *g, const smp_io *io)
{
    const int fits = io->in.format == SMP_U8 && io->out.format == SMP_U8 && io->in.width * io->in.channels <= 1 << 30;
    return fits && smp_rows_aligned(io) && (g->edge != SMP_CONSTANT || smp_fixed_outside(g) == 0) ? smp_fixed_steps(g, io->in.channels) : 0;
}
/* 32-bit words of the matrices: of the row pass as in bell_banded.h, then two more, of the column pass. */
SMP_FN int smp_fixed_words(int steps)
{
    return smp_banded_words(steps) + 2 * 4 * 32;
}
/* Output rows of a band, a multiple of SMP_FIXED_ROWS; measured. A band takes 16 rows more. */
SMP_FN int smp_fixed_band(int steps)
{
    return steps == 1 ? 128 : 256;
}

#endif
