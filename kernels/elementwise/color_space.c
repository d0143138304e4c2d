/* color on the CPU. tiled makes the three channels of a pixel at once, since most of the work is for all of them, in
 * one vectorised loop a kind; bytes become planes of bytes first. Bound by arithmetic: Lab takes six powers a pixel,
 * three where bytes become light by a table. */
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

/* x / 255 of a byte, by its correctly rounded reciprocal and one correction (Markstein 1990): a third of a division's
 * time. */
SMP_INLINE float fraction_of(uint8_t x)
{
#ifdef __FMA__
    const float v = (float)x, reciprocal = 1.f / 255, about = v * reciprocal;
    return fmaf(fmaf(-about, 255.f, v), reciprocal, about);
#else
    return (float)x / 255.f;
#endif
}

/* n <= SMP_BLOCK pixels of three bytes. They are parted and joined as bytes, a quarter of the work of floats. light:
 * the values of bytes in linear light, where the kind is SMP_TO_LAB. Gives how many samples are clipped. */
SMP_INLINE int bytes_of(uint8_t *restrict to, const uint8_t *restrict from, int64_t n, const int32_t kind,
                        const float *restrict light)
{
    uint8_t part[3][SMP_BLOCK] __attribute__((aligned(64))), made[3][SMP_BLOCK] __attribute__((aligned(64)));
    float value[3][SMP_BLOCK] __attribute__((aligned(64)));
    int clipped = 0;
    if (kind == SMP_TO_LAB) {
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < 3; c++)
                value[c][i] = light[from[3 * i + c]];
    } else {
        for (int64_t i = 0; i < n; i++) {
            part[0][i] = from[3 * i];
            part[1][i] = from[3 * i + 1];
            part[2][i] = from[3 * i + 2];
        }
        for (int c = 0; c < 3; c++)
            for (int64_t i = 0; i < n; i++)
                value[c][i] = fraction_of(part[c][i]);
    }
    for (int64_t i = 0; i < n; i++) {
        const float a = value[0][i], b = value[1][i], c = value[2][i];
        const smp_colour v = kind == SMP_TO_LAB ? smp_light_to_lab(a, b, c) : smp_color_space_fractions(kind, a, b, c);
        const float x = v.v[0] * 255.f, y = v.v[1] * 255.f, z = v.v[2] * 255.f;
        made[0][i] = smp_to_u8(x);
        made[1][i] = smp_to_u8(y);
        made[2][i] = smp_to_u8(z);
        if (kind != SMP_TO_LAB && kind != SMP_TO_HSV) /* of bytes those stay in the range */
            clipped += smp_clips(x, 255.f) + smp_clips(y, 255.f) + smp_clips(z, 255.f);
    }
    for (int64_t i = 0; i < n; i++) {
        to[3 * i] = made[0][i];
        to[3 * i + 1] = made[1][i];
        to[3 * i + 2] = made[2][i];
    }
    return clipped;
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

static void bytes_row(const smp_io *io, const smp_color_space *p, const float light[256], int64_t y)
{
    smp_color_space own = *p;
    const int64_t width = io->in.width;
    for (int64_t x = 0; x < width; x += SMP_BLOCK) {
        const int64_t n = width - x < SMP_BLOCK ? width - x : SMP_BLOCK;
        const uint8_t *from = (const uint8_t *)smp_row(&io->in, y) + 3 * x;
        uint8_t *to = (uint8_t *)smp_row(&io->out, y) + 3 * x;
        int clipped = 0;
        SMP_KINDS_6(own, clipped = bytes_of(to, from, n, own.kind, light))
        if (io->clipped)
            *io->clipped += (uint64_t)clipped;
    }
}

enum { COLOR_TABLE_PAYS = 1024 }; /* pixels of a launch */

SMP_CPU_KERNEL(color_space_tiled)
{
    const smp_color_space *p = params;
    const int64_t width = io->in.width, channels = io->in.channels, block = SMP_BLOCK / channels;
    const int lab = p->kind == SMP_TO_LAB, bytes = channels == 3 && io->out.format == SMP_U8;
    if (io->in.format != SMP_U8 || width * (y1 - y0) < COLOR_TABLE_PAYS || !(lab || bytes)) {
        smp_point_rows(io, params, y0, y1, color_space_block);
        return;
    }
    float light[256];
    for (int v = 0; lab && v < 256; v++)
        light[v] = smp_lab_light((float)v / 255.f);
    for (int64_t y = y0; bytes && y < y1; y++)
        bytes_row(io, p, light, y);
    for (int64_t y = y0; !bytes && y < y1; y++)
        for (int64_t x = 0; x < width; x += block)
            lab_of_bytes(io, light, (char *)smp_row(&io->out, y) + x * channels * smp_sample_size(io->out.format),
                         (const uint8_t *)smp_row(&io->in, y) + x * channels, width - x < block ? width - x : block);
}
