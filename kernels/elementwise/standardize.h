/* standardize: less the mean, divided by the deviation; alpha is dropped. */
#pragma once

#include "lib/exact_math.h"
#include "lib/per_pixel.h"

typedef struct smp_standardize {
    float unit;                    /* 1 / full scale */
    float mean[SMP_MAX_CHANNELS];  /* fractions of full scale */
    float scale[SMP_MAX_CHANNELS]; /* 1 / deviation */
} smp_standardize;

SMP_HOST_DEVICE float smp_standardize_pixel(smp_pixel from, int channel, const smp_io *io, const smp_standardize *p)
{
    (void)io;
    return smp_one_nan((from.v[channel * from.step] * p->unit - p->mean[channel]) * p->scale[channel]);
}
