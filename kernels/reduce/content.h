/* content: where each row of a picture differs from its ground, which is the median of its four corners, channel by
 * channel. The input is there as a whole, since the last corners are in its last row. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef struct smp_content {
    float tolerance; /* code values: a pixel differs when a channel is further from the ground */
} smp_content;

/* io->result: one a row. */
typedef struct smp_content_row {
    int32_t first, last; /* pixels that differ; where none does, the width and -1 */
} smp_content_row;

/* Channel c of a pixel; colour counts as much as it is opaque. */
SMP_HOST_DEVICE float smp_content_value(const smp_view *v, const void *row, int64_t x, int c)
{
    const float value = smp_load(row, x * v->channels + c, v->format);
    if (!v->alpha || c == v->channels - 1)
        return value;
    return value * smp_load(row, x * v->channels + v->channels - 1, v->format) / v->white;
}

/* The median of four is the mean of those in the middle. NaN counts as 0. */
SMP_HOST_DEVICE void smp_content_ground(const smp_view *v, float *ground)
{
    const void *top = smp_row(v, 0), *bottom = smp_row(v, v->height - 1);
    for (int c = 0; c < v->channels; c++) {
        const float all[4] = {smp_content_value(v, top, 0, c), smp_content_value(v, top, v->width - 1, c),
                              smp_content_value(v, bottom, 0, c), smp_content_value(v, bottom, v->width - 1, c)};
        float a[4];
        for (int i = 0; i < 4; i++) { /* sorted by insertion */
            const float n = all[i] == all[i] ? all[i] : 0.f;
            int k = i;
            for (; k > 0 && a[k - 1] > n; k--)
                a[k] = a[k - 1];
            a[k] = n;
        }
        ground[c] = (a[1] + a[2]) * 0.5f;
    }
}

/* NaN differs. */
SMP_HOST_DEVICE int smp_content_differs(const smp_view *v, const smp_content *p, const float *ground, const void *row,
                                        int64_t x)
{
    int same = 1;
    for (int c = 0; c < v->channels && c < SMP_MAX_CHANNELS; c++)
        same &= smp_abs(smp_content_value(v, row, x, c) - ground[c]) <= p->tolerance;
    return !same;
}

SMP_CPU_DECLARE(content_naive);
SMP_CPU_DECLARE(content_tiled);
