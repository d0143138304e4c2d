/* Neighbourhood kernels from 8-bit to 8-bit pictures in 16-bit integers, where the definition's sums are exact: the
 * same bytes at twice the lanes. Column sums are made for the columns of a tile that exist, straight from picture rows,
 * and then copied to where the border puts them. Included by kernel files only. */
#pragma once

#include "stencil/stencil.h"

enum { BYTES_TILE = 1536, BYTES_LANES = 64 }; /* samples across a tile; loops may run on to a multiple of the latter */

SMP_HOST_DEVICE int64_t smp_bytes_tile(int channels)
{
    return BYTES_TILE / channels;
}

/* Elements in a line of a tile with `reach` pixels beside it. */
SMP_HOST_DEVICE size_t smp_bytes_line(int64_t reach, int channels)
{
    return (size_t)(BYTES_TILE + reach * channels + 128) & ~(size_t)63;
}

#ifdef SMP_ISA
/* True when integers give what the definition gives: the value outside must be one, and columns that the border repeats
 * must belong to the tile (reach: at most as many pixels as a tile has). */
SMP_INLINE int bytes_apply(const smp_io *io, int edge, float fill, int64_t reach)
{
    const float outside = smp_outside(edge, fill, 255.f);
    return io->in.format == SMP_U8 && io->out.format == SMP_U8 && outside == (float)(int)outside &&
           reach <= smp_bytes_tile(io->in.channels) &&
           (edge != SMP_WRAP || io->in.width <= smp_bytes_tile(io->in.channels));
}

typedef struct bytes_tile {
    int64_t x0, samples; /* first pixel and samples of the output */
    int64_t first, last; /* pixels wanted: first .. last-1 */
    int64_t a, b;        /* of these, the ones that exist */
} bytes_tile;

SMP_INLINE bytes_tile bytes_tile_at(const smp_view *in, int64_t x0, int64_t left, int64_t right)
{
    const int64_t across = smp_bytes_tile(in->channels), end = x0 + across < in->width ? x0 + across : in->width;
    bytes_tile t = {.x0 = x0, .samples = (end - x0) * in->channels, .first = x0 - left, .last = end + right};
    t.a = t.first < 0 ? 0 : t.first;
    t.b = t.last > in->width ? in->width : t.last;
    return t;
}

/* Row y at pixel t->a, or `outside` (a row of constant samples). */
SMP_INLINE const uint8_t *bytes_row(const smp_view *in, const bytes_tile *t, int64_t y, int edge,
                                    const uint8_t *outside)
{
    y = smp_border(y, in->height, edge);
    return y < 0 ? outside : (const uint8_t *)smp_row(in, y) + t->a * in->channels;
}

/* Fills the columns that do not exist; column x is at (x - first) * channels. */
SMP_INLINE void bytes_fold(uint16_t *column, const smp_view *in, const bytes_tile *t, int edge, uint16_t outside)
{
    const int64_t channels = in->channels;
    for (int64_t x = t->first; x < t->last; x++) {
        if (x == t->a)
            x = t->b;
        if (x >= t->last)
            break;
        const int64_t from = smp_border(x, in->width, edge);
        for (int64_t c = 0; c < channels; c++)
            column[(x - t->first) * channels + c] = from < 0 ? outside : column[(from - t->first) * channels + c];
    }
}

/* Asks for a row that will be read (or written) a few rows later. */
SMP_INLINE void bytes_prefetch(const smp_view *v, const bytes_tile *t, int64_t y, int write)
{
    if (y >= v->y0 && y < v->y0 + v->rows)
        stencil_prefetch((const uint8_t *)smp_row(v, y) + t->x0 * v->channels, t->samples, write);
}
#endif
