/* brightness: a picture's rows, four pixels at a time, as one number each: the sum of their brightness, 0 to 255 a
 * pixel. What is transparent is white, and colour is premultiplied. */
#pragma once

#include "lib/cpu_kernel.h"

enum { SMP_BRIGHTNESS_GROUP = 4 /* pixels */ };

/* Numbers of a row; io->result has them row by row. */
SMP_HOST_DEVICE int64_t smp_brightness_groups(int64_t width)
{
    return (width + SMP_BRIGHTNESS_GROUP - 1) / SMP_BRIGHTNESS_GROUP;
}

/* The mean of a pixel's colours, rounded; NaN is 0. */
SMP_HOST_DEVICE uint32_t smp_brightness_of(const smp_view *v, const void *row, int64_t x)
{
    const int32_t colours = v->channels - v->alpha;
    float sum = 0.f;
    for (int32_t c = 0; c < colours; c++)
        sum += smp_load(row, x * v->channels + c, v->format);
    float bright = sum / (float)colours / v->white * 255.f;
    if (v->alpha)
        bright += 255.f - smp_load(row, x * v->channels + colours, v->format) / v->white * 255.f;
    return (uint32_t)smp_round_to(bright, 255.f);
}

SMP_CPU_DECLARE(brightness_naive);
SMP_CPU_DECLARE(brightness_tiled);
