/* threshold on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  in blocks: one vectorised comparison a sample; the storage on either side is
 *          converted apart. */
#include "elementwise/threshold.h"

#include "lib/elementwise.h"

SMP_CPU_KERNEL(threshold_naive)
{
    (void)scratch;
    const smp_threshold_params *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                if (!(io->in.alpha && c == channels - 1))
                    v = smp_threshold_sample(v, p->level[c], p->white);
                smp_put(io, smp_row(&io->out, y), x * channels + c, v);
            }
}

SMP_INLINE void threshold_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                                int64_t pixels)
{
    const smp_threshold_params *p = params;
    const int channels = io->in.channels, colours = channels - io->in.alpha;
    const int64_t n = pixels * channels;
    const float white = p->white;
    if (channels == 1) {
        const float level = p->level[0];
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_threshold_sample(from[i], level, white);
        return;
    }
    if (channels == 3 && colours == 3) {
        const float level[3] = {p->level[0], p->level[1], p->level[2]};
        for (int64_t i = 0; i < n; i += 3)
            for (int c = 0; c < 3; c++)
                to[i + c] = smp_threshold_sample(from[i + c], level[c], white);
        return;
    }
    for (int c = 0; c < channels; c++)
        for (int64_t i = c; i < n; i += channels)
            to[i] = c < colours ? smp_threshold_sample(from[i], p->level[c], white) : from[i];
}

SMP_CPU_KERNEL(threshold_tiled)
{
    (void)scratch;
    smp_point_rows(io, params, y0, y1, threshold_block);
}
