/* curve: the tone curves: gamma, and the sRGB transfer function in both directions. One kernel pair serves all three;
 * the parameters say which. */
#ifndef SMP_KERNELS_CURVE_H
#define SMP_KERNELS_CURVE_H

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_TONE_CURVE_POWER, SMP_TONE_CURVE_LINEAR, SMP_TONE_CURVE_ENCODED };

typedef struct smp_tone_curve {
    int32_t kind;   /* SMP_TONE_CURVE_* */
    float exponent; /* SMP_TONE_CURVE_POWER; above 0 */
} smp_tone_curve;

/* The definitions, on code values divided by full scale (one IEEE division, so that every storage of a value gives the
 * same result). The curves are defined from 0 to 1; above 1 their formulas go on, below 0 they are mirrored (odd), as
 * scRGB does, so that overshoots survive a round trip. 0 and full scale are exact. */
SMP_HOST_DEVICE float smp_tone_curve_unit(int32_t kind, float exponent, float s)
{
    if (kind == SMP_TONE_CURVE_POWER)
        return smp_powf_(s, exponent);
    if (kind ==
        SMP_TONE_CURVE_LINEAR) { /* IEC 61966-2-1: s / 12.92, ((s + 0.055) / 1.055)^2.4; relative error <= 1e-6 */
        float curved = smp_powf_((s + 0.055f) / 1.055f, 2.4f);
        return s <= 0.04045f ? s / 12.92f : curved;
    }
    /* 12.92 s, 1.055 s^(1/2.4) - 0.055, written so that 1 stays 1; relative error <= 1e-6 */
    float root = smp_powf_(s, 1.f / 2.4f), curved = fmaf(0.055f, root - 1.f, root);
    return s <= 0.0031308f ? s * 12.92f : curved;
}

SMP_HOST_DEVICE float smp_tone_curve_value(int32_t kind, float exponent, float v, float white)
{
    float s = v / white;
    return smp_one_nan(smp_with_sign(smp_tone_curve_unit(kind, exponent, smp_abs(s)), s) * white);
}

/* io->table, where it is not null: smp_tone_curve_value of 0..255 for white 255, for samples stored as u8. */
enum { SMP_TONE_CURVE_TABLE = 256 };

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(tone_curve_naive); /* params: smp_tone_curve */
SMP_CPU_DECLARE(tone_curve_tiled);
#ifdef __cplusplus
}
#endif

#endif
