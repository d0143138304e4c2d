/* equalize: spreads values so that their cumulative histogram becomes a straight line. Parameters, the apply pass, and
 * what the table holds; counting is the histogram family's, whose parameters come first.
 *
 * Table (f32): entry smp_histogram_slot(bins, plane, bin of the sample).
 *   each channel by itself  the sample's new code value; a plane a channel, NaN for NaN
 *   luma (count.colours)    one plane: what is added to every colour channel of a pixel whose luma falls in that bin,
 * so that differences between the channels, the chroma, stay; 0 for NaN */
#ifndef SMP_KERNELS_EQUALIZE_H
#define SMP_KERNELS_EQUALIZE_H

#include "reduce/histogram.h"

typedef struct smp_equalize_params {
    smp_histogram_params count;
} smp_equalize_params;

/* One sample of channel c, by itself. */
SMP_HOST_DEVICE float smp_equalize_sample(float v, int c, float white, const float *table,
                                          const smp_histogram_params *p)
{
    return table[smp_histogram_slot(p->bins, c, smp_histogram_bin(v, white, p))];
}

/* What is added to each colour of a pixel of this luma (smp_histogram_luma). */
SMP_HOST_DEVICE float smp_equalize_shift(float luma, float white, const float *table, const smp_histogram_params *p)
{
    return table[smp_histogram_bin(luma, white, p)];
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(equalize_naive);
SMP_CPU_DECLARE(equalize_tiled);
#ifdef __cplusplus
}
#endif

#endif
