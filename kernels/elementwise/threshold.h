/* threshold: two values only. Otsu's method counts with the histogram kernels, whose parameters come first. */
#pragma once

#include "reduce/histogram.h"

typedef struct smp_threshold {
    smp_histogram_params count;
    float level[SMP_MAX_CHANNELS]; /* code value from which on channel c becomes full scale */
    float white;                   /* full scale */
    int32_t same;                  /* all channels have one level */
} smp_threshold;

/* Below the level, and NaN: 0. */
SMP_HOST_DEVICE float smp_threshold_sample(float v, int channel, const smp_threshold *p)
{
    return v >= p->level[channel] ? p->white : 0.f;
}

/* The same for one level, as an operation of op_chain. */
typedef struct smp_threshold_step {
    float level, white;
} smp_threshold_step;

SMP_HOST_DEVICE float smp_threshold_step_sample(float v, int channel, const smp_threshold_step *p)
{
    (void)channel;
    return v >= p->level ? p->white : 0.f;
}
