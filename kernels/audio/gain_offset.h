/* gain and offset: every channel of a sound times its factor plus its offset, for gain, normalize, dc-remove.
 * Parameters, the arithmetic of a sample, the kernels. Sound is always f32. */
#ifndef SMP_KERNELS_AUDIO_GAIN_OFFSET_H
#define SMP_KERNELS_AUDIO_GAIN_OFFSET_H

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef struct smp_gain_offset {
    float factor[SMP_MAX_CHANNELS];
    float offset[SMP_MAX_CHANNELS]; /* full scale is 1 */
    int32_t same;                   /* all channels have one factor and one offset */
} smp_gain_offset;

/* The definition: one fused operation. */
SMP_HOST_DEVICE float smp_gain_offset_sample(float v, float factor, float offset)
{
    return smp_one_nan(fmaf(v, factor, offset));
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(gain_offset_naive);
SMP_CPU_DECLARE(gain_offset_tiled);
#ifdef __cplusplus
}
#endif

#endif
