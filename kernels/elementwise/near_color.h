/* key, replace: what is near a colour becomes transparent, or another colour.
 *
 * The distance of a pixel from the colour is the root of the mean of its colours' squared differences, in code values:
 * s = fmaf(d, d, s) over the colours, ascending, and then sqrt(s / colours). A pixel within the tolerance is near by 1,
 * one beyond by (far - distance) scale, no less than 0, and one that is not a number by 0. */
#pragma once

#include "lib/exact_math.h"
#include "lib/per_pixel.h"

typedef struct smp_near_color {
    int32_t colours; /* of the input, without alpha */
    int32_t key;     /* 1: alpha, which the output has, is lost by as much as the pixel is near; 0: colours are moved */
    float most;      /* the tolerance squared, times colours */
    float far, scale; /* tolerance + soft, and 1 / soft; 0: nothing beyond the tolerance is near */
    float color[SMP_MAX_CHANNELS], to[SMP_MAX_CHANNELS]; /* code values */
} smp_near_color;

SMP_HOST_DEVICE float smp_near_color_by(smp_pixel from, const smp_near_color *p)
{
    float s = 0.f;
    for (int c = 0; c < from.most; c++)
        if (c < from.channels) {
            const float d = from.v[c * from.step] - p->color[c];
            s = fmaf(d, d, s);
        }
    if (p->scale == 0.f)
        return s <= p->most ? 1.f : 0.f;
    const float t = (p->far - sqrtf(s / (float)p->colours)) * p->scale, soft = t > 0.f ? t : 0.f;
    return s <= p->most ? 1.f : soft;
}

SMP_HOST_DEVICE float smp_near_color_pixel(smp_pixel from, int channel, const smp_io *io, const smp_near_color *p)
{
    const float near = smp_near_color_by(from, p), alpha = io->in.alpha ? from.last : io->in.white;
    if (channel >= p->colours)
        return p->key ? smp_one_nan(alpha * (1.f - near)) : from.last;
    const float v = from.v[channel * from.step], moved = smp_one_nan(fmaf(near, p->to[channel] - v, v));
    return p->key || near == 0.f ? v : near == 1.f ? p->to[channel] : moved;
}
