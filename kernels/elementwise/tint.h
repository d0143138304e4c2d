/* tint: middle tones take a colour, black and white stay. */
#pragma once

#include "lib/exact_math.h"

typedef struct smp_tint {
    float white; /* full scale */
    float by[4]; /* what a sample of half of full scale gains, times 4 / white^2; alpha's is 0 */
} smp_tint;

SMP_HOST_DEVICE float smp_tint_sample(float v, int channel, const smp_tint *p)
{
    return smp_one_nan(fmaf(p->by[channel], v * (p->white - v), v));
}
