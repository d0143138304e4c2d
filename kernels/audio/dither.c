/* dither on the CPU.
 *   naive  sample by sample.
 *   tiled  frames of one channel in vectors. */
#include "audio/dither.h"

SMP_CPU_KERNEL(dither_naive)
{
    for (int64_t y = y0; y < y1; y++)
        for (int c = 0; c < io->out.channels; c++)
            ((float *)smp_row(&io->out, y))[c] =
                smp_dither_sample(((const float *)smp_row(&io->in, y))[c], y, c, params);
}

/* The loop has no branches: frames lie side by side in vectors. */
SMP_INLINE void channel(const smp_io *io, const smp_dither *p, int64_t y0, int64_t y1, int c, int64_t channels)
{
    const float *restrict from = (const float *)smp_row(&io->in, y0) + c;
    float *restrict to = (float *)smp_row(&io->out, y0) + c;
    for (int64_t i = 0; i < y1 - y0; i++)
        to[i * channels] = smp_dither_sample(from[i * channels], y0 + i, c, p);
}

SMP_CPU_KERNEL(dither_tiled)
{
    const int64_t packed = io->out.channels * (int64_t)sizeof(float);
    if (io->in.stride != packed || io->out.stride != packed) {
        for (int64_t y = y0; y < y1; y++)
            for (int c = 0; c < io->out.channels; c++)
                channel(io, params, y, y + 1, c, 1);
        return;
    }
    for (int c = 0; c < io->out.channels; c++)
        channel(io, params, y0, y1, c, io->out.channels);
}
