/* posterise: the nearest of a few evenly spaced values. */
#pragma once

#include "lib/exact_math.h"

typedef struct smp_posterise {
    float steps, white; /* values less one; full scale */
} smp_posterise;

SMP_HOST_DEVICE float smp_posterise_sample(float v, int channel, const smp_posterise *p)
{
    (void)channel;
    return smp_one_nan(v == v ? smp_round_to(v * p->steps / p->white, p->steps) * p->white / p->steps : v);
}
