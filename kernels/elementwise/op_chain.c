/* op_chain on the CPU.
 *   naive  sample by sample, operation by operation: the definition, which is what the single stages would do.
 *   tiled  bytes through a table that is made at the start of the call, a plane a channel where there is alpha; all
 *          else in blocks in the first-level cache, one vectorised loop an operation. Memory bandwidth is the bound for
 *          bytes, arithmetic for long programs on floats. */
#include "elementwise/op_chain.h"

#include "lib/byte_lut.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(op_chain_naive)
{
    (void)scratch;
    const smp_op_chain *map = params;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->in.width * channels; i++) {
            const float v = smp_load(smp_row(&io->in, y), i, io->in.format);
            smp_put(io, smp_row(&io->out, y), i,
                    smp_op_chain_sample(map, v, io->in.alpha && i % channels == channels - 1));
        }
}

SMP_INLINE void op_chain_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                               int64_t pixels)
{
    float kept[SMP_BLOCK] __attribute__((aligned(64)));
    const int64_t n = pixels * io->in.channels;
    memcpy(to, from, (size_t)n * sizeof *to);
    smp_op_chain_all(params, to, kept, n, io->in.channels, io->in.alpha);
}

/* Everything that bytes can become is known. */
static void byte_rows(const smp_io *io, const smp_op_chain *map, int64_t y0, int64_t y1)
{
    float values[SMP_MAX_CHANNELS][256];
    uint8_t bytes[SMP_MAX_CHANNELS][256];
    const int channels = io->in.channels, planes = io->in.alpha ? channels : 1;
    for (int c = 0; c < planes; c++)
        for (int v = 0; v < 256; v++) {
            values[c][v] = smp_op_chain_sample(map, (float)v, io->in.alpha && c == channels - 1);
            bytes[c][v] = smp_to_u8(values[c][v]);
        }
    const int64_t joined = smp_joined_rows(io, y0, y1), n = io->in.width * joined * channels;
    for (int64_t y = y0; y < y1; y += joined) {
        const uint8_t *restrict from = smp_row(&io->in, y);
        float *restrict to_float = smp_row(&io->out, y);
        if (io->out.format == SMP_U8)
            smp_look_up(smp_row(&io->out, y), from, n, bytes, planes);
        else if (planes == 1)
            for (int64_t i = 0; i < n; i++)
                to_float[i] = values[0][from[i]];
        else
            for (int64_t i = 0; i < n; i += channels)
                for (int c = 0; c < channels; c++)
                    to_float[i + c] = values[c][from[i + c]];
    }
}

SMP_CPU_KERNEL(op_chain_tiled)
{
    (void)scratch;
    const int counts = io->clipped && io->out.format != SMP_F32;
    if (io->in.format == SMP_U8 && io->out.format != SMP_U16 && !counts)
        byte_rows(io, params, y0, y1);
    else
        smp_point_rows(io, params, y0, y1, op_chain_block);
}
