/* quality: how far two pictures are apart. The record of a chunk and the arithmetic that every device repeats.
 *
 * Result (SMP_RESULT_CHUNKS): smp_quality_chunk [chunks][colours]; for chunks and lanes see the end of view.h. A lane
 * adds its pixels in order, in double: squared and absolute differences of code values, and the index of structural
 * similarity (Wang, Bovik, Sheikh, Simoncelli 2004) where the 11 x 11 window lies inside the picture. Local means are
 * sums of window * value along rows, then of window * row sum down the columns, both ascending from 0; each
 * product and sum is rounded. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum {
    SMP_QUALITY_REACH = 5,                          /* px */
    SMP_QUALITY_WINDOW = 2 * SMP_QUALITY_REACH + 1, /* px */
    SMP_QUALITY_MOMENTS = 5,                        /* a, b, a^2, b^2, a b */
    SMP_QUALITY_THREADS = 256                       /* GPU, tiled: pixels a block takes at a time */
};

typedef struct smp_quality {
    double window[SMP_QUALITY_WINDOW];
    float scale; /* from the second picture's code values to the first's */
    double c1, c2;
} smp_quality;

typedef struct smp_quality_chunk {
    double squares, absolute, ssim; /* sums */
    int64_t windows;                /* that ssim is a sum of */
    float most;                     /* the largest difference */
    float pad;
} smp_quality_chunk;

/* The same of a lane. */
typedef struct smp_quality_lane {
    double squares, absolute, ssim;
    float most;
} smp_quality_lane;

SMP_HOST_DEVICE int smp_quality_colours(const smp_view *v)
{
    return v->channels - v->alpha;
}

SMP_HOST_DEVICE float smp_quality_first(const smp_io *io, int64_t x, int64_t y, int c)
{
    return smp_load(smp_row(&io->in, y), x * io->in.channels + c, io->in.format);
}
SMP_HOST_DEVICE float smp_quality_second(const smp_quality *p, const smp_io *io, int64_t x, int64_t y, int c)
{
    return smp_load(smp_row(&io->second, y), x * io->second.channels + c, io->second.format) * p->scale;
}

/* Whether the window about a pixel lies inside. */
SMP_HOST_DEVICE int smp_quality_inside(const smp_view *in, int64_t x, int64_t y)
{
    return x >= SMP_QUALITY_REACH && y >= SMP_QUALITY_REACH && x < in->width - SMP_QUALITY_REACH &&
           y < in->height - SMP_QUALITY_REACH;
}

/* The five values of a pixel, and their weighted sums. */
typedef struct smp_quality_moments {
    double m[SMP_QUALITY_MOMENTS];
} smp_quality_moments;

SMP_HOST_DEVICE void smp_quality_add(smp_quality_moments *to, double weight, double a, double b)
{
    to->m[0] = to->m[0] + weight * a;
    to->m[1] = to->m[1] + weight * b;
    to->m[2] = to->m[2] + weight * (a * a);
    to->m[3] = to->m[3] + weight * (b * b);
    to->m[4] = to->m[4] + weight * (a * b);
}
SMP_HOST_DEVICE void smp_quality_add_row(smp_quality_moments *to, double weight, const smp_quality_moments *row)
{
    for (int k = 0; k < SMP_QUALITY_MOMENTS; k++)
        to->m[k] = to->m[k] + weight * row->m[k];
}

/* The index of two windows with these moments. */
SMP_HOST_DEVICE double smp_quality_index(double a, double b, double aa, double bb, double ab, double c1, double c2)
{
    const double va = aa - a * a, vb = bb - b * b, vab = ab - a * b;
    return ((2. * a * b + c1) * (2. * vab + c2)) / ((a * a + b * b + c1) * (va + vb + c2));
}

/* The index about pixel (x, y), whose window lies inside: the definition. */
SMP_HOST_DEVICE double smp_quality_ssim(const smp_quality *p, const smp_io *io, int64_t x, int64_t y, int c)
{
    smp_quality_moments all = {{0., 0., 0., 0., 0.}};
    for (int dy = 0; dy < SMP_QUALITY_WINDOW; dy++) {
        smp_quality_moments row = {{0., 0., 0., 0., 0.}};
        for (int dx = 0; dx < SMP_QUALITY_WINDOW; dx++) {
            const int64_t at = x - SMP_QUALITY_REACH + dx, line = y - SMP_QUALITY_REACH + dy;
            smp_quality_add(&row, p->window[dx], (double)smp_quality_first(io, at, line, c),
                            (double)smp_quality_second(p, io, at, line, c));
        }
        smp_quality_add_row(&all, p->window[dy], &row);
    }
    return smp_quality_index(all.m[0], all.m[1], all.m[2], all.m[3], all.m[4], p->c1, p->c2);
}

SMP_HOST_DEVICE void smp_quality_meet(smp_quality_lane *lane, float a, float b)
{
    const double d = (double)a - (double)b, size = d < 0. ? -d : d;
    const float most = smp_one_nan(smp_abs((float)d));
    lane->squares = lane->squares + d * d;
    lane->absolute = lane->absolute + size;
    lane->most = most > lane->most || most != most ? most : lane->most;
}

SMP_HOST_DEVICE void smp_quality_join(smp_quality_lane *lane, const smp_quality_lane *other)
{
    lane->squares = lane->squares + other->squares;
    lane->absolute = lane->absolute + other->absolute;
    lane->ssim = lane->ssim + other->ssim;
    lane->most = other->most > lane->most || other->most != other->most ? other->most : lane->most;
}

/* NaN has many bit patterns: a record has one. */
SMP_HOST_DEVICE double smp_quality_one_nan(double v)
{
    return v == v ? v : (double)smp_one_nan((float)NAN);
}

/* Windows inside of `n` pixels from x on, in row y. */
SMP_HOST_DEVICE int64_t smp_quality_windows(const smp_view *in, int64_t x, int64_t y, int64_t n)
{
    const int64_t first = SMP_QUALITY_REACH, from = x > first ? x : first, right = in->width - first;
    const int64_t to = x + n < right ? x + n : right;
    return y >= SMP_QUALITY_REACH && y < in->height - SMP_QUALITY_REACH && to > from ? to - from : 0;
}

/* The record of a chunk, of its lanes added up. */
SMP_HOST_DEVICE smp_quality_chunk smp_quality_close(const smp_quality_lane *all, int64_t windows)
{
    const smp_quality_chunk chunk = {smp_quality_one_nan(all->squares),
                                     smp_quality_one_nan(all->absolute),
                                     smp_quality_one_nan(all->ssim),
                                     windows,
                                     all->most,
                                     0.f};
    return chunk;
}

/* Bytes of scratch memory of the tiled CPU kernel: a row of both pictures, sums along rows of the last eleven, indices.
 */
static inline size_t smp_quality_scratch(const smp_io *io, const void *params)
{
    (void)params;
    const size_t width = (size_t)io->in.width + 64;
    return width * (2 * sizeof(float) * SMP_MAX_CHANNELS + 4 * sizeof(float) +
                    sizeof(double) * (SMP_QUALITY_WINDOW * SMP_QUALITY_MOMENTS + SMP_QUALITY_MOMENTS + 1));
}

SMP_CPU_DECLARE(quality_naive);
SMP_CPU_DECLARE(quality_tiled);
