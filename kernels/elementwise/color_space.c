/* color on the CPU. tiled makes the three channels of a pixel at once, since most of the work is for all of them, in
 * one vectorised loop a kind. Bound by arithmetic: Lab takes six powers a pixel. */
#include "elementwise/color_space.h"
SMP_PIXEL_CPU_NAIVE(color_space, io->in.channels)

SMP_INLINE void planes_of(float *restrict to, const float *restrict from, int64_t n, const int32_t kind, float white)
{
    for (int64_t i = 0; i < n; i++) {
        const smp_colour made = smp_color_space_of(kind, from[i], from[n + i], from[2 * n + i], white);
        to[i] = made.v[0];
        to[n + i] = made.v[1];
        to[2 * n + i] = made.v[2];
    }
}

static void color_space_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                              int64_t pixels)
{
    float planes[SMP_BLOCK] __attribute__((aligned(64))), made[SMP_BLOCK] __attribute__((aligned(64)));
    smp_color_space own = *(const smp_color_space *)params;
    const int channels = io->in.channels;
    const float white = io->in.white;
    SMP_BY_CHANNELS(channels, smp_pixel_part(planes, from, pixels, N))
    SMP_KINDS_6(own, planes_of(made, planes, pixels, own.kind, white))
    for (int c = 0; c < channels; c++)
        SMP_BY_CHANNELS(channels, smp_pixel_join(to + c, (c < 3 ? made : planes) + c * pixels, pixels, N))
}

SMP_CPU_KERNEL(color_space_tiled)
{
    (void)scratch;
    smp_point_rows(io, params, y0, y1, color_space_block);
}
