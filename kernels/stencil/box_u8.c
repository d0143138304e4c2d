/* box from u8 to u8: sums of integers are exact, so any order gives the definition's value. Column sums run down the
 * picture (one row added, one subtracted, for any size). Row windows are added one by one up to size 7 and double
 * above. Up to size SMP_BOX_NARROW all sums fit 16 bits and the mean is an integer division; above, row windows are
 * f32. */
#include "lib/constants.h"
#include "stencil/box.h"
#include "stencil/stencil_u8.h"

/* Means of sums; squares of even sizes have ties. */
SMP_INLINE void box_mean_bytes(uint8_t *restrict to, const uint16_t *restrict sum, int64_t n, smp_box_divisor by,
                               int even)
{
    for (int64_t x = 0; x < n; x++)
        to[x] = smp_box_mean_u16(sum[x], by, even);
}

/* Means directly from column sums: in small boxes, `size` loads cost less than passes over lines. size: a constant
 * after inlining. */
SMP_INLINE void box_small(uint8_t *restrict to, const uint16_t *restrict column, int64_t channels, int64_t n,
                          smp_box_divisor by, const int size)
{
    for (int64_t x = 0; x < n; x++) {
        uint16_t sum = column[x];
#pragma GCC unroll 8
        for (int k = 1; k < size; k++)
            sum = (uint16_t)(sum + column[x + k * channels]);
        to[x] = smp_box_mean_u16(sum, by, size % 2 == 0);
    }
}

SMP_BOX_ACROSS(across_u16, uint16_t)
SMP_BOX_ACROSS(across_f32, float)

/* Column sums of output row y: from scratch, or from those of row y - 1. */
SMP_INLINE void column_sums(uint16_t *restrict column, const smp_view *in, const smp_box *box, const bytes_tile *t,
                            int64_t y, int start, const uint8_t *flat)
{
    const int64_t n = (t->b - t->a) * in->channels, top = y - smp_box_before(box), end = y + smp_box_after(box);
    if (start) {
        memset(column, 0, (size_t)n * sizeof *column);
        for (int64_t row = top; row <= end; row++) {
            const uint8_t *restrict p = bytes_row(in, t, row, box->edge, flat);
            for (int64_t x = 0; x < n; x++)
                column[x] = (uint16_t)(column[x] + p[x]);
        }
    } else {
        const uint8_t *restrict p = bytes_row(in, t, end, box->edge, flat);
        const uint8_t *restrict q = bytes_row(in, t, top - 1, box->edge, flat);
        for (int64_t x = 0; x < n; x++)
            column[x] = (uint16_t)(column[x] + p[x] - q[x]);
    }
}

/* Rows y0 .. y1-1. Returns 0, with nothing done, where integers do not give the definition's bytes. */
int SMP_PASTE(box_bytes, SMP_ISA)(const smp_io *io, const smp_box *box, void *scratch, int64_t y0, int64_t y1)
{
    const smp_view *in = &io->in;
    const int64_t channels = in->channels, size = box->size;
    if (size > SMP_BOX_WIDE || !bytes_apply(io, box->edge, box->fill, size))
        return 0;
    const size_t line = smp_bytes_line(size - 1, in->channels);
    float *f32 = scratch;
    uint16_t *u16 = scratch, *column = (uint16_t *)(void *)(f32 + 3 * line);
    uint8_t *flat = (uint8_t *)(column + line);
    const uint8_t outside = (uint8_t)smp_outside(box->edge, box->fill, 255.f);
    const smp_box_divisor by = smp_box_divide_by((int)(size <= SMP_BOX_NARROW ? size * size : 1));
    memset(flat, outside, line);
    for (int64_t x0 = 0; x0 < in->width; x0 += smp_bytes_tile(in->channels)) {
        const bytes_tile t = bytes_tile_at(in, x0, smp_box_before(box), smp_box_after(box));
        const int64_t wanted = (t.last - t.first) * channels;
        for (int64_t y = y0; y < y1; y++) {
            uint8_t *to = (uint8_t *)smp_row(&io->out, y) + x0 * channels;
            bytes_prefetch(in, &t, y + smp_box_after(box) + 8, 0);
            bytes_prefetch(&io->out, &t, y + 4, 1);
            column_sums(column + (t.a - t.first) * channels, in, box, &t, y, y == y0, flat);
            bytes_fold(column, in, &t, box->edge, (uint16_t)(size * outside));
            if (size > 1 && size < 8) {
                SMP_BY_COUNT(size, box_small(to, column, channels, t.samples, by, N))
                continue;
            }
            if (size <= SMP_BOX_NARROW) {
                memcpy(u16, column, (size_t)wanted * sizeof *u16);
                const uint16_t *sum = across_u16(u16, u16 + line, u16 + 2 * line, box->size, channels, t.samples);
                if (size % 2)
                    box_mean_bytes(to, sum, t.samples, by, 0);
                else
                    box_mean_bytes(to, sum, t.samples, by, 1);
                continue;
            }
            for (int64_t x = 0; x < wanted; x++)
                f32[x] = (float)column[x];
            const float *sum = across_f32(f32, f32 + line, f32 + 2 * line, box->size, channels, t.samples);
            float *mean = f32 + 2 * line;
            for (int64_t x = 0; x < t.samples; x++)
                mean[x] = smp_box_mean(sum[x], box->size);
            stencil_store_inside(to, SMP_U8, mean, t.samples);
        }
    }
    return 1;
}
