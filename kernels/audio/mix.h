/* mix: a second sound laid on the first from a frame on, each of its own length. Where both are, out = fma(gain, b, a);
 * where one is, that one; where none is, 0. append is the same from the first one's end on; over `fade` frames before
 * that end it gives out = fma(t, b, (1 - t) a), t = (k + 1/2) / fade. Or the second's channels follow the first's. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef struct smp_mix {
    int64_t at;     /* the output frame that is the second's first */
    float gain;     /* of the second; where it is 1 samples that are alone are copied */
    int32_t shared; /* 1: the second has one channel, for every channel of the first */
    int32_t beside; /* channels of the first, which those of the second follow; 0: they add up */
    int64_t fade;   /* frames from `at` on over which the first goes and the second comes */
    double rate;    /* 1 / fade */
} smp_mix;

SMP_HOST_DEVICE float smp_mix_both(float a, float b, float gain)
{
    return smp_one_nan(fmaf(gain, b, a));
}

SMP_HOST_DEVICE float smp_mix_second(float b, float gain)
{
    return gain == 1.f ? b : smp_one_nan(gain * b);
}

/* The first goes as the second comes. */
SMP_HOST_DEVICE float smp_mix_fade(const smp_mix *p, float a, float b, int64_t y)
{
    const float t = (float)(((double)(y - p->at) + 0.5) * p->rate);
    return smp_one_nan(fmaf(t, b, (1.f - t) * a));
}

/* Sample `channel` of output frame y. */
SMP_HOST_DEVICE float smp_mix_sample(const smp_io *io, const smp_mix *p, int64_t y, int channel)
{
    const int64_t from = y - p->at;
    const int first = y < io->in.height, second = from >= 0 && from < io->second.height;
    if (p->beside && channel >= p->beside)
        return second ? smp_mix_second(((const float *)smp_row(&io->second, from))[channel - p->beside], p->gain) : 0.f;
    const float a = first ? ((const float *)smp_row(&io->in, y))[channel] : 0.f;
    if (!second || p->beside)
        return a;
    const float b = ((const float *)smp_row(&io->second, from))[p->shared ? 0 : channel];
    if (first && from < p->fade)
        return smp_mix_fade(p, a, b, y);
    return first ? smp_mix_both(a, b, p->gain) : smp_mix_second(b, p->gain);
}

SMP_CPU_DECLARE(mix_naive);
SMP_CPU_DECLARE(mix_tiled);
