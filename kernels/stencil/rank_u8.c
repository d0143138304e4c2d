/* Order statistics of squares of bytes, for any size at one price (Perreault and Hebert, 2007): a histogram for each
 * column of a tile moves down with the rows, and that of the window moves right by adding one column's and subtracting
 * another's. Counts of sixteen groups of values move with every step; those of the values of a group when the rank
 * falls into it. */
#include "stencil/rank.h"

enum { RANK_SMALL = 7 }; /* up to this side bit by bit is as quick */

/* Counts of 256 values, and of 16 groups of 16 of them. */
typedef struct counts {
    uint16_t value[16][16], group[16];
} counts;

SMP_INLINE void add(uint16_t *restrict to, const uint16_t *restrict more)
{
    for (int v = 0; v < 16; v++)
        to[v] = (uint16_t)(to[v] + more[v]);
}
SMP_INLINE void slide(uint16_t *restrict to, const uint16_t *restrict more, const uint16_t *restrict less)
{
    for (int v = 0; v < 16; v++)
        to[v] = (uint16_t)(to[v] + more[v] - less[v]);
}

/* A group of the window that begins at column x; *at: for which column it was made last. */
SMP_INLINE void follow(uint16_t *restrict to, const counts *columns, int group, int64_t *at, int64_t x, int64_t side)
{
    if (x - *at >= side / 2 || *at < 0) {
        memset(to, 0, 16 * sizeof *to);
        for (int64_t k = x; k < x + side; k++)
            add(to, columns[k].value[group]);
    } else
        for (int64_t k = *at; k < x; k++)
            slide(to, columns[k + side].value[group], columns[k].value[group]);
    *at = x;
}

/* Adds `by` to the count of the samples of picture row y, one a column. from .. to: pixels, which may lie outside. */
static void count_row(const smp_io *io, const smp_rank *r, counts *columns, int64_t from, int64_t to, int c, int64_t y,
                      int by, uint8_t outside)
{
    const smp_view *in = &io->in;
    const int64_t inside = smp_border(y, in->height, r->shape.edge);
    const uint8_t *row = inside < 0 ? NULL : smp_row(in, inside);
    for (int64_t x = from; x < to; x++) {
        const int64_t at = x >= 0 && x < in->width ? x : smp_border(x, in->width, r->shape.edge);
        const uint8_t v = row && at >= 0 ? row[at * in->channels + c] : outside;
        counts *column = &columns[x - from];
        column->value[v / 16][v % 16] = (uint16_t)(column->value[v / 16][v % 16] + by);
        column->group[v / 16] = (uint16_t)(column->group[v / 16] + by);
    }
}

int SMP_PASTE(rank_bytes, SMP_ISA)(const smp_io *io, const smp_rank *r, void *scratch, int64_t y0, int64_t y1)
{
    const int64_t channels = io->in.channels, reach = r->shape.rx, side = r->window.size, width = io->in.width;
    if (io->in.format != SMP_U8 || r->shape.shape != SMP_SHAPE_SQUARE || side <= RANK_SMALL)
        return 0;
    counts *columns = scratch, window;
    const uint8_t outside = smp_to_u8(smp_morph_outside(&r->shape, io->in.white));
    for (int64_t x0 = 0; x0 < width; x0 += SMP_RANK_COLUMNS)
        for (int c = 0; c < channels; c++) {
            const int64_t end = width - x0 < SMP_RANK_COLUMNS ? width : x0 + SMP_RANK_COLUMNS;
            const int64_t from = x0 - reach, to = end + reach;
            memset(columns, 0, (size_t)(to - from) * sizeof *columns);
            for (int64_t y = y0 - reach; y < y0 + reach; y++)
                count_row(io, r, columns, from, to, c, y, 1, outside);
            for (int64_t y = y0; y < y1; y++) {
                if (y > y0)
                    count_row(io, r, columns, from, to, c, y - reach - 1, -1, outside);
                count_row(io, r, columns, from, to, c, y + reach, 1, outside);
                int64_t at[16];
                memset(window.group, 0, sizeof window.group);
                for (int64_t k = 0; k < side; k++)
                    add(window.group, columns[k].group);
                for (int group = 0; group < 16; group++)
                    at[group] = -1;
                for (int64_t x = x0; x < end; x++) {
                    int32_t left = r->rank, group = 0, low = 0;
                    if (x > x0)
                        slide(window.group, columns[x - x0 + side - 1].group, columns[x - x0 - 1].group);
                    while (left >= window.group[group])
                        left -= window.group[group++];
                    follow(window.value[group], columns, group, &at[group], x - x0, side);
                    while (left >= window.value[group][low])
                        left -= window.value[group][low++];
                    const uint8_t v = (uint8_t)(16 * group + low);
                    if (io->out.format == SMP_U8)
                        ((uint8_t *)smp_row(&io->out, y))[x * channels + c] = v;
                    else
                        smp_store(smp_row(&io->out, y), x * channels + c, io->out.format, (float)v);
                }
            }
        }
    return 1;
}
