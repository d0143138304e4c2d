/* waveform: how far a sound swings over time. Parameters, definition.
 *
 * Column x of the picture holds the frames floor(x n / width) .. floor((x + 1) n / width) - 1, at least one, of n. Of
 * each channel the least and the most sample are found; samples that are NaN do not count. Channels lie one above the
 * other in bands of `rows` rows; a column is drawn from row round((1 - most) / 2 (rows - 1)) to row
 * round((1 - least) / 2 (rows - 1)) of its band. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef struct smp_waveform {
    int64_t frames, width; /* of the sound; columns */
    int32_t rows;          /* of a channel's band */
    int32_t colors;        /* samples of a pixel */
    float on[3], off[3];   /* code values of 8 bits */
} smp_waveform;

enum { SMP_WAVEFORM_THREADS = 128 /* GPU: of a block, for a column and channel */ };

SMP_HOST_DEVICE int64_t smp_waveform_from(const smp_waveform *p, int64_t x)
{
    const int64_t whole = p->frames / p->width, rest = p->frames % p->width;
    return whole * x + rest * x / p->width;
}
SMP_HOST_DEVICE int64_t smp_waveform_to(const smp_waveform *p, int64_t x)
{
    const int64_t from = smp_waveform_from(p, x), to = smp_waveform_from(p, x + 1);
    return to > from ? to : from + 1;
}

/* -0 counts as 0, so that order does not matter. */
SMP_HOST_DEVICE void smp_waveform_widen(float *least, float *most, float v)
{
    *least = v < *least ? v + 0.f : *least;
    *most = v > *most ? v + 0.f : *most;
}

/* least > most: no samples counted. */
SMP_HOST_DEVICE float smp_waveform_found(float v, float least, float most)
{
    return least <= most ? v : smp_one_nan(NAN);
}

SMP_HOST_DEVICE int smp_waveform_drawn(const smp_waveform *p, float least, float most, int64_t row)
{
    const float last = (float)(p->rows - 1);
    const float top = smp_round_to((1.f - most) * 0.5f * last, last);
    const float bottom = smp_round_to((1.f - least) * 0.5f * last, last);
    return least <= most && (float)row >= top && (float)row <= bottom;
}

SMP_CPU_DECLARE(waveform_naive);
SMP_CPU_DECLARE(waveform_tiled);
SMP_CPU_DECLARE(waveform_draw);
