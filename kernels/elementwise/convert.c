/* convert on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  integer to integer in integer arithmetic (the same results, tested for every value), equal storage as a
 * copy, all else in blocks of f32 through the first-level cache. Memory bandwidth is its bound. */
#include <string.h>

#include "elementwise/convert.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(convert_naive)
{
    (void)params, (void)scratch;
    const smp_view *in = &io->in, *out = &io->out;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < out->width; x++)
            for (int c = 0; c < out->channels; c++) {
                float v = smp_load(smp_row(in, y), x * in->channels + c, in->format);
                smp_put(io, smp_row(out, y), x * out->channels + c, smp_convert(v, in->white, out->white));
            }
}

static void widen(void *restrict to, const void *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ((uint16_t *)to)[i] = (uint16_t)(((const uint8_t *)from)[i] * 257);
}

static void narrow(void *restrict to, const void *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)((((const uint16_t *)from)[i] * 255u + 32895u) >> 16);
}

SMP_INLINE void convert_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                              int64_t pixels)
{
    (void)params;
    const float white_in = io->in.white, white_out = io->out.white;
    int in_channels = io->in.channels, channels = io->out.channels;
    if (in_channels == channels)
        for (int64_t i = 0; i < pixels * channels; i++)
            to[i] = smp_convert(from[i], white_in, white_out);
    else
        for (int64_t i = 0; i < pixels; i++)
            for (int c = 0; c < channels; c++)
                to[i * channels + c] = smp_convert(from[i * in_channels + c], white_in, white_out);
}

SMP_CPU_KERNEL(convert_tiled)
{
    (void)scratch;
    const smp_view *in = &io->in, *out = &io->out;
    int same_white = in->white == out->white, same = same_white && in->format == out->format;
    int wider = in->format == SMP_U8 && out->format == SMP_U16 && in->white == 255.f && out->white == 65535.f;
    int narrower = in->format == SMP_U16 && out->format == SMP_U8 && in->white == 65535.f && out->white == 255.f;
    if (in->channels != out->channels || !(same || wider || narrower)) {
        smp_point_rows(io, params, y0, y1, convert_block);
        return;
    }
    int64_t rows = smp_joined_rows(io, y0, y1), n = in->width * in->channels * rows;
    for (int64_t y = y0; y < y1; y += rows) {
        void *to = smp_row(out, y);
        const void *from = smp_row(in, y);
        if (same)
            memcpy(to, from, (size_t)(n * smp_sample_size(in->format)));
        else if (wider)
            widen(to, from, n);
        else
            narrow(to, from, n);
    }
}
