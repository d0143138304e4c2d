/* local_threshold: black and white by a level that the surroundings decide. Parameters, sums and the verdict.
 *
 * n = size^2 samples of a square; S, Q: sums of v and v^2. For 8 and 16 bits they are exact integers (of the code value
 * that a file would hold, where fractions come from a stage before); n Q - S^2 is exact in 64 bits, which suffice up to
 * size 255. For float pictures sums are double, in the order of stencil/box.h: rows first, then columns.
 *   m = S / n, s = sqrt(n Q - S^2) / n, the level T in double, each operation rounded
 *   mean      m - offset
 *   bradley   m (1 - k)              Bradley and Roth 2007
 *   niblack   m - k s                Niblack 1986 writes k = -0.2, scikit-image 0.2
 *   sauvola   m (1 + k (s / r - 1))  Sauvola and Pietikainen 2000 */
#pragma once

#include "stencil/stencil.h"

enum {
    SMP_LOCAL_MOST = 255,   /* px, the largest size */
    SMP_LOCAL_LEVELS = 8,   /* block lengths 1, 2, 4 .. 128 */
    SMP_LOCAL_TILE = 128,   /* CPU, floats: samples of a tile */
    SMP_LOCAL_ACROSS = 128, /* GPU, tiled: samples of a block, one a thread */
    SMP_LOCAL_DOWN = 64 /* GPU, tiled: its rows; taller ones add up fewer first windows, lower ones end more evenly */
};

typedef enum smp_local_method {
    SMP_LOCAL_SAUVOLA,
    SMP_LOCAL_NIBLACK,
    SMP_LOCAL_BRADLEY,
    SMP_LOCAL_MEAN
} smp_local_method;

typedef struct smp_local_threshold {
    int32_t size, edge, method;
    float fill;          /* of `constant`: a fraction of full scale */
    double k, r, offset; /* r, offset: code values */
} smp_local_threshold;

SMP_HOST_DEVICE int smp_local_spread(const smp_local_threshold *p)
{
    return p->method == SMP_LOCAL_SAUVOLA || p->method == SMP_LOCAL_NIBLACK;
}

/* T, of the sum and n Q - S^2. */
SMP_HOST_DEVICE double smp_local_level(int method, double k, double r, double offset, double n, double sum,
                                       double difference)
{
    const double m = sum / n;
    if (method == SMP_LOCAL_MEAN)
        return m - offset;
    if (method == SMP_LOCAL_BRADLEY)
        return m * (1. - k);
    const double s = sqrt(difference > 0. ? difference : 0.) / n;
    return method == SMP_LOCAL_NIBLACK ? m - k * s : m * (1. + k * (s / r - 1.));
}

/* n Q - S^2 of integers: never negative. */
SMP_HOST_DEVICE double smp_local_difference(uint64_t n, uint64_t sum, uint64_t squares)
{
    return (double)(n * squares - sum * sum);
}

/* The code value of a sample of 8 or 16 bits. */
SMP_HOST_DEVICE uint32_t smp_local_code(const void *row, int64_t i, int format, float white)
{
    return format == SMP_U8    ? ((const uint8_t *)row)[i]
           : format == SMP_U16 ? ((const uint16_t *)row)[i]
                               : (uint32_t)(int32_t)smp_round_to(((const float *)row)[i], white);
}

/* Full scale where v reaches the level; v: the code value, whose sample may be NaN. */
SMP_HOST_DEVICE float smp_local_verdict(const void *row, int64_t i, int format, float white, double level)
{
    const float sample = smp_load(row, i, format);
    const double v = white == 1.f ? (double)sample : (double)smp_local_code(row, i, format, white);
    return sample == sample && v >= level ? white : 0.f;
}

/* ------------------------------------------------------------------------------------------------ sums */

typedef struct smp_local_sums {
    double sum, squares;
} smp_local_sums;

/* Floats: n samples from (x, y) along the row, in box's order. */
SMP_HOST_DEVICE smp_local_sums smp_local_row(const smp_view *in, int64_t x, int64_t y, int c, int32_t n, int edge,
                                             float outside)
{
    smp_local_sums total = {0., 0.}, part[SMP_LOCAL_LEVELS];
    int some = 0;
    for (int32_t length = 1; length <= n; length *= 2) {
        int level = 0;
        for (int32_t i = 0; n & length && i < length; i++, x++) {
            const double sample = (double)smp_at_border(in, x, y, c, edge, outside);
            smp_local_sums v = {sample, sample * sample};
            level = 0;
            for (int32_t pair = i; pair & 1; pair >>= 1, level++) {
                v.sum = part[level].sum + v.sum;
                v.squares = part[level].squares + v.squares;
            }
            part[level] = v;
        }
        if (n & length) {
            total.sum = some ? total.sum + part[level].sum : part[level].sum;
            total.squares = some ? total.squares + part[level].squares : part[level].squares;
            some = 1;
        }
    }
    return total;
}

/* The same of 8 and 16 bits: whole numbers, exact in any order. beyond: the code outside the picture. */
SMP_HOST_DEVICE smp_local_sums smp_local_codes(const smp_view *in, int64_t x, int64_t y, int c, int32_t n, int edge,
                                               uint32_t beyond)
{
    const int64_t from = smp_border(y, in->height, edge);
    const void *row = smp_row(in, from < 0 ? in->y0 : from);
    uint64_t sum = 0, squares = 0;
    for (int32_t i = 0; i < n; i++) {
        const int64_t at = smp_border(x + i, in->width, edge);
        const uint64_t v =
            from < 0 || at < 0 ? beyond : smp_local_code(row, at * in->channels + c, in->format, in->white);
        sum += v;
        squares += v * v;
    }
    const smp_local_sums sums = {(double)sum, (double)squares};
    return sums;
}

