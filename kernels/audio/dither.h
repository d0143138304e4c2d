/* dither: triangular noise of one step of the file's integers, so that rounding does not depend on the sound. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/philox.h"

typedef struct smp_dither {
    uint64_t seed;
    float step; /* of the integers, full scale 1 */
    int32_t unused;
} smp_dither;

/* Sample v of a channel in frame y: v + (u1 - u2) step. */
SMP_HOST_DEVICE float smp_dither_sample(float v, int64_t y, int channel, const smp_dither *p)
{
    const smp_philox r = smp_philox_of((uint64_t)y, (uint32_t)channel, 0, p->seed);
    return smp_one_nan(fmaf(smp_philox_uniform(r.v[0]) - smp_philox_uniform(r.v[1]), p->step, v));
}

SMP_CPU_DECLARE(dither_naive);
SMP_CPU_DECLARE(dither_tiled);
