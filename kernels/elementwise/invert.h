/* invert: full scale minus the sample. */
#pragma once

#include "lib/exact_math.h"

typedef struct smp_invert {
    float white; /* full scale */
} smp_invert;

/* One exact subtraction of code values; for float pictures, one rounding of f32. */
SMP_HOST_DEVICE float smp_invert_sample(float v, int channel, const smp_invert *p)
{
    (void)channel;
    return smp_one_nan(p->white - v);
}
