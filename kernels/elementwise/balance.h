/* balance: a factor a channel. Its measure counts with the histogram kernels, whose parameters come first. */
#pragma once

#include "lib/exact_math.h"
#include "reduce/histogram.h"

typedef struct smp_balance {
    smp_histogram_params count;
    float gain[SMP_MAX_CHANNELS];
} smp_balance;

SMP_HOST_DEVICE float smp_balance_sample(float v, int channel, const smp_balance *p)
{
    return smp_one_nan(v * p->gain[channel]);
}
