/* blur_slope: the magnitude of sobel of a blurred picture, with a mix of three channels to one before and operations on
 * single samples after it, as one kernel: what a chain of gray, gaussian, sobel, levels and threshold makes, without a
 * picture in between. Parameters and arithmetic.
 *
 * The definition is the chain's, each part its own: mix.h, bell.h with the border `clamp`, gradient.h with the border
 * `clamp` of the blurred picture (not of the picture), smp_map.h; f32 between them. */
#ifndef SMP_KERNELS_BLUR_SLOPE_H
#define SMP_KERNELS_BLUR_SLOPE_H

#include "bell.h"
#include "gradient.h"
#include "sample_map.h"

typedef struct smp_blur_slope {
    smp_bell bell;   /* radius below SMP_BELL_INLINE; edge SMP_CLAMP */
    float weight[3]; /* of a pixel's channels, where it has three */
    smp_map map;     /* smp_map_is_plain() */
} smp_blur_slope;

/* Pixel (x, y), which may lie outside, in one channel. */
SMP_FN float smp_blur_slope_gray(const smp_view *in, const smp_blur_slope *p, int64_t x, int64_t y)
{
    x = smp_border(x, in->width, SMP_CLAMP);
    const void *row = smp_row(in, smp_border(y, in->height, SMP_CLAMP));
    if (in->channels == 1)
        return smp_load(row, x, in->format);
    float s = 0.f;
    for (int c = 0; c < 3; c++)
        s = fmaf(p->weight[c], smp_load(row, 3 * x + c, in->format), s);
    return smp_one_nan(s);
}

/* The blurred picture at (x, y), of which what lies outside is what lies at its border. */
SMP_FN float smp_blur_slope_blurred(const smp_view *in, const smp_blur_slope *p, int64_t x, int64_t y)
{
    const float *w = p->bell.w, *a = p->bell.a;
    const int r = p->bell.radius;
    float s = 0.f;
    x = smp_border(x, in->width, SMP_CLAMP);
    y = smp_border(y, in->height, SMP_CLAMP);
    for (int i = -r; i <= r; i++) {
        float m = smp_bell_first(a[0], smp_blur_slope_gray(in, p, x, y + i));
        for (int k = 1; k <= r; k++)
            m = smp_bell_pair(m, a[k], smp_blur_slope_gray(in, p, x - k, y + i),
                              smp_blur_slope_gray(in, p, x + k, y + i));
        s = i == -r ? smp_bell_first(w[r], m) : smp_bell_tap(s, w[i < 0 ? -i : i], m);
    }
    return s;
}

SMP_FN float smp_blur_slope_at(const smp_view *in, const smp_blur_slope *p, int64_t x, int64_t y)
{
    float v[9];
    for (int i = 0; i < 9; i++)
        v[i] = smp_blur_slope_blurred(in, p, x - 1 + i % 3, y - 1 + i / 3);
    return smp_map_sample(&p->map, smp_one_nan(smp_gradient_at(v, SMP_GRADIENT_MAGNITUDE)), 0);
}

/* GPU: one warp a strip. Lanes at both ends make what the others need beside theirs. */
enum { SMP_BLUR_SLOPE_RADIUS = 8, SMP_BLUR_SLOPE_BAND = 90 /* rows */ };

#ifdef __cplusplus
#define SMP_BLUR_SLOPE_CONSTANT SMP_FN constexpr
#else
#define SMP_BLUR_SLOPE_CONSTANT SMP_FN
#endif
/* Pixels that a lane has: as many as its registers hold. */
SMP_BLUR_SLOPE_CONSTANT int smp_blur_slope_lane(int radius)
{
    return radius <= 5 ? 8 : 4;
}
/* Lanes at either end that make nothing of their own. */
SMP_BLUR_SLOPE_CONSTANT int smp_blur_slope_beside(int radius)
{
    return (radius + smp_blur_slope_lane(radius)) / smp_blur_slope_lane(radius);
}
/* Pixels of a row that a warp makes. */
SMP_BLUR_SLOPE_CONSTANT int smp_blur_slope_across(int radius)
{
    return (32 - 2 * smp_blur_slope_beside(radius)) * smp_blur_slope_lane(radius);
}

/* Whether the radius is one of these kernels', weights are either 0 or so large that scaled sums keep their digits, and
 * what lies below SMP_BLUR_SLOPE_LEAST becomes the byte that 0 becomes: the kernels take it for one another. (Plain
 * operations rise or fall all the way, so that the two ends tell for all between them.) */
#define SMP_BLUR_SLOPE_LEAST 0x1p-50f
SMP_FN int smp_blur_slope_fits(const smp_blur_slope *p, int channels)
{
    if (!smp_map_is_plain(&p->map) ||
        smp_to_u8(smp_map_sample(&p->map, 0.f, 0)) != smp_to_u8(smp_map_sample(&p->map, SMP_BLUR_SLOPE_LEAST, 0)))
        return 0;
    for (int c = 0; c < 3 && channels == 3; c++) {
        const float size = smp_abs(p->weight[c]);
        if (size != 0.f && !(size >= 1e-6f && size <= 1e3f))
            return 0;
    }
    return p->bell.radius >= 1 && p->bell.radius <= SMP_BLUR_SLOPE_RADIUS && p->bell.edge == SMP_CLAMP &&
           (channels == 1 || channels == 3);
}
SMP_FN int smp_blur_slope_warp(const smp_blur_slope *p, const smp_io *io)
{
    return smp_blur_slope_fits(p, io->in.channels) && smp_rows_aligned(io) && io->in.format == SMP_U8 && io->out.format == SMP_U8 &&
           !io->in.alpha && io->in.width <= 1 << 29;
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(blur_slope_naive);
#ifdef __cplusplus
}
#endif

#endif
