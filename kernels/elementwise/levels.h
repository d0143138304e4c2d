/* levels: black and white points and gamma. Automatic levels count with the histogram kernels, whose parameters come
 * first in smp_levels. */
#pragma once

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

/* Each operation rounds to f32 once. NaN stays. */
SMP_HOST_DEVICE float smp_levels_clamp(float t, float top)
{
    t = t < 0.f ? 0.f : t;
    return smp_one_nan(t > top ? top : t);
}

/* The power of t clamped to 0..1, times full scale: smp_powf_() without the cases that the clamp covers. Branches
 * before the power would keep the loop from being vectorised. */
SMP_HOST_DEVICE float smp_levels_power(float t, float power, float white)
{
    float exponent, log2_m = smp_log2_parts(smp_abs(t), &exponent);
    const float whole = power * exponent, part = fmaf(power, log2_m, fmaf(power, exponent, -whole));
    float r = smp_exp2_parts(whole, part) * white;
    r = t <= 0.f ? 0.f : r;
    r = t >= 1.f ? white : r;
    return t == t ? r : smp_from_bits(0x7fc00000u);
}

SMP_HOST_DEVICE float smp_levels_sample(float v, int channel, const smp_levels *p)
{
    const float t = (v - p->black[channel]) * p->scale[channel];
    return p->kind ? smp_levels_power(t, p->power, p->white) : smp_levels_clamp(t, p->top);
}

/* The same for one pair of points, as operations of op_chain: without a power, and with one. */
typedef struct smp_levels_line {
    float black, scale, top;
} smp_levels_line;

SMP_HOST_DEVICE float smp_levels_line_sample(float v, int channel, const smp_levels_line *p)
{
    (void)channel;
    return smp_levels_clamp((v - p->black) * p->scale, p->top);
}

typedef struct smp_levels_curve {
    float black, scale, power, white;
} smp_levels_curve;

SMP_HOST_DEVICE float smp_levels_curve_sample(float v, int channel, const smp_levels_curve *p)
{
    (void)channel;
    return smp_levels_power((v - p->black) * p->scale, p->power, p->white);
}
