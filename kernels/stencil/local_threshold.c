/* local_threshold on the CPU.
 *   naive  a column of squares after the other, with the sums of its rows: the definition.
 *   tiled  8 and 16 bits: sums of columns move down row by row, sums of squares move along them: time does not depend
 *          on the size. Only the verdict is double, in vectors. Floats, whose sums have an order: row sums of a column
 *          tile in a ring, added down the columns, a vector at a time. */
#include "stencil/local_threshold.h"

#include <string.h>

SMP_CPU_KERNEL(local_threshold_naive)
{
    const int channels = io->in.channels;
    smp_local_walk walk;
    for (int64_t i = 0; i < io->in.width * channels; i++) {
        smp_local_start(&walk, params, &io->in, i / channels, y0, (int)(i % channels));
        for (int64_t y = y0; y < y1; y++)
            stencil_put(io, y, i, smp_local_next(&walk, params, &io->in, y));
    }
}

/* ------------------------------------------------------------------------------------------------ 8 and 16 bits */

typedef struct codes_walk {
    const smp_io *io;
    const smp_local_threshold *p;
    uint16_t *line, *old; /* codes of a row and its borders: enters, leaves */
    uint32_t *sums;       /* of columns */
    uint64_t *squares;
    double *sum, *difference; /* of squares */
    int64_t reach, n;         /* samples of a border; of a line */
    uint16_t beyond;
} codes_walk;

SMP_INLINE void codes_of(uint16_t *restrict to, const void *restrict row, int format, float white, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint16_t)smp_local_code(row, i, format, white);
}

/* The codes of picture row y, which may lie outside, with borders. */
static void load_line(const codes_walk *w, uint16_t *to, int64_t y)
{
    const smp_view *in = &w->io->in;
    const int64_t channels = in->channels, inside = smp_border(y, in->height, w->p->edge), width = in->width;
    const int64_t r = w->p->size / 2;
    if (inside < 0) {
        for (int64_t i = 0; i < w->n; i++)
            to[i] = w->beyond;
        return;
    }
    const void *row = smp_row(in, inside);
    uint16_t *middle = to + w->reach;
    if (in->format == SMP_U8)
        codes_of(middle, row, SMP_U8, in->white, width * channels);
    else if (in->format == SMP_U16)
        codes_of(middle, row, SMP_U16, in->white, width * channels);
    else
        codes_of(middle, row, SMP_F32, in->white, width * channels);
    for (int side = 0; side < 2; side++)
        for (int64_t x = side ? width : -r; x < (side ? width + r : 0); x++) {
            const int64_t from = smp_border(x, width, w->p->edge);
            for (int64_t c = 0; c < channels; c++)
                middle[x * channels + c] = from < 0 ? w->beyond : middle[from * channels + c];
        }
}

SMP_INLINE void add_line(uint32_t *restrict sums, uint64_t *restrict squares, const uint16_t *restrict v, int64_t n,
                         const int spread)
{
    for (int64_t i = 0; i < n; i++)
        sums[i] += v[i];
    for (int64_t i = 0; i < n && spread; i++)
        squares[i] += (uint32_t)v[i] * (uint32_t)v[i];
}

/* One row enters, one leaves; sums wrap round and come out right. */
SMP_INLINE void move_line(uint32_t *restrict sums, uint64_t *restrict squares, const uint16_t *restrict v,
                          const uint16_t *restrict old, int64_t n, const int spread)
{
    for (int64_t i = 0; i < n; i++)
        sums[i] += (uint32_t)v[i] - (uint32_t)old[i];
    for (int64_t i = 0; i < n && spread; i++)
        squares[i] += (uint64_t)((uint32_t)v[i] * (uint32_t)v[i]) - (uint64_t)((uint32_t)old[i] * (uint32_t)old[i]);
}

/* Sums of squares from sums of columns, along the row. */
SMP_INLINE void across(const codes_walk *w, const int64_t channels, const int spread)
{
    const int64_t size = w->p->size, n = w->io->in.width * channels, span = size * channels;
    const uint64_t count = (uint64_t)(size * size);
    for (int64_t c = 0; c < channels; c++) {
        uint64_t s = 0, q = 0;
        for (int64_t k = 0; k < size - 1; k++) {
            s += w->sums[c + k * channels];
            q += spread ? w->squares[c + k * channels] : 0;
        }
        for (int64_t i = c; i < n; i += channels) {
            s += w->sums[i + span - channels];
            w->sum[i] = (double)(int64_t)s;
            s -= w->sums[i];
            if (spread) {
                const uint64_t all = s + w->sums[i];
                q += w->squares[i + span - channels];
                w->difference[i] = smp_local_difference(count, all, q);
                q -= w->squares[i];
            }
        }
    }
}

