/* equalize: spreads values so that their cumulative histogram becomes a straight line. The apply pass, and what its
 * table holds. Counting is the histogram family's, whose parameters come first.
 *
 * Table (f32): entry smp_histogram_slot(bins, plane, bin of the sample).
 *   each channel by itself  the sample's new code value; a plane a channel, NaN for NaN
 *   luma (count.colours)    one plane: what is added to every colour channel of a pixel whose luma falls in that bin,
 *                           so that the differences between channels, the chroma, stay; 0 for NaN */
#pragma once

#include "lib/exact_math.h"
#include "reduce/histogram.h"

typedef struct smp_equalize {
    smp_histogram_params count;
} smp_equalize;

/* One sample of channel c, by itself. */
SMP_HOST_DEVICE float smp_equalize_sample(float v, int c, const smp_io *io, const smp_histogram_params *p)
{
    return ((const float *)io->table)[smp_histogram_slot(p->bins, c, smp_histogram_bin(v, io->in.white, p))];
}

/* Returns what is added to each colour of a pixel of this luma (smp_histogram_luma). */
SMP_HOST_DEVICE float smp_equalize_shift(float luma, const smp_io *io, const smp_histogram_params *p)
{
    return ((const float *)io->table)[smp_histogram_bin(luma, io->in.white, p)];
}
