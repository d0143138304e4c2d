/* curves: a tone curve through given points. Between two of them a cubic, in Horner's form, of the distance from the
 * first. Beyond the first and the last point their values go on. */
#pragma once

#include "lib/exact_math.h"

enum { SMP_CURVES_POINTS = 16, SMP_CURVES_COLOURS = 3 };

typedef struct smp_curves {
    int32_t differ;                                    /* each of three colours has a curve of its own */
    float white, last;                                 /* full scale; x of the last point */
    float x[SMP_CURVES_POINTS];                        /* of full scale, ascending; infinite: no point */
    float c[SMP_CURVES_COLOURS][SMP_CURVES_POINTS][4]; /* of the powers 0 to 3; the last point's: its value, 0, 0, 0 */
} smp_curves;

SMP_HOST_DEVICE float smp_curves_sample(float v, int channel, const smp_curves *p)
{
    const float(*c)[4] = p->c[p->differ && channel < SMP_CURVES_COLOURS ? channel : 0];
    const float s = v / p->white, below = s < p->last ? s : p->last, from = below > p->x[0] ? below : p->x[0];
    float x = p->x[0], c0 = c[0][0], c1 = c[0][1], c2 = c[0][2], c3 = c[0][3];
    for (int k = 1; k < SMP_CURVES_POINTS; k++) {
        const int past = from >= p->x[k];
        x = past ? p->x[k] : x;
        c0 = past ? c[k][0] : c0;
        c1 = past ? c[k][1] : c1;
        c2 = past ? c[k][2] : c2;
        c3 = past ? c[k][3] : c3;
    }
    const float t = from - x, y = fmaf(t, fmaf(t, fmaf(t, c3, c2), c1), c0), above = y > 0.f ? y : 0.f;
    return smp_one_nan(v == v ? (above < 1.f ? above : 1.f) * p->white : v);
}
