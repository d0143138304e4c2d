/* gain and offset on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  packed frames as one long row, in blocks in which channels repeat: one vectorised loop for any number of
 *          channels. Memory bandwidth is the limit. */
#include "audio/gain_offset.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(gain_offset_naive)
{
    (void)scratch;
    const smp_gain_offset *p = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                smp_put(io, smp_row(&io->out, y), x * channels + c,
                        smp_gain_offset_sample(v, p->factor[c], p->offset[c]));
            }
}

enum { SPAN = 16 /* frames: a whole number of vectors for any number of channels */ };

SMP_INLINE void gain_offset_spans(float *restrict to, const float *restrict from, int64_t n,
                                  const float *restrict factor, const float *restrict offset, const int span)
{
    int64_t i = 0;
    for (; i + span <= n; i += span)
        for (int k = 0; k < span; k++)
            to[i + k] = smp_gain_offset_sample(from[i + k], factor[k], offset[k]);
    for (int k = 0; i + k < n; k++)
        to[i + k] = smp_gain_offset_sample(from[i + k], factor[k], offset[k]);
}

SMP_CPU_KERNEL(gain_offset_tiled)
{
    (void)scratch;
    const smp_gain_offset *p = params;
    const int channels = io->in.channels;
    float factor[SPAN * SMP_MAX_CHANNELS], offset[SPAN * SMP_MAX_CHANNELS];
    for (int i = 0; i < SPAN * channels; i++) {
        factor[i] = p->factor[i % channels];
        offset[i] = p->offset[i % channels];
    }
    const int64_t rows = smp_joined_rows(io, y0, y1), n = io->in.width * channels * rows;
    for (int64_t y = y0; y < y1; y += rows) {
        const float *from = smp_row(&io->in, y);
        float *to = smp_row(&io->out, y);
        switch (channels) {
        case 1:
            gain_offset_spans(to, from, n, factor, offset, SPAN);
            break;
        case 2:
            gain_offset_spans(to, from, n, factor, offset, 2 * SPAN);
            break;
        default:
            gain_offset_spans(to, from, n, factor, offset, channels * SPAN);
            break;
        }
    }
}
