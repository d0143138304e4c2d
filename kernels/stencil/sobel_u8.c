/* sobel and laplacian from u8 to u8 in 16-bit integers: sobel x and y and both Laplacians of bytes lie within
 * -2040..2040, so integers are exact, and a vector holds twice as many. (The magnitude needs a square root and stays in
 * f32.) */
#include "stencil/sobel.h"
#include "stencil/stencil_u8.h"

/* Down the columns: what each output needs of them, at most two values. */
SMP_INLINE void columns(int16_t *restrict first, int16_t *restrict second, const uint8_t *restrict a,
                        const uint8_t *restrict b, const uint8_t *restrict c, int64_t n, int output)
{
    for (int64_t x = 0; x < n; x++) {
        if (output == SMP_SOBEL_X)
            first[x] = (int16_t)(a[x] + 2 * b[x] + c[x]);
        else if (output == SMP_SOBEL_Y)
            first[x] = (int16_t)(c[x] - a[x]);
        else if (output == SMP_LAPLACE_4)
            first[x] = (int16_t)(a[x] + c[x] - 4 * b[x]);
        else
            first[x] = (int16_t)(a[x] + b[x] + c[x]);
        if (output == SMP_LAPLACE_4 || output == SMP_LAPLACE_8)
            second[x] = b[x];
    }
}

/* Across: clamps results to bytes and returns how many it clamped. */
SMP_INLINE uint64_t across(uint8_t *restrict to, const int16_t *restrict first, const int16_t *restrict second,
                           int64_t step, int64_t n, int output)
{
    uint16_t clipped = 0; /* a tile has fewer samples than it can count */
    for (int64_t x = 0; x < n; x++) {
        const int16_t l = first[x], m = first[x + step], r = first[x + 2 * step];
        int16_t v;
        if (output == SMP_SOBEL_X)
            v = (int16_t)(r - l);
        else if (output == SMP_SOBEL_Y)
            v = (int16_t)(l + 2 * m + r);
        else if (output == SMP_LAPLACE_4)
            v = (int16_t)(second[x] + second[x + 2 * step] + m);
        else
            v = (int16_t)(l + m + r - 9 * second[x + step]);
        const int16_t low = v > 0 ? v : 0, code = low < 255 ? low : 255;
        clipped = (uint16_t)(clipped + (code != v));
        to[x] = (uint8_t)code;
    }
    return clipped;
}

SMP_INLINE uint64_t row_of(uint8_t *to, const uint8_t *const *rows, int16_t *first, int16_t *second, const smp_view *in,
                           const bytes_tile *t, int edge, int outside, int output)
{
    static const int column_of[] = {[SMP_SOBEL_X] = 4, [SMP_SOBEL_Y] = 0, [SMP_LAPLACE_4] = -2, [SMP_LAPLACE_8] = 3};
    const int64_t channels = in->channels, at = (t->a - t->first) * channels, n = (t->b - t->a) * channels;
    columns(first + at, second + at, rows[0], rows[1], rows[2], n, output);
    bytes_fold((uint16_t *)first, in, t, edge, (uint16_t)(int16_t)(column_of[output] * outside));
    if (output == SMP_LAPLACE_4 || output == SMP_LAPLACE_8)
        bytes_fold((uint16_t *)second, in, t, edge, (uint16_t)outside);
    return across(to, first, second, channels, t->samples, output);
}

/* Rows y0 .. y1-1. Returns 0, with nothing done, where integers do not give the definition's bytes. */
int SMP_PASTE(sobel_bytes, SMP_ISA)(const smp_io *io, const smp_sobel *g, void *scratch, int64_t y0, int64_t y1)
{
    const smp_view *in = &io->in;
    if (g->output == SMP_SOBEL_MAGNITUDE || in->alpha || !bytes_apply(io, g->edge, g->fill, 1))
        return 0;
    const size_t line = smp_bytes_line(2, in->channels);
    int16_t *first = scratch, *second = first + line;
    uint8_t *flat = (uint8_t *)(second + line);
    const int outside = (int)smp_outside(g->edge, g->fill, 255.f);
    uint64_t clipped = 0;
    memset(flat, outside, line);
    for (int64_t x0 = 0; x0 < in->width; x0 += smp_bytes_tile(in->channels)) {
        const bytes_tile t = bytes_tile_at(in, x0, 1, 1);
        for (int64_t y = y0; y < y1; y++) {
            uint8_t *to = (uint8_t *)smp_row(&io->out, y) + x0 * in->channels;
            const uint8_t *const rows[] = {bytes_row(in, &t, y - 1, g->edge, flat), bytes_row(in, &t, y, g->edge, flat),
                                           bytes_row(in, &t, y + 1, g->edge, flat)};
            bytes_prefetch(in, &t, y + 8, 0);
            bytes_prefetch(&io->out, &t, y + 4, 1);
            if (g->output == SMP_SOBEL_X)
                clipped += row_of(to, rows, first, second, in, &t, g->edge, outside, SMP_SOBEL_X);
            else if (g->output == SMP_SOBEL_Y)
                clipped += row_of(to, rows, first, second, in, &t, g->edge, outside, SMP_SOBEL_Y);
            else if (g->output == SMP_LAPLACE_4)
                clipped += row_of(to, rows, first, second, in, &t, g->edge, outside, SMP_LAPLACE_4);
            else
                clipped += row_of(to, rows, first, second, in, &t, g->edge, outside, SMP_LAPLACE_8);
        }
    }
    if (io->clipped)
        *io->clipped += clipped;
    return 1;
}
