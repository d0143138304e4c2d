/* drawn on CPUs.
 *   naive  sample by sample.
 *   tiled  what nothing is drawn on is one copy, the rest a block at a time. */
#include "elementwise/drawn.h"

#include "lib/pixel_pair.h"

SMP_CPU_KERNEL(drawn_naive)
{
    const smp_drawn *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++) {
            const uint32_t cover = smp_drawn_cover(p, io->table, x, y);
            const float alpha = smp_drawn_alpha(&io->in, y, x);
            for (int c = 0; c < channels; c++) {
                const float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                smp_put(io, smp_row(&io->out, y), x * channels + c,
                        cover ? smp_drawn_value(p, cover, v, alpha, c, &io->in) : v);
            }
        }
}

/* Pixels x .. end-1 of row y, of one block. */
SMP_INLINE void drawn_block(const smp_io *io, const smp_drawn *p, int64_t y, int64_t x, int64_t end)
{
    float block[SMP_BLOCK] __attribute__((aligned(64)));
    const int channels = io->in.channels;
    const int64_t in = channels * smp_sample_size(io->in.format), out = channels * smp_sample_size(io->out.format);
    smp_load_row(block, (const char *)smp_row(&io->in, y) + x * in, io->in.format, (end - x) * channels);
    for (int64_t i = x; i < end; i++) {
        const uint32_t cover = smp_drawn_cover(p, io->table, i, y);
        const float alpha = smp_drawn_alpha(&io->in, y, i);
        for (int c = 0; c < channels && cover; c++) {
            float *v = block + (i - x) * channels + c;
            *v = smp_drawn_value(p, cover, *v, alpha, c, &io->in);
        }
    }
    smp_store_row((char *)smp_row(&io->out, y) + x * out, io->out.format, block, (end - x) * channels, io->clipped);
}

SMP_CPU_KERNEL(drawn_tiled)
{
    const smp_drawn own = *(const smp_drawn *)params;
    const int64_t width = io->in.width;
    const int64_t from = own.x > 0 ? own.x : 0, to = own.x + own.width < width ? own.x + own.width : width;
    for (int64_t y = y0; y < y1; y++) {
        int64_t copied = 0;
        for (int64_t x = from, end; y >= own.y && y < own.y + own.height && x < to; x = end) {
            const int64_t dx = x - own.x, next = x + SMP_DRAWN_BLOCK - dx % SMP_DRAWN_BLOCK;
            end = next < to ? next : to;
            if (!smp_drawn_block(&own, io->table, dx, y - own.y))
                continue;
            smp_pair_copy(io, y, copied, x);
            drawn_block(io, &own, y, x, end);
            copied = end;
        }
        smp_pair_copy(io, y, copied, width);
    }
}
