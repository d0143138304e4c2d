/* jitter: brightness, contrast, saturation and hue of bytes as Pillow computes them, to the bit: a blend with black,
 * with the mean gray, with each pixel's gray, in f32 and cut to integers; a hue turned in HSV of bytes. One after the
 * other, in any order. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/per_pixel.h"

enum { SMP_JITTER_BRIGHTNESS, SMP_JITTER_CONTRAST, SMP_JITTER_SATURATION, SMP_JITTER_HUE, SMP_JITTER_OPS };

typedef struct smp_jitter {
    int32_t ops[SMP_JITTER_OPS]; /* in their order; -1: none */
    float factor[SMP_JITTER_HUE];
    int32_t hue;  /* 255ths of a turn, 0..255 */
    int32_t mean; /* gray of the whole picture as contrast finds it, 0..255 */
} smp_jitter;

/* Weights of ITU-R BT.601 in 65536ths, rounded. */
SMP_HOST_DEVICE int32_t smp_jitter_gray(const int32_t *v)
{
    return (v[0] * 19595 + v[1] * 38470 + v[2] * 7471 + 0x8000) >> 16;
}

SMP_HOST_DEVICE int32_t smp_jitter_blend(int32_t from, int32_t to, float share)
{
    const float v = (float)from + share * (float)(to - from);
    return v >= 255.f ? 255 : v > 0.f ? (int32_t)v : 0;
}

/* To nearest, halves away from 0; v >= 0. */
SMP_HOST_DEVICE int32_t smp_jitter_round(double v)
{
    return (int32_t)v + (v - (int32_t)v >= 0.5);
}

/* Floats and doubles where Pillow has them: each rounding counts. */
SMP_HOST_DEVICE void smp_jitter_turn(int32_t *v, int32_t turn)
{
    const int32_t r = v[0], g = v[1], b = v[2], gb = g > b ? g : b, low = g < b ? g : b, most = r > gb ? r : gb,
                  across = most - (r < low ? r : low);
    if (!across)
        return;
    const float c = (float)across, rc = (float)(most - r) / c, gc = (float)(most - g) / c, bc = (float)(most - b) / c;
    const float sector = r == most ? bc - gc : (float)(g == most ? 2.0 + rc - bc : 4.0 + gc - rc);
    const double turns = sector / 6.0 + 1.0;
    const float hue = (float)(turns - (int32_t)turns);
    const int32_t s = (int32_t)((double)(c / (float)most) * 255.0), h = ((int32_t)(hue * 255.0) + turn) & 255;
    if (!s) {
        v[0] = v[1] = v[2] = most;
        return;
    }
    const double at = (double)h * 6.0 / 255.0;
    const int32_t i = (int32_t)at;
    const float f = (float)(at - i), fs = (float)(s / 255.0);
    const int32_t p = smp_jitter_round(most * (1.0 - fs)), q = smp_jitter_round(most * (1.0 - fs * f)),
                  t = smp_jitter_round(most * (1.0 - fs * (1.0 - f))), k = i % 6;
    v[0] = k == 0 || k == 5 ? most : k == 1 ? q : k == 4 ? t : p;
    v[1] = k == 1 || k == 2 ? most : k == 3 ? q : k == 0 ? t : p;
    v[2] = k == 3 || k == 4 ? most : k == 5 ? q : k == 2 ? t : p;
}

/* The operations in front of contrast, whose gray is wanted, or all of them. */
SMP_HOST_DEVICE void smp_jitter_of(int32_t *v, const smp_jitter *p, int all)
{
    for (int i = 0; i < SMP_JITTER_OPS && p->ops[i] >= 0; i++) {
        if (p->ops[i] == SMP_JITTER_CONTRAST && !all)
            return;
        if (p->ops[i] == SMP_JITTER_HUE) {
            smp_jitter_turn(v, p->hue);
            continue;
        }
        const int32_t from = p->ops[i] == SMP_JITTER_BRIGHTNESS ? 0
                             : p->ops[i] == SMP_JITTER_CONTRAST ? p->mean
                                                                : smp_jitter_gray(v);
        for (int c = 0; c < 3; c++)
            v[c] = smp_jitter_blend(from, v[c], p->factor[p->ops[i]]);
    }
}

/* A gray pixel is one of three equal colours. */
SMP_HOST_DEVICE float smp_jitter_pixel(smp_pixel from, int channel, const smp_io *io, const smp_jitter *p)
{
    const int colours = io->in.channels - io->in.alpha;
    const int64_t step = colours == 3 ? from.step : 0;
    int32_t v[3] = {(int32_t)from.v[0], (int32_t)from.v[step], (int32_t)from.v[2 * step]};
    smp_jitter_of(v, p, 1);
    return channel < colours ? (float)v[channel < 3 ? channel : 2] : from.last;
}

/* The gray of a pixel that contrast is given. */
SMP_HOST_DEVICE uint32_t smp_jitter_seen(const smp_view *view, int64_t y, int64_t x, const smp_jitter *p)
{
    const uint8_t *at = (const uint8_t *)smp_row(view, y) + x * view->channels;
    const int step = view->channels - view->alpha == 3;
    int32_t v[3] = {at[0], at[step], at[2 * step]};
    smp_jitter_of(v, p, 0);
    return (uint32_t)smp_jitter_gray(v);
}

SMP_CPU_DECLARE(jitter_sum);
