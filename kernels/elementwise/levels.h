/* levels: black and white points and gamma. Automatic levels count with the histogram kernels, whose parameters come
 * first in smp_levels. */
#ifndef SMP_KERNELS_LEVELS_H
#define SMP_KERNELS_LEVELS_H

#include "lib/exact_math.h"
#include "reduce/histogram.h"

typedef struct smp_levels {
    smp_histogram_params count;
    float black[SMP_MAX_CHANNELS]; /* code value that becomes 0 */
    float scale[SMP_MAX_CHANNELS]; /* top / (white point - black point), the points in code values */
    float top;    /* what the white point becomes before the power: full scale, or 1 when there is a power */
    float power;  /* 1 / gamma */
    float white;  /* full scale */
    int32_t same; /* all channels have one black and one scale */
    int32_t kind; /* 0: no power, 1: a power */
} smp_levels;

/* A subtraction, a product, a clamp to 0..top. Each rounds to f32 once. NaN stays. */
SMP_HOST_DEVICE float smp_levels_stretch(float v, float black, float scale, float top)
{
    float t = (v - black) * scale;
    t = t < 0.f ? 0.f : t;
    return t > top ? top : t;
}

SMP_HOST_DEVICE float smp_levels_sample(float v, int channel, const smp_levels *p)
{
    const float t = smp_levels_stretch(v, p->black[channel], p->scale[channel], p->top);
    return smp_one_nan(p->kind ? smp_powf_(t, p->power) * p->white : t);
}

/* The same for one pair of points, as operations of op_chain: without a power, and with one. */
typedef struct smp_levels_line {
    float black, scale, top;
} smp_levels_line;

SMP_HOST_DEVICE float smp_levels_line_sample(float v, int channel, const smp_levels_line *p)
{
    (void)channel;
    return smp_one_nan(smp_levels_stretch(v, p->black, p->scale, p->top));
}

typedef struct smp_levels_curve {
    float black, scale, power, white;
} smp_levels_curve;

SMP_HOST_DEVICE float smp_levels_curve_sample(float v, int channel, const smp_levels_curve *p)
{
    (void)channel;
    return smp_one_nan(smp_powf_(smp_levels_stretch(v, p->black, p->scale, 1.f), p->power) * p->white);
}

#endif
