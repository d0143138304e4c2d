/* fade: a sound rises from silence at its beginning and falls to it at its end. Parameters, definition, kernels. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef enum smp_fade_curve { SMP_FADE_LINEAR, SMP_FADE_SMOOTH } smp_fade_curve;

typedef struct smp_fade {
    int64_t in, out;          /* frames; 0: none */
    double in_rate, out_rate; /* 1 / in, 1 / out */
    int32_t curve;            /* smp_fade_curve */
} smp_fade;

/* The factor of a frame that lies `at` frames (and a half) into a fade: t, or t^2 (3 - 2t). */
SMP_HOST_DEVICE float smp_fade_part(int64_t at, double rate, int curve)
{
    const float t = (float)(((double)at + 0.5) * rate);
    return curve == SMP_FADE_SMOOTH ? t * t * (3.f - 2.f * t) : t;
}

/* The factor of frame y of `height`; 1 between the fades. */
SMP_HOST_DEVICE float smp_fade_factor(const smp_fade *p, int64_t y, int64_t height)
{
    float f = 1.f;
    if (y < p->in)
        f = smp_fade_part(y, p->in_rate, p->curve);
    if (height - 1 - y < p->out)
        f = f * smp_fade_part(height - 1 - y, p->out_rate, p->curve);
    return f;
}

SMP_HOST_DEVICE float smp_fade_sample(float v, float factor)
{
    return smp_one_nan(v * factor);
}

SMP_CPU_DECLARE(fade_naive);
SMP_CPU_DECLARE(fade_tiled);
