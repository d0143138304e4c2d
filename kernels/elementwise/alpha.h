/* premultiply and straight: colour times alpha and back, around stages that mix neighbouring pixels. */
#pragma once

#include "lib/exact_math.h"
#include "lib/per_pixel.h"

/* In f32 code values: two correctly rounded operations each. smp_straight(smp_premultiply(v, a), a) differs from v by
 * at most 2^-22 of it (4 roundings of 2^-24), so that a stored 8- or 16-bit v comes back. Where alpha is 0 the colour
 * is gone and becomes 0. */
SMP_HOST_DEVICE float smp_premultiply(float v, float alpha, float white)
{
    return smp_one_nan(v * alpha / white);
}
SMP_HOST_DEVICE float smp_straight(float v, float alpha, float white)
{
    float straight = smp_one_nan(v * white / alpha);
    return alpha == 0.f ? 0.f : straight;
}

/* Alpha itself, and pictures without it, pass. */
SMP_HOST_DEVICE float smp_premultiply_pixel(smp_pixel from, int channel, const smp_io *io, const void *params)
{
    (void)params;
    const float v = from.v[channel * from.step];
    return io->in.alpha && channel < io->in.channels - 1 ? smp_premultiply(v, from.last, io->in.white) : v;
}
SMP_HOST_DEVICE float smp_straight_pixel(smp_pixel from, int channel, const smp_io *io, const void *params)
{
    (void)params;
    const float v = from.v[channel * from.step];
    return io->in.alpha && channel < io->in.channels - 1 ? smp_straight(v, from.last, io->in.white) : v;
}
