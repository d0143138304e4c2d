/* color on the CPU. tiled makes the three channels of a pixel at once, since most of the work is for all of them, in
 * one vectorised loop a kind. Bound by arithmetic: Lab takes six powers a pixel, three where bytes become light by a
 * table. */
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

/* Bytes to Lab: n pixels of the row whose samples begin at `from`. */
static void lab_of_bytes(const smp_io *io, const float light[256], void *to, const uint8_t *from, int64_t n)
{
    float planes[SMP_BLOCK] __attribute__((aligned(64))), made[SMP_BLOCK] __attribute__((aligned(64)));
    const int channels = io->in.channels;
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < channels; c++)
            planes[c * n + i] = c < 3 ? light[from[i * channels + c]] : (float)from[i * channels + c];
    for (int64_t i = 0; i < n; i++) {
        const smp_colour lab = smp_colour_times(smp_light_to_lab(planes[i], planes[n + i], planes[2 * n + i]), 255.f);
        planes[i] = lab.v[0];
        planes[n + i] = lab.v[1];
        planes[2 * n + i] = lab.v[2];
    }
    for (int c = 0; c < channels; c++)
        SMP_BY_CHANNELS(channels, smp_pixel_join(made + c, planes + c * n, n, N))
    smp_store_row(to, io->out.format, made, n * channels, io->clipped);
}

enum { COLOR_TABLE_PAYS = 1024 }; /* pixels of a launch */

SMP_CPU_KERNEL(color_space_tiled)
{
    const smp_color_space *p = params;
    const int64_t width = io->in.width, channels = io->in.channels, block = SMP_BLOCK / channels;
    (void)scratch;
    if (p->kind != SMP_TO_LAB || io->in.format != SMP_U8 || width * (y1 - y0) < COLOR_TABLE_PAYS) {
        smp_point_rows(io, params, y0, y1, color_space_block);
        return;
    }
    float light[256];
    for (int v = 0; v < 256; v++)
        light[v] = smp_lab_light((float)v / 255.f);
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < width; x += block)
            lab_of_bytes(io, light, (char *)smp_row(&io->out, y) + x * channels * smp_sample_size(io->out.format),
                         (const uint8_t *)smp_row(&io->in, y) + x * channels, width - x < block ? width - x : block);
}
