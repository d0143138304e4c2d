/* threshold: two values only. Parameters and the rule for a sample; Otsu's method counts with the histogram family,
 * whose parameters come first. */
#ifndef SMP_KERNELS_THRESHOLD_H
#define SMP_KERNELS_THRESHOLD_H

#include "reduce/histogram.h"

typedef struct smp_threshold_params {
    smp_histogram_params count;
    float level[SMP_MAX_CHANNELS]; /* code value from which on channel c becomes full scale */
    float white;                   /* full scale */
} smp_threshold_params;

/* Below the level, and NaN: 0. */
SMP_HOST_DEVICE float smp_threshold_sample(float v, float level, float white)
{
    return v >= level ? white : 0.f;
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(threshold_naive);
SMP_CPU_DECLARE(threshold_tiled);
#ifdef __cplusplus
}
#endif

#endif
