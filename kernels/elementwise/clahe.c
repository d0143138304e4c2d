/* clahe on the CPU.
 *   naive  pixel by pixel: four look-ups each.
 *   tiled  counting: tile by tile, bytes in four small tables in turn, so that equal neighbours do not wait for each
 *          other. Applying bytes: cell by cell, whose four tables become one of four bytes an entry: one look-up a
 *          pixel, in vectors. */
#include "elementwise/clahe.h"

#include <string.h>

#include "stencil/stencil.h"

/* Counts columns x0 .. x1-1 of the mirrored picture. */
SMP_INLINE void count_row(const smp_io *io, const smp_clahe *p, int64_t from, int64_t ey, int64_t x0, int64_t x1)
{
    const smp_view *in = &io->in;
    const void *row = smp_row(in, from);
    uint64_t *counts = io->result;
    const int ty = (int)(ey / p->tile_height), planes = smp_clahe_planes(p, in);
    for (int plane = 0; plane < planes; plane++)
        for (int64_t ex = x0; ex < x1; ex++) {
            const int64_t x = smp_border(ex, in->width, SMP_MIRROR);
            const int32_t bin = smp_clahe_bin(p, in, row, x, plane);
            if (bin < p->count.bins)
                counts[smp_clahe_slot(p, plane, ty, (int)(ex / p->tile_width)) + bin]++;
        }
}

/* Counts rows y0 .. y1-1 where they are mirrored below the picture. */
SMP_INLINE void count_below(const smp_io *io, const smp_clahe *p, int64_t y0, int64_t y1)
{
    for (int64_t ey = io->in.height; ey < smp_clahe_high(p); ey++) {
        const int64_t y = smp_border(ey, io->in.height, SMP_MIRROR);
        if (y >= y0 && y < y1)
            count_row(io, p, y, ey, 0, smp_clahe_wide(p));
    }
}

SMP_CPU_KERNEL(clahe_values)
{
    const smp_clahe *p = params;
    for (int plane = 0; plane < smp_clahe_planes(p, &io->in); plane++)
        for (int64_t y = y0; y < y1; y++) {
            uint16_t *to = (uint16_t *)io->result + ((int64_t)plane * io->in.height + y) * io->in.width;
            if (io->in.format == SMP_U16 && io->in.channels == 1)
                memcpy(to, smp_row(&io->in, y), (size_t)io->in.width * sizeof *to);
            else
                for (int64_t x = 0; x < io->in.width; x++)
                    smp_clahe_put_value(p, io, x, y, plane);
        }
}

SMP_CPU_KERNEL(clahe_count_naive)
{
    const smp_clahe *p = params;
    for (int64_t y = y0; y < y1; y++)
        count_row(io, p, y, y, 0, smp_clahe_wide(p));
    count_below(io, p, y0, y1);
}

/* Bytes x0 .. x1-1 of rows y0 .. y1-1, which lie in one tile, `step` bytes apart. */
SMP_INLINE void count_bytes(const smp_io *io, uint32_t (*restrict tables)[SMP_CLAHE_BYTES], uint64_t *restrict counts,
                            int64_t x0, int64_t x1, int64_t y0, int64_t y1, int plane, const int step)
{
    memset(tables, 0, 4 * sizeof *tables);
    for (int64_t y = y0; y < y1; y++) {
        const uint8_t *row = (const uint8_t *)smp_row(&io->in, y) + plane;
        int64_t x = x0;
        for (; x + 4 <= x1; x += 4)
            for (int k = 0; k < 4; k++)
                tables[k][row[(x + k) * step]]++;
        for (; x < x1; x++)
            tables[0][row[x * step]]++;
    }
    for (int i = 0; i < SMP_CLAHE_BYTES; i++)
        counts[i] += (uint64_t)tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
}

