/* ordered on CPUs.
 *   naive  sample by sample.
 *   tiled  blocks of a row, whose thresholds and levels are made in vectors. */
#include "elementwise/ordered.h"

#include "lib/elementwise.h"

SMP_CPU_KERNEL(ordered_naive)
{
    const smp_ordered *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                const float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                const int passes = io->in.alpha && c == channels - 1;
                smp_put(io, smp_row(&io->out, y), x * channels + c, passes ? v : smp_ordered_sample(v, x, y, p));
            }
}

/* Every `step`-th of the samples, of n pixels from column x on. */
SMP_INLINE void channel_of(float *restrict row, int64_t n, const int64_t step, int64_t x, int64_t y,
                           const smp_ordered *p)
{
    for (int64_t i = 0; i < n; i++)
        row[i * step] = smp_ordered_sample(row[i * step], x + i, y, p);
}

SMP_CPU_KERNEL(ordered_tiled)
{
    float block[SMP_BLOCK] __attribute__((aligned(64)));
    const smp_ordered own = *(const smp_ordered *)params;
    const int channels = io->in.channels, touched = channels - (io->in.alpha != 0);
    const int64_t in = channels * smp_sample_size(io->in.format), out = channels * smp_sample_size(io->out.format);
    const int64_t most = SMP_BLOCK / channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x += most) {
            const int64_t n = io->in.width - x < most ? io->in.width - x : most;
            smp_load_row(block, (const char *)smp_row(&io->in, y) + x * in, io->in.format, n * channels);
            for (int c = 0; c < touched; c++)
                if (channels == 1)
                    channel_of(block, n, 1, x, y, &own);
                else
                    channel_of(block + c, n, channels, x, y, &own);
            smp_store_row((char *)smp_row(&io->out, y) + x * out, io->out.format, block, n * channels, io->clipped);
        }
}
