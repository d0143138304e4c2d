/* levels on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  in blocks: one vectorised loop when all channels share their points, else one a channel; bytes with a gamma
 *          or to bytes through a table made at the start of the call. */
#include "elementwise/levels.h"

#include "lib/byte_lut.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(levels_naive)
{
    (void)scratch;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            for (int c = 0; c < channels; c++) {
                float v = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
                if (!(io->in.alpha && c == channels - 1))
                    v = smp_levels_sample(v, c, params);
                smp_put(io, smp_row(&io->out, y), x * channels + c, v);
            }
}

SMP_INLINE void levels_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                             int64_t pixels)
{
    const smp_levels_params *p = params;
    const int channels = io->in.channels, colours = channels - io->in.alpha;
    const int64_t n = pixels * channels;
    const float top = p->top, power = p->power, white = p->white;
    if (p->same) {
        const float black = p->black[0], scale = p->scale[0];
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_levels_line(from[i], black, scale, top);
    } else {
        for (int c = 0; c < colours; c++)
            for (int64_t i = c; i < n; i += channels)
                to[i] = smp_levels_line(from[i], p->black[c], p->scale[c], top);
    }
    if (colours < channels)
        for (int64_t i = colours; i < n; i += channels) /* defined for the loops below; alpha is put back after them */
            to[i] = 0.f;
    if (power == 1.f)
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_one_nan(to[i]);
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = smp_one_nan(smp_levels_curve(to[i], power, white));
    if (colours < channels)
        for (int64_t i = colours; i < n; i += channels)
            to[i] = from[i];
}

/* Bytes in: what the definition makes of every byte, looked up. */
SMP_INLINE void byte_rows(const smp_io *io, const smp_levels_params *p, int64_t y0, int64_t y1)
{
    float table[SMP_MAX_CHANNELS][256];
    uint8_t bytes[SMP_MAX_CHANNELS][256];
    const int channels = io->in.channels, colours = channels - io->in.alpha;
    for (int c = 0; c < channels; c++)
        for (int v = 0; v < 256; v++) {
            table[c][v] = c < colours ? smp_levels_sample((float)v, c, p) : (float)v;
            bytes[c][v] = smp_to_u8(table[c][v]);
        }
    const int64_t joined = smp_joined_rows(io, y0, y1), n = io->in.width * joined * channels;
    for (int64_t y = y0; y < y1; y += joined) {
        const uint8_t *restrict from = smp_row(&io->in, y);
        float *restrict to_float = smp_row(&io->out, y);
        if (io->out.format == SMP_U8)
            smp_look_up(smp_row(&io->out, y), from, n, bytes, channels);
        else
            for (int64_t i = 0; i < n; i += channels)
                for (int c = 0; c < channels; c++)
                    to_float[i + c] = table[c][from[i + c]];
    }
}

SMP_CPU_KERNEL(levels_tiled)
{
    (void)scratch;
    const smp_levels_params *p = params;
    if (io->in.format == SMP_U8 && (p->power != 1.f || !p->same || io->out.format == SMP_U8))
        byte_rows(io, p, y0, y1); /* clamped to full scale: nothing to count */
    else
        smp_point_rows(io, params, y0, y1, levels_block);
}
