/* profile on the CPU. tiled looks the light of a pixel's colours up once, and makes all three channels of it in one
 * vectorised loop. Bound by arithmetic: sRGB's curve takes a power a sample.
 * Grids are looked up pixel by pixel. */
#include "elementwise/profile.h"
SMP_PIXEL_CPU_NAIVE(profile, io->in.channels)

static void profile_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                          int64_t pixels)
{
    float planes[SMP_BLOCK] __attribute__((aligned(64)));
    const smp_profile own = *(const smp_profile *)params;
    const float *table = io->table, white = io->in.white;
    const int channels = io->in.channels, colours = own.gray ? 1 : 3;
    const int64_t n = pixels;
    smp_pixel_part(planes, from, n, channels);
    for (int64_t i = 0; i < n && own.grid; i++) {
        const float x = planes[i], y = planes[n + i], z = planes[2 * n + i];
        for (int c = 0; c < 3; c++)
            planes[c * n + i] = smp_profile_grid(table, c, x, y, z, white);
    }
    for (int c = 0; c < colours && !own.grid; c++)
        for (int64_t i = 0; i < n; i++)
            planes[c * n + i] = smp_profile_light(&own, table, c, planes[c * n + i], white);
    if (own.gray)
        for (int64_t i = 0; i < n; i++)
            planes[i] = smp_profile_encoded(planes[i], white);
    else if (!own.grid)
        for (int64_t i = 0; i < n; i++) {
            const float r = planes[i], g = planes[n + i], b = planes[2 * n + i];
            planes[i] = smp_profile_row(&own, 0, r, g, b, white);
            planes[n + i] = smp_profile_row(&own, 1, r, g, b, white);
            planes[2 * n + i] = smp_profile_row(&own, 2, r, g, b, white);
        }
    for (int c = 0; c < channels; c++)
        smp_pixel_join(to + c, planes + c * n, n, channels);
}

SMP_CPU_KERNEL(profile_tiled)
{
    smp_point_rows(io, params, y0, y1, profile_block);
}