SMP_INLINE void levels_of(double *restrict sum, const double *restrict difference, int64_t n,
                          const smp_local_threshold *p, const int method)
{
    const double k = p->k, r = p->r, offset = p->offset, count = (double)p->size * (double)p->size;
    for (int64_t i = 0; i < n; i++)
        sum[i] = smp_local_level(method, k, r, offset, count, sum[i],
                                 method == SMP_LOCAL_SAUVOLA || method == SMP_LOCAL_NIBLACK ? difference[i] : 0.);
}

static void all_levels(double *sum, const double *difference, int64_t n, const smp_local_threshold *p)
{
    if (p->method == SMP_LOCAL_SAUVOLA)
        levels_of(sum, difference, n, p, SMP_LOCAL_SAUVOLA);
    else if (p->method == SMP_LOCAL_NIBLACK)
        levels_of(sum, difference, n, p, SMP_LOCAL_NIBLACK);
    else if (p->method == SMP_LOCAL_BRADLEY)
        levels_of(sum, difference, n, p, SMP_LOCAL_BRADLEY);
    else
        levels_of(sum, difference, n, p, SMP_LOCAL_MEAN);
}

/* Stores samples first .. first+n-1 of row y by their levels. */
static void store_verdicts(const smp_io *io, int64_t y, int64_t first, int64_t n, const double *restrict levels)
{
    const smp_view *in = &io->in;
    const void *row = smp_row(in, y);
    if (in->format == SMP_U8 && io->out.format == SMP_U8 && !in->alpha) {
        const uint8_t *restrict from = (const uint8_t *)row + first;
        uint8_t *restrict to = (uint8_t *)smp_row(&io->out, y) + first;
        for (int64_t i = 0; i < n; i++)
            to[i] = (double)from[i] >= levels[i] ? 255 : 0;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = first + i;
        const int alpha = in->alpha && at % in->channels == in->channels - 1;
        stencil_put(io, y, at,
                    alpha ? smp_load(row, at, in->format)
                          : smp_local_verdict(row, at, in->format, in->white, levels[i]));
    }
}

static void codes_rows(const codes_walk *w, int64_t y0, int64_t y1)
{
    const int64_t channels = w->io->in.channels, r = w->p->size / 2;
    const int spread = smp_local_spread(w->p);
    memset(w->sums, 0, (size_t)w->n * sizeof *w->sums);
    memset(w->squares, 0, (size_t)w->n * sizeof *w->squares);
    for (int64_t y = y0 - r; y < y0 + r; y++) {
        load_line(w, w->line, y);
        add_line(w->sums, w->squares, w->line, w->n, spread);
    }
    for (int64_t y = y0; y < y1; y++) {
        load_line(w, w->line, y + r);
        if (y == y0) {
            add_line(w->sums, w->squares, w->line, w->n, spread);
        } else {
            load_line(w, w->old, y - r - 1);
            move_line(w->sums, w->squares, w->line, w->old, w->n, spread);
        }
        if (channels == 1 && spread)
            across(w, 1, 1);
        else if (channels == 1)
            across(w, 1, 0);
        else
            across(w, channels, spread);
        all_levels(w->sum, w->difference, w->io->in.width * channels, w->p);
        store_verdicts(w->io, y, 0, w->io->in.width * channels, w->sum);
    }
}

/* ------------------------------------------------------------------------------------------------ floats */

