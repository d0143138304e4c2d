/* text on CPUs.
 *   naive  sample by sample.
 *   tiled  rows are copied in vectors, and letters put where the box is. */
#include "elementwise/text.h"

#include "lib/elementwise.h"

SMP_CPU_KERNEL(text_naive)
{
    const smp_text *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++) {
            const int dot = smp_text_dot(p, io->table, x, y);
            const float alpha = smp_text_alpha(&io->in, y, x);
            for (int c = 0; c < channels; c++) {
                const float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                smp_put(io, smp_row(&io->out, y), x * channels + c,
                        dot ? smp_text_value(p, dot, v, alpha, c, &io->in) : v);
            }
        }
}

SMP_CPU_KERNEL(text_tiled)
{
    const smp_text own = *(const smp_text *)params;
    float block[SMP_BLOCK] __attribute__((aligned(64)));
    const int channels = io->in.channels;
    const int64_t in = channels * smp_sample_size(io->in.format), out = channels * smp_sample_size(io->out.format);
    const int64_t most = SMP_BLOCK / channels, width = io->in.width;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < width; x += most) {
            const int64_t n = width - x < most ? width - x : most;
            const int64_t from = own.x > x ? own.x : x, to = y < own.y || y >= own.y + own.height ? 0
                                                             : own.x + own.width < x + n          ? own.x + own.width
                                                                                                  : x + n;
            smp_load_row(block, (const char *)smp_row(&io->in, y) + x * in, io->in.format, n * channels);
            for (int64_t i = from; i < to; i++) {
                const int dot = smp_text_dot(&own, io->table, i, y);
                const float alpha = smp_text_alpha(&io->in, y, i);
                for (int c = 0; c < channels && dot; c++) {
                    float *v = block + (i - x) * channels + c;
                    *v = smp_text_value(&own, dot, *v, alpha, c, &io->in);
                }
            }
            smp_store_row((char *)smp_row(&io->out, y) + x * out, io->out.format, block, n * channels, io->clipped);
        }
}
