/* clahe: contrast limited adaptive histogram equalisation (Zuiderveld 1994), as OpenCV's createCLAHE computes it. The
 * picture is cut into tiles x tiles; each has a table of its own, and a pixel mixes those of the four tiles whose
 * centres surround it. Where a side is no multiple of `tiles`, the picture is mirrored beyond its right and lower
 * border for counting.
 *
 * Two passes. Counting 8 bits: uint64_t [planes][tiles][tiles][bins], of the mirrored picture (SMP_RESULT_COUNTS). Of
 * other formats, so many counters of 65536 bins are too many for each thread: the kernel gives the values that count,
 * uint16_t or float [planes][height][width] (SMP_RESULT_CHUNKS), and the host counts them. NaN does not count.
 * Applying: io->table has uint16_t [planes][tiles][tiles][bins], whole code values of 0..bins-1.
 * Bins: 256 of 8 bits, else 65536; see reduce/histogram.h, whose parameters come first. */
#pragma once

#include "lib/exact_math.h"
#include "reduce/histogram.h"

enum {
    SMP_CLAHE_MOST = 64,   /* tiles a side */
    SMP_CLAHE_BYTES = 256, /* bins of 8 bits */
    SMP_CLAHE_ROWS = 64    /* GPU: rows that a block counts, or makes, with one set of tables in shared memory */
};

typedef struct smp_clahe {
    smp_histogram_params count;
    int32_t tiles;
    int32_t tile_width, tile_height; /* px */
    float per_width, per_height;     /* 1 / those */
    /* A cell is what lies between tile centres: columns x[i] .. x[i + 1] - 1 mix the tiles i - 1 and i. */
    int32_t x[SMP_CLAHE_MOST + 2], y[SMP_CLAHE_MOST + 2];
} smp_clahe;

SMP_HOST_DEVICE int32_t smp_clahe_planes(const smp_clahe *p, const smp_view *in)
{
    return p->count.colours ? 1 : in->channels - in->alpha;
}

/* The counts, or the table, of a tile. */
SMP_HOST_DEVICE int64_t smp_clahe_slot(const smp_clahe *p, int plane, int ty, int tx)
{
    return (((int64_t)plane * p->tiles + ty) * p->tiles + tx) * p->count.bins;
}

/* Rows and columns of the mirrored picture, of which the first `in` are the picture. */
SMP_HOST_DEVICE int64_t smp_clahe_wide(const smp_clahe *p)
{
    return (int64_t)p->tile_width * p->tiles;
}
SMP_HOST_DEVICE int64_t smp_clahe_high(const smp_clahe *p)
{
    return (int64_t)p->tile_height * p->tiles;
}

/* The code value that counts of pixel x of a row in a plane, and its bin; `bins` where there is none. */
SMP_HOST_DEVICE float smp_clahe_counted(const smp_clahe *p, const smp_view *in, const void *row, int64_t x, int plane)
{
    const int channels = in->channels;
    if (!p->count.colours)
        return smp_load(row, x * channels + plane, in->format);
    float pixel[SMP_MAX_CHANNELS] = {0.f};
    for (int c = 0; c < p->count.colours; c++)
        pixel[c] = smp_load(row, x * channels + c, in->format);
    return smp_histogram_luma(pixel, &p->count);
}
SMP_HOST_DEVICE int32_t smp_clahe_bin(const smp_clahe *p, const smp_view *in, const void *row, int64_t x, int plane)
{
    return smp_histogram_bin(smp_clahe_counted(p, in, row, x, plane), in->white, &p->count);
}

/* Other formats than 8 bits: writes the value that counts of pixel (x, y) in a plane. */
SMP_HOST_DEVICE void smp_clahe_put_value(const smp_clahe *p, const smp_io *io, int64_t x, int64_t y, int plane)
{
    const smp_view *in = &io->in;
    const int64_t at = ((int64_t)plane * in->height + y) * in->width + x;
    const float v = smp_clahe_counted(p, in, smp_row(in, y), x, plane);
    if (in->white == 1.f)
        ((float *)io->result)[at] = smp_one_nan(v);
    else
        ((uint16_t *)io->result)[at] = smp_to_u16(v);
}

/* Finds the tile centres on both sides of a column (or row): the first of the two tiles, and the share of the
 * second. */