/* Sums of n rows of `lanes` doubles, `step` apart, in box's order. part: SMP_LOCAL_LEVELS rows. */
SMP_INLINE void in_order(double *restrict to, const double *rows, int64_t step, int64_t lanes, int32_t n,
                         double (*restrict part)[SMP_LOCAL_TILE])
{
    int some = 0;
    for (int32_t length = 1; length <= n; length *= 2) {
        int level = 0;
        for (int32_t i = 0; n & length && i < length; i++, rows += step) {
            level = 0;
            while (i >> level & 1)
                level++;
            double *restrict kept = part[level];
            memcpy(kept, rows, (size_t)lanes * sizeof *kept);
            for (int k = 0; k < level; k++)
                for (int64_t x = 0; x < lanes; x++)
                    kept[x] = part[k][x] + kept[x];
        }
        if (!(n & length))
            continue;
        for (int64_t x = 0; x < lanes && some; x++)
            to[x] = to[x] + part[level][x];
        if (!some)
            memcpy(to, part[level], (size_t)lanes * sizeof *to);
        some = 1;
    }
}

/* A tile's columns: row sums of `size` rows in a ring, oldest first at `rows`. */
static void floats_tile(const smp_io *io, const smp_local_threshold *p, double *memory, int64_t first, int64_t lanes,
                        int64_t y0, int64_t y1)
{
    const smp_view *in = &io->in;
    const int64_t channels = in->channels, size = p->size, r = size / 2, halo = r * channels;
    const float outside = smp_outside(p->edge, p->fill, in->white);
    const double count = (double)size * (double)size;
    double(*part)[SMP_LOCAL_TILE] = (double(*)[SMP_LOCAL_TILE])(void *)memory;
    double *rows[2], *line[2], *sum[2];
    memory += SMP_LOCAL_LEVELS * SMP_LOCAL_TILE;
    for (int k = 0; k < 2; k++) {
        sum[k] = memory;
        rows[k] = memory + SMP_LOCAL_TILE;
        line[k] = rows[k] + size * SMP_LOCAL_TILE;
        memory = line[k] + SMP_LOCAL_TILE + 2 * halo + channels;
    }
    for (int64_t y = y0 - r; y < y1 + r; y++) {
        for (int k = 0; k < 2 && y > y0 + r; k++) /* the oldest row leaves */
            memmove(rows[k], rows[k] + SMP_LOCAL_TILE, (size_t)((size - 1) * SMP_LOCAL_TILE) * sizeof(double));
        const int64_t at = y > y0 + r ? size - 1 : y - (y0 - r);
        for (int64_t i = 0; i < lanes + 2 * halo; i++) {
            const int64_t s = first - halo + i, x = s >= 0 ? s / channels : -((channels - 1 - s) / channels);
            line[0][i] = (double)smp_at_border(in, x, y, (int)(s - x * channels), p->edge, outside);
            line[1][i] = line[0][i] * line[0][i];
        }
        for (int k = 0; k < 2; k++)
            in_order(rows[k] + at * SMP_LOCAL_TILE, line[k], channels, lanes, (int32_t)size, part);
        if (y < y0 + r)
            continue;
        for (int k = 0; k < 2; k++)
            in_order(sum[k], rows[k], SMP_LOCAL_TILE, lanes, (int32_t)size, part);
        for (int64_t i = 0; i < lanes; i++)
            sum[1][i] = count * sum[1][i] - sum[0][i] * sum[0][i];
        all_levels(sum[0], sum[1], lanes, p);
        store_verdicts(io, y - r, first, lanes, sum[0]);
    }
}

SMP_CPU_KERNEL(local_threshold_tiled)
{
    const smp_local_threshold *p = params;
    const smp_view *in = &io->in;
    const int64_t channels = in->channels, n = in->width * channels;
    if (in->white == 1.f) {
        for (int64_t first = 0; first < n; first += SMP_LOCAL_TILE)
            floats_tile(io, p, scratch, first, n - first < SMP_LOCAL_TILE ? n - first : SMP_LOCAL_TILE, y0, y1);
        return;
    }
    codes_walk w = {.io = io, .p = p, .reach = p->size / 2 * channels};
    const int64_t line = (in->width + p->size) * channels + 8;
    w.n = n + 2 * w.reach;
    w.beyond = (uint16_t)smp_round_to(smp_outside(p->edge, p->fill, in->white), in->white);
    w.squares = scratch;
    w.sum = (double *)(w.squares + line);
    w.difference = w.sum + line;
    w.sums = (uint32_t *)(void *)(w.difference + line);
    w.line = (uint16_t *)(w.sums + line);
    w.old = w.line + line;
    codes_rows(&w, y0, y1);
}
