/* spectrogram: the frequencies of a sound over time, as a picture: the discrete Fourier transform of windowed frames.
 * Parameters, the table, and the level of two sums.
 *
 * Column x is the frame of `size` samples around sample x * hop; samples outside the sound are 0. A channel has bins =
 * size / 2 levels, bin b being the frequency b * rate / size (rate / 2 itself is left out). They go to a picture
 * between the launches, the first channel on top, low frequencies at the bottom. `paint` makes the output of it: a row
 * shows the greatest level of the bins that it spans; round the channels lies a frame, of levels too.
 *
 * Where size / 2 has no prime factor above 7, a frame's spectrum is that of audio/frames.h, with a window that holds
 * the scale; bin 0 times 1/2.
 *
 * Other frames are a product with the cosine and sine matrices. For a bin two chains of fmaf run over the frame, n
 * ascending from 0, as in a matrix product (matmul.h):
 *
 *     re = fmaf(frame[n], table[n][2 b], re);  im = fmaf(frame[n], table[n][2 b + 1], im)
 *
 * The table holds the window times cosine and sine, made in double, scaled so that a full-scale sine wave in the middle
 * of a bin has magnitude 1. */
#pragma once

#include "audio/frames.h"
#include "matmul/matmul.h"

enum {
    SMP_SPECTROGRAM_COLORS = 256,               /* of the colour map */
    SMP_SPECTROGRAM_BINS = SMP_MATMUL_BLOCK / 2 /* of a GPU's tile */
};

typedef struct smp_spectrogram_params {
    smp_frames f;     /* fft.n = 0: by the product */
    int32_t pitch;    /* samples from a row of the table to the next: two a bin, filled up with zeros to whole tiles */
    int32_t decibels; /* 1: level = scale * log2(power) + offset; 0: scale * magnitude */
    int32_t colored;  /* 1: three samples from the colour map; 0: the level, 1 is white */
    float scale, offset;
    int32_t rows;                     /* of a channel */
    int32_t left, right, top, bottom; /* of the frame, pixels */
    int64_t spans, frame;             /* where they begin in the table, bytes */
} smp_spectrogram_params;

/* io->table for transforms: the colour map, the window of `size` floats, the transform's table. For the product: the
 * colour map (red, green, blue, 0..255), then the rows of cosines and sines, with rows of zeros up to
 * whole steps of a GPU's tiles. Then of both: for each row of a channel, from the top, two int32_t, its first bin and
 * the one behind its last; the frame's levels, a byte each: rows above the channels, the pixels beside them, rows
 * below. */
SMP_HOST_DEVICE const float *smp_spectrogram_map(const smp_io *io)
{
    return (const float *)io->table;
}
SMP_HOST_DEVICE const float *smp_spectrogram_waves(const smp_io *io)
{
    return smp_spectrogram_map(io) + 3 * SMP_SPECTROGRAM_COLORS;
}
SMP_HOST_DEVICE int64_t smp_spectrogram_rows(int64_t size)
{
    return (size + SMP_MATMUL_DEPTH - 1) / SMP_MATMUL_DEPTH * SMP_MATMUL_DEPTH;
}

/* The sound's sample that is the n-th of frame x; silence outside 0..frames-1. */
SMP_HOST_DEVICE int64_t smp_spectrogram_at(const smp_spectrogram_params *p, int64_t x, int64_t n)
{
    return smp_frames_first(&p->f, x) + n;
}

/* The bins *low .. *high-1 of channel c that rows y0 .. y1-1 of the picture show; low >= high: none. */
SMP_HOST_DEVICE void smp_spectrogram_bins(const smp_spectrogram_params *p, int c, int64_t y0, int64_t y1, int64_t *low,
                                          int64_t *high)
{
    const int64_t bottom = (int64_t)(c + 1) * p->f.bins;
    *low = bottom - y1 > 0 ? bottom - y1 : 0;
    *high = bottom - y0 < p->f.bins ? bottom - y0 : p->f.bins;
}
SMP_HOST_DEVICE int64_t smp_spectrogram_row(const smp_spectrogram_params *p, int c, int64_t bin)
{
    return (int64_t)(c + 1) * p->f.bins - 1 - bin;
}

/* 0..1; NaN where a sample is NaN. */
SMP_HOST_DEVICE float smp_spectrogram_level(float re, float im, const smp_spectrogram_params *p)
{
    const float power = fmaf(re, re, im * im);
    float level = p->decibels ? fmaf(smp_log2f_(power), p->scale, p->offset) : sqrtf(power) * p->scale;
    level = level < 0.f ? 0.f : level;
    level = level > 1.f ? 1.f : level;
    return smp_one_nan(level);
}

/* The bin that the split gave as number `bin`. */
SMP_HOST_DEVICE float smp_spectrogram_half(int64_t bin)
{
    return bin ? 1.f : 0.5f;
}

/* CPU scratch of transforms: frames of up to 16 lanes, both memories of their transforms, the spectrum. */
enum { SMP_SPECTROGRAM_GROUP = 16 /* frames that threads share out together */ };
SMP_HOST_DEVICE size_t smp_spectrogram_scratch(const smp_spectrogram_params *p)
{
    return (size_t)SMP_SPECTROGRAM_GROUP * ((size_t)p->f.size * 4 + 6) * sizeof(float);
}

/* The colour of a level: its place in the map. */
SMP_HOST_DEVICE uint8_t smp_spectrogram_color(float level)
{
    return smp_to_u8(level * (SMP_SPECTROGRAM_COLORS - 1));
}

/* The greater of two levels; NaN where one is. */
SMP_HOST_DEVICE float smp_spectrogram_greater(float a, float b)
{
    return b > a || b != b ? b : a;
}

/* The bins of row y of the channels (0: the first below the frame), as rows *first .. *end - 1 of the picture between:
 * bins that ascend are rows that descend. */
SMP_HOST_DEVICE void smp_spectrogram_span(const smp_io *io, const smp_spectrogram_params *p, int64_t y, int64_t *first,
                                          int64_t *end)
{
    const int32_t *span = (const int32_t *)(const void *)((const char *)io->table + p->spans) + 2 * (y % p->rows);
    const int c = (int)(y / p->rows);
    *first = smp_spectrogram_row(p, c, span[1] - 1);
    *end = smp_spectrogram_row(p, c, span[0]) + 1;
}

/* The frame's level at a pixel outside the channels. */
SMP_HOST_DEVICE uint8_t smp_spectrogram_frame(const smp_io *io, const smp_spectrogram_params *p, int64_t x, int64_t y)
{
    const uint8_t *frame = (const uint8_t *)io->table + p->frame;
    const int64_t width = io->out.width, side = p->left + p->right, rows = io->out.height - p->top - p->bottom;
    if (y < p->top)
        return frame[y * width + x];
    frame += p->top * width;
    if (y >= p->top + rows)
        return frame[rows * side + (y - p->top - rows) * width + x];
    return frame[(y - p->top) * side + (x < p->left ? x : x - (width - side))];
}

SMP_CPU_DECLARE(spectrogram_naive);
SMP_CPU_DECLARE(spectrogram_tiled);
SMP_CPU_DECLARE(spectrogram_one);
SMP_CPU_DECLARE(spectrogram_lanes);
SMP_CPU_DECLARE(spectrogram_paint);
