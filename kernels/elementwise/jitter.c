/* jitter on the CPU: of bytes alone; a hue takes four divisions a pixel. jitter_sum: grays of each row, added. */
#include "elementwise/jitter.h"
SMP_PIXEL_CPU_NAIVE(jitter, io->in.channels)

/* All channels of a pixel at once. */
SMP_CPU_KERNEL(jitter_tiled)
{
    const int channels = io->in.channels, colours = channels - io->in.alpha, step = colours == 3;
    for (int64_t y = y0; y < y1; y++) {
        const uint8_t *from = smp_row(&io->in, y);
        uint8_t *to = smp_row(&io->out, y);
        for (int64_t x = 0; x < io->in.width; x++, from += channels, to += channels) {
            int32_t v[3] = {from[0], from[step], from[2 * step]};
            smp_jitter_of(v, params, 1);
            for (int c = 0; c < channels; c++)
                to[c] = c < colours ? (uint8_t)v[c] : from[c];
        }
    }
}

SMP_CPU_KERNEL(jitter_sum)
{
    for (int64_t y = y0; y < y1; y++) {
        uint64_t sum = 0;
        for (int64_t x = 0; x < io->in.width; x++)
            sum += smp_jitter_seen(&io->in, y, x, params);
        ((uint64_t *)io->result)[y] = sum;
    }
}