/* Sums of n rows in box's order; that of the first row is ring[first], after the last entry comes ring[0]. */
SMP_HOST_DEVICE smp_local_sums smp_local_down(const smp_local_sums *ring, int32_t first, int32_t n)
{
    smp_local_sums total = {0., 0.}, part[SMP_LOCAL_LEVELS];
    int some = 0;
    for (int32_t length = 1; length <= n; length *= 2) {
        int level = 0;
        for (int32_t i = 0; n & length && i < length; i++, first = first + 1 < n ? first + 1 : 0) {
            smp_local_sums v = ring[first];
            level = 0;
            for (int32_t pair = i; pair & 1; pair >>= 1, level++) {
                v.sum = part[level].sum + v.sum;
                v.squares = part[level].squares + v.squares;
            }
            part[level] = v;
        }
        if (n & length) {
            total.sum = some ? total.sum + part[level].sum : part[level].sum;
            total.squares = some ? total.squares + part[level].squares : part[level].squares;
            some = 1;
        }
    }
    return total;
}

/* A column of squares that moves down, a row at a time: the definition. Row y's sum is ring[(y - top) % size]. */
typedef struct smp_local_walk {
    smp_local_sums ring[SMP_LOCAL_MOST];
    smp_local_sums total; /* of whole numbers: of all rows in the ring */
    int64_t x;
    int32_t c, oldest; /* the entry that leaves next */
} smp_local_walk;

/* Row y enters and the oldest one leaves. */
SMP_HOST_DEVICE void smp_local_enter(smp_local_walk *w, const smp_local_threshold *p, const smp_view *in, int64_t y)
{
    const float outside = smp_outside(p->edge, p->fill, in->white);
    const int64_t first = w->x - p->size / 2;
    const smp_local_sums old = w->ring[w->oldest];
    const smp_local_sums row = in->white == 1.f ? smp_local_row(in, first, y, w->c, p->size, p->edge, outside)
                                                : smp_local_codes(in, first, y, w->c, p->size, p->edge,
                                                                  (uint32_t)(int32_t)smp_round_to(outside, in->white));
    w->total.sum = w->total.sum + (row.sum - old.sum);
    w->total.squares = w->total.squares + (row.squares - old.squares);
    w->ring[w->oldest] = row;
    w->oldest = w->oldest + 1 < p->size ? w->oldest + 1 : 0;
}

/* Before row y of pixel x, channel c. */
SMP_HOST_DEVICE void smp_local_start(smp_local_walk *w, const smp_local_threshold *p, const smp_view *in, int64_t x,
                                     int64_t y, int c)
{
    w->x = x;
    w->c = c;
    w->oldest = 0;
    w->total.sum = w->total.squares = 0.;
    for (int32_t i = 0; i < p->size; i++)
        w->ring[i].sum = w->ring[i].squares = 0.;
    for (int32_t i = 0; i < p->size - 1; i++)
        smp_local_enter(w, p, in, y - p->size / 2 + i);
}

/* The result of row y, which follows the last one. */
SMP_HOST_DEVICE float smp_local_next(smp_local_walk *w, const smp_local_threshold *p, const smp_view *in, int64_t y)
{
    const void *row = smp_row(in, y);
    const int64_t i = w->x * in->channels + w->c;
    const double n = (double)p->size * (double)p->size;
    if (in->alpha && w->c == in->channels - 1)
        return smp_load(row, i, in->format);
    smp_local_enter(w, p, in, y + p->size / 2);
    smp_local_sums all = w->total;
    double difference;
    if (in->white == 1.f) {
        all = smp_local_down(w->ring, w->oldest, p->size);
        difference = n * all.squares - all.sum * all.sum;
    } else
        difference = smp_local_difference((uint64_t)n, (uint64_t)all.sum, (uint64_t)all.squares);
    return smp_local_verdict(row, i, in->format, in->white,
                             smp_local_level(p->method, p->k, p->r, p->offset, n, all.sum, difference));
}

/* GPU, tiled: samples of a line of column sums in shared memory. */
SMP_HOST_DEVICE int32_t smp_local_line(const smp_local_threshold *p, int channels)
{
    return SMP_LOCAL_ACROSS + (p->size - 1) * channels;
}

/* Bytes of scratch memory of the tiled CPU kernel: a line of codes, sums of columns, of windows; or, of floats, a line
 * of a tile, its row sums, and partial sums. */
static inline size_t smp_local_scratch(const smp_io *io, const void *params)
{
    const smp_local_threshold *p = (const smp_local_threshold *)params;
    const size_t line = (size_t)(io->in.width + p->size) * (size_t)io->in.channels + 64;
    const size_t codes = line * (2 * sizeof(uint16_t) + sizeof(uint32_t) + sizeof(uint64_t) + 2 * sizeof(double));
    const size_t rows = 2 * (size_t)(p->size + 2 * SMP_LOCAL_LEVELS + 4) * SMP_LOCAL_TILE +
                        (size_t)(SMP_LOCAL_TILE + (p->size + 1) * SMP_MAX_CHANNELS) * 2;
    return codes > rows * sizeof(double) ? codes : rows * sizeof(double);
}

SMP_CPU_DECLARE(local_threshold_naive);
SMP_CPU_DECLARE(local_threshold_tiled);