SMP_HOST_DEVICE int32_t smp_clahe_cell(int64_t x, float per_tile, float *share)
{
    const float at = (float)x * per_tile - 0.5f;
    const int32_t first = at < 0.f ? -1 : (int32_t)at; /* at >= -0.5 */
    *share = at - (float)first;
    return first;
}

SMP_HOST_DEVICE float smp_clahe_mix(float t11, float t12, float t21, float t22, float ax, float ay)
{
    const float bx = 1.f - ax, by = 1.f - ay;
    return (t11 * bx + t12 * ax) * by + (t21 * bx + t22 * ax) * ay;
}

/* The four tables of a pixel's plane. */
typedef struct smp_clahe_tables {
    const uint16_t *t11, *t12, *t21, *t22;
} smp_clahe_tables;
SMP_HOST_DEVICE smp_clahe_tables smp_clahe_tables_of(const smp_clahe *p, const void *table, int plane, int tx, int ty)
{
    const uint16_t *t = (const uint16_t *)table;
    const int last = p->tiles - 1;
    const int x1 = tx < 0 ? 0 : tx, x2 = tx + 1 < last ? tx + 1 : last;
    const int y1 = ty < 0 ? 0 : ty, y2 = ty + 1 < last ? ty + 1 : last;
    const smp_clahe_tables of = {t + smp_clahe_slot(p, plane, y1, x1), t + smp_clahe_slot(p, plane, y1, x2),
                                 t + smp_clahe_slot(p, plane, y2, x1), t + smp_clahe_slot(p, plane, y2, x2)};
    return of;
}

/* The code value that a mix means, and that of the middle of a bin. */
SMP_HOST_DEVICE float smp_clahe_value(float mix, float white)
{
    return white == 1.f ? mix / 65535.f : mix;
}
SMP_HOST_DEVICE float smp_clahe_middle(int32_t bin, float white)
{
    return white == 1.f ? ((float)bin + 0.5f) / 65536.f : (float)bin;
}

/* The result of channel c, whose sample is v, where its plane's bin is `bin` and its mix `mix`. */
SMP_HOST_DEVICE float smp_clahe_result(const smp_clahe *p, float v, int32_t bin, float mix, float white)
{
    const float value = smp_clahe_value(mix, white);
    if (bin == p->count.bins)
        return smp_one_nan(p->count.colours ? v : (float)NAN);
    return p->count.colours ? smp_one_nan(v + (value - smp_clahe_middle(bin, white))) : value;
}

/* Channel c of pixel (x, y): the definition. */
SMP_HOST_DEVICE float smp_clahe_sample(const smp_clahe *p, const smp_io *io, int64_t x, int64_t y, int c)
{
    const smp_view *in = &io->in;
    const void *row = smp_row(in, y);
    const float v = smp_load(row, x * in->channels + c, in->format);
    if (c >= in->channels - in->alpha)
        return v;
    const int plane = p->count.colours ? 0 : c;
    const int32_t bin = smp_clahe_bin(p, in, row, x, plane);
    float ax, ay, mix = 0.f;
    const int32_t tx = smp_clahe_cell(x, p->per_width, &ax), ty = smp_clahe_cell(y, p->per_height, &ay);
    if (bin < p->count.bins) {
        const smp_clahe_tables t = smp_clahe_tables_of(p, io->table, plane, tx, ty);
        mix = smp_clahe_mix((float)t.t11[bin], (float)t.t12[bin], (float)t.t21[bin], (float)t.t22[bin], ax, ay);
    }
    return smp_clahe_result(p, v, bin, mix, in->white);
}

/* CPU scratch: counting, four tables of bytes; applying, the shares of columns. */
static inline size_t smp_clahe_scratch(const smp_io *io, const void *params)
{
    (void)params;
    const size_t shares = (size_t)io->in.width * sizeof(float);
    const size_t tables = 4 * SMP_CLAHE_BYTES * sizeof(uint32_t);
    return shares > tables ? shares : tables;
}

SMP_CPU_DECLARE(clahe_count_naive);
SMP_CPU_DECLARE(clahe_count_tiled);
SMP_CPU_DECLARE(clahe_values);
SMP_CPU_DECLARE(clahe_naive);
SMP_CPU_DECLARE(clahe_tiled);