SMP_CPU_KERNEL(clahe_count_tiled)
{
    const smp_clahe *p = params;
    const smp_view *in = &io->in;
    const int64_t wide = smp_clahe_wide(p);
    if (in->format != SMP_U8 || p->count.colours) {
        for (int64_t y = y0; y < y1; y++)
            count_row(io, p, y, y, 0, wide);
        count_below(io, p, y0, y1);
        return;
    }
    for (int64_t y = y0, end; y < y1; y = end) {
        const int ty = (int)(y / p->tile_height);
        end = (int64_t)(ty + 1) * p->tile_height;
        end = end < y1 ? end : y1;
        for (int plane = 0; plane < smp_clahe_planes(p, in); plane++)
            for (int64_t x = 0, right; x < in->width; x = right) {
                const int tx = (int)(x / p->tile_width);
                uint64_t *counts = (uint64_t *)io->result + smp_clahe_slot(p, plane, ty, tx);
                right = (int64_t)(tx + 1) * p->tile_width;
                right = right < in->width ? right : in->width;
                if (in->channels == 1)
                    count_bytes(io, scratch, counts, x, right, y, end, plane, 1);
                else
                    count_bytes(io, scratch, counts, x, right, y, end, plane, in->channels);
            }
        for (int64_t k = y; k < end; k++)
            count_row(io, p, k, k, in->width, wide);
    }
    count_below(io, p, y0, y1);
}

/* ------------------------------------------------------------------------------------------------ applying */

SMP_CPU_KERNEL(clahe_naive)
{
    const smp_clahe *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++)
                stencil_put(io, y, x * channels + c, smp_clahe_sample(p, io, x, y, c));
}

enum { PIECE = 512 /* pixels at a time */ };

/* Mixes of n bytes `step` apart. entries: the four tables' values of a byte, in one word. */
SMP_INLINE void mix_bytes(float *restrict to, const uint32_t *restrict entries, const uint8_t *restrict from,
                          const float *restrict shares, const float ay, int64_t n, const int step)
{
    const float by = 1.f - ay;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t e = entries[from[i * step]];
        const float ax = shares[i], bx = 1.f - ax;
        const float top = (float)(int32_t)(e & 255) * bx + (float)(int32_t)(e >> 8 & 255) * ax;
        const float low = (float)(int32_t)(e >> 16 & 255) * bx + (float)(int32_t)(e >> 24) * ax;
        to[i] = top * by + low * ay;
    }
}

/* Bytes of the rows y .. end-1 and columns x .. right-1, which are one cell. */
static void cell_of_bytes(const smp_io *io, const smp_clahe *p, const float *shares, int64_t x, int64_t right,
                          int64_t y, int64_t end, int tx, int ty)
{
    const smp_view *in = &io->in;
    const int channels = in->channels, colours = channels - in->alpha;
    uint32_t entries[SMP_MAX_CHANNELS][SMP_CLAHE_BYTES];
    float mixed[PIECE], row[PIECE * SMP_MAX_CHANNELS];
    for (int c = 0; c < colours; c++) {
        const smp_clahe_tables t = smp_clahe_tables_of(p, io->table, c, tx, ty);
        for (int i = 0; i < SMP_CLAHE_BYTES; i++)
            entries[c][i] = t.t11[i] | (uint32_t)t.t12[i] << 8 | (uint32_t)t.t21[i] << 16 | (uint32_t)t.t22[i] << 24;
    }
    for (; y < end; y++) {
        float ay;
        smp_clahe_cell(y, p->per_height, &ay);
        for (int64_t at = x; at < right; at += PIECE) {
            const int64_t n = right - at < PIECE ? right - at : PIECE;
            const uint8_t *from = (const uint8_t *)smp_row(in, y) + at * channels;
            char *to = (char *)smp_row(&io->out, y) + at * channels * smp_sample_size(io->out.format);
            if (channels == 1)
                mix_bytes(row, entries[0], from, shares + at, ay, n, 1);
            else
                for (int c = 0; c < channels; c++) {
                    if (c < colours)
                        mix_bytes(mixed, entries[c], from + c, shares + at, ay, n, channels);
                    for (int64_t i = 0; i < n; i++)
                        row[i * channels + c] = c < colours ? mixed[i] : (float)from[i * channels + c];
                }
            if (io->out.format == SMP_U8)
                stencil_store_inside(to, SMP_U8, row, n * channels);
            else
                smp_store_row(to, io->out.format, row, n * channels, io->clipped);
        }
    }
}

