/* text: letters of a fixed font on a picture, and a box behind them. Table: a byte a dot, row by row: what is there. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_TEXT_NOTHING, SMP_TEXT_GROUND, SMP_TEXT_INK };

typedef struct smp_text {
    int64_t x, y, width, height;                           /* the box, px of the picture */
    int64_t columns;                                       /* dots in a row of the table */
    int32_t scale;                                         /* px a dot, on both sides */
    float ink[SMP_MAX_CHANNELS], ground[SMP_MAX_CHANNELS]; /* code values */
    float opacity;
} smp_text;

/* Returns the dot at a pixel. */
SMP_HOST_DEVICE int smp_text_dot(const smp_text *p, const void *table, int64_t x, int64_t y)
{
    const int64_t dx = x - p->x, dy = y - p->y;
    if (dx < 0 || dy < 0 || dx >= p->width || dy >= p->height)
        return SMP_TEXT_NOTHING;
    const int64_t at = (int64_t)((uint32_t)dy / (uint32_t)p->scale) * p->columns + (uint32_t)dx / (uint32_t)p->scale;
    return ((const uint8_t *)table)[at];
}

/* Porter and Duff's over, of a colour whose alpha is the opacity. alpha: the pixel's own, 1 where it has none. */
SMP_HOST_DEVICE float smp_text_value(const smp_text *p, int dot, float v, float alpha, int channel, const smp_view *in)
{
    const float both = fmaf(alpha, 1.f - p->opacity, p->opacity);
    if (in->alpha && channel == in->channels - 1)
        return smp_one_nan(both * in->white);
    const float *colour = dot == SMP_TEXT_INK ? p->ink : p->ground;
    const float weight = both == 0.f ? 0.f : p->opacity / both;
    return smp_one_nan(fmaf(weight, colour[channel] - v, v));
}

/* The alpha of pixel x of a row. */
SMP_HOST_DEVICE float smp_text_alpha(const smp_view *in, int64_t y, int64_t x)
{
    return in->alpha ? smp_load(smp_row(in, y), x * in->channels + in->channels - 1, in->format) / in->white : 1.f;
}

SMP_CPU_DECLARE(text_naive);
SMP_CPU_DECLARE(text_tiled);
