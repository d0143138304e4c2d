/* Tone curves: gamma, and the sRGB transfer function in both directions. One pair of kernels serves all three. */
#pragma once

#include "lib/exact_math.h"

enum { SMP_TONE_CURVE_POWER, SMP_TONE_CURVE_LINEAR, SMP_TONE_CURVE_ENCODED };

typedef struct smp_tone_curve {
    int32_t kind;   /* SMP_TONE_CURVE_* */
    float exponent; /* SMP_TONE_CURVE_POWER; above 0 */
    float white;    /* full scale */
} smp_tone_curve;

/* The curves from 0 to 1. 0 and 1 are exact; the transfer functions have a relative error of at most 1e-6. */
SMP_FORMULA float smp_tone_curve_unit(int32_t kind, float exponent, float s)
{
    if (kind == SMP_TONE_CURVE_POWER)
        return smp_powf_(s, exponent);
    if (kind == SMP_TONE_CURVE_LINEAR) { /* IEC 61966-2-1: s / 12.92, ((s + 0.055) / 1.055)^2.4 */
        float curved = smp_powf_((s + 0.055f) / 1.055f, 2.4f);
        return s <= 0.04045f ? s / 12.92f : curved;
    }
    /* 12.92 s, 1.055 s^(1/2.4) - 0.055, written so that 1 stays 1 */
    float root = smp_powf_(s, 1.f / 2.4f), curved = fmaf(0.055f, root - 1.f, root);
    return s <= 0.0031308f ? s * 12.92f : curved;
}

/* On code values divided by full scale: one IEEE division, so that every storage of a value gives the same result.
 * Above full scale the formulas go on, below 0 they are mirrored, as in scRGB, so that overshoots survive a round trip.
 */
SMP_FORMULA float smp_tone_curve_value(int32_t kind, float exponent, float v, float white)
{
    float s = v / white;
    return smp_one_nan(smp_with_sign(smp_tone_curve_unit(kind, exponent, smp_abs(s)), s) * white);
}

SMP_HOST_DEVICE float smp_tone_curve_sample(float v, int channel, const smp_tone_curve *p)
{
    (void)channel;
    return smp_tone_curve_value(p->kind, p->exponent, v, p->white);
}