/* Codes of 16 bits in one cell: they are their own bins. */
static void cell_of_codes(const smp_io *io, const smp_clahe *p, const float *shares, int64_t x, int64_t right,
                          int64_t y, int64_t end, int tx, int ty)
{
    const smp_clahe_tables t = smp_clahe_tables_of(p, io->table, 0, tx, ty);
    float row[PIECE];
    for (; y < end; y++) {
        float ay;
        smp_clahe_cell(y, p->per_height, &ay);
        for (int64_t at = x; at < right; at += PIECE) {
            const int64_t n = right - at < PIECE ? right - at : PIECE;
            const uint16_t *restrict from = (const uint16_t *)smp_row(&io->in, y) + at;
            char *to = (char *)smp_row(&io->out, y) + at * smp_sample_size(io->out.format);
            for (int64_t i = 0; i < n; i++)
                row[i] = smp_clahe_mix((float)t.t11[from[i]], (float)t.t12[from[i]], (float)t.t21[from[i]],
                                       (float)t.t22[from[i]], shares[at + i], ay);
            smp_store_row(to, io->out.format, row, n, io->clipped);
        }
    }
}

/* Other formats and luma: the same rows and columns, bins first. */
static void cell_of_others(const smp_io *io, const smp_clahe *p, const float *shares, int64_t x, int64_t right,
                           int64_t y, int64_t end, int tx, int ty)
{
    const smp_view *in = &io->in;
    const int channels = in->channels, colours = channels - in->alpha, bins = p->count.bins;
    float v[PIECE * SMP_MAX_CHANNELS];
    int32_t bin[PIECE];
    float mix[PIECE];
    for (; y < end; y++) {
        float ay;
        smp_clahe_cell(y, p->per_height, &ay);
        for (int64_t at = x; at < right; at += PIECE) {
            const int64_t n = right - at < PIECE ? right - at : PIECE;
            const char *row = smp_row(in, y);
            char *to = (char *)smp_row(&io->out, y) + at * channels * smp_sample_size(io->out.format);
            smp_load_row(v, row + at * channels * smp_sample_size(in->format), in->format, n * channels);
            for (int plane = 0; plane < (p->count.colours ? 1 : colours); plane++) {
                const smp_clahe_tables t = smp_clahe_tables_of(p, io->table, plane, tx, ty);
                for (int64_t i = 0; i < n; i++)
                    bin[i] = p->count.colours ? smp_histogram_bin(smp_histogram_luma(v + i * channels, &p->count),
                                                                  in->white, &p->count)
                                              : smp_histogram_bin(v[i * channels + plane], in->white, &p->count);
                for (int64_t i = 0; i < n; i++) {
                    const int32_t b = bin[i] < bins ? bin[i] : 0;
                    mix[i] = smp_clahe_mix((float)t.t11[b], (float)t.t12[b], (float)t.t21[b], (float)t.t22[b],
                                           shares[at + i], ay);
                }
                for (int c = p->count.colours ? 0 : plane; c < (p->count.colours ? colours : plane + 1); c++)
                    for (int64_t i = 0; i < n; i++)
                        v[i * channels + c] = smp_clahe_result(p, v[i * channels + c], bin[i], mix[i], in->white);
            }
            for (int64_t i = colours; i < n * channels && in->alpha; i += channels)
                v[i] = smp_one_nan(v[i]);
            smp_store_row(to, io->out.format, v, n * channels, io->clipped);
        }
    }
}

SMP_CPU_KERNEL(clahe_tiled)
{
    const smp_clahe *p = params;
    float *shares = scratch;
    const int bytes = io->in.format == SMP_U8 && !p->count.colours;
    const int codes = io->in.format == SMP_U16 && io->in.channels == 1;
    for (int64_t x = 0; x < io->in.width; x++)
        smp_clahe_cell(x, p->per_width, &shares[x]);
    for (int cy = 0; cy <= p->tiles; cy++) {
        const int64_t y = p->y[cy] > y0 ? p->y[cy] : y0, end = p->y[cy + 1] < y1 ? p->y[cy + 1] : y1;
        for (int cx = 0; cx <= p->tiles && y < end; cx++)
            if (p->x[cx] < p->x[cx + 1]) {
                if (bytes)
                    cell_of_bytes(io, p, shares, p->x[cx], p->x[cx + 1], y, end, cx - 1, cy - 1);
                else if (codes)
                    cell_of_codes(io, p, shares, p->x[cx], p->x[cx + 1], y, end, cx - 1, cy - 1);
                else
                    cell_of_others(io, p, shares, p->x[cx], p->x[cx + 1], y, end, cx - 1, cy - 1);
            }
    }
}
