/* gain_offset: every channel of a sound times its factor plus its offset: gain, normalize, dc_remove. */
#pragma once

#include "lib/exact_math.h"

typedef struct smp_gain_offset {
    float factor[SMP_MAX_CHANNELS];
    float offset[SMP_MAX_CHANNELS]; /* full scale is 1 */
    int32_t same;                   /* all channels have one factor and one offset */
} smp_gain_offset;

/* One fused operation. */
SMP_HOST_DEVICE float smp_gain_offset_sample(float v, int channel, const smp_gain_offset *p)
{
    return smp_one_nan(fmaf(v, p->factor[channel], p->offset[channel]));
}
