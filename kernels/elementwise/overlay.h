/* overlay: a second picture laid on the first where it lies: Porter and Duff's over, on straight alpha. */
#pragma once

#include "lib/exact_math.h"
#include "lib/pixel_pair.h"

typedef struct smp_overlay {
    smp_place_at at;
    int32_t kind;   /* 0: the first picture has no alpha, 1: it has */
    int32_t shared; /* 1: the second has one colour, for every channel of the first */
    float opacity;
    float scale; /* from the second picture's code values to the first's */
} smp_overlay;

/* With ab the second's alpha times opacity, aa the first's: ra = ab + aa (1 - ab), and
 * (cb ab + ca aa (1 - ab)) / ra = ca + (cb - ca) ab / ra. Without alpha, ra = 1. */
SMP_HOST_DEVICE float smp_overlay_pair(smp_pixel from, smp_pixel by, int channel, const smp_io *io,
                                       const smp_overlay *p)
{
    const float white = io->in.white, a = from.v[channel * from.step];
    const float alpha = p->opacity * (io->second.alpha ? by.last / io->second.white : 1.f);
    float weight = alpha;
    if (p->kind) {
        const float both = fmaf(from.last / white, 1.f - alpha, alpha);
        weight = both == 0.f ? 0.f : alpha / both;
        if (channel == io->out.channels - 1)
            return smp_one_nan(both * white);
    }
    const float b = by.v[p->shared ? 0 : channel * by.step] * p->scale;
    return smp_one_nan(fmaf(weight, b - a, a));
}
