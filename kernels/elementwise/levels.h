/* levels: black and white points and gamma. Parameters and the arithmetic of a sample; automatic levels count with the
 * histogram family, whose parameters come first. */
#ifndef SMP_KERNELS_LEVELS_H
#define SMP_KERNELS_LEVELS_H

#include "lib/exact_math.h"
#include "reduce/histogram.h"

typedef struct smp_levels_params {
    smp_histogram_params count;
    float black[SMP_MAX_CHANNELS]; /* code value that becomes 0 */
    float scale[SMP_MAX_CHANNELS]; /* top / (white point - black point), the points in code values */
    float top;    /* what the white point becomes before the power: full scale, or 1 when there is one */
    float power;  /* 1 / gamma; 1: none */
    float white;  /* full scale */
    int32_t same; /* all channels have one black and one scale */
} smp_levels_params;

/* One sample of a colour channel: a subtraction, a product, a clamp to 0..top, the power. Each rounds to f32 once. */
SMP_HOST_DEVICE float smp_levels_line(float v, float black, float scale, float top)
{
    float t = (v - black) * scale;
    t = t < 0.f ? 0.f : t; /* NaN stays */
    return t > top ? top : t;
}
SMP_HOST_DEVICE float smp_levels_curve(float t, float power, float white)
{
    return smp_powf_(t, power) * white;
}

SMP_HOST_DEVICE float smp_levels_sample(float v, int c, const smp_levels_params *p)
{
    float t = smp_levels_line(v, p->black[c], p->scale[c], p->top);
    return smp_one_nan(p->power == 1.f ? t : smp_levels_curve(t, p->power, p->white));
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(levels_naive);
SMP_CPU_DECLARE(levels_tiled);
#ifdef __cplusplus
}
#endif

#endif
