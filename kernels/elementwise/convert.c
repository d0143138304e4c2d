/* convert on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  integers to integers in integer arithmetic, which gives the same results, tested for every value; equal
 *          storage as a copy; all else in blocks of f32. Memory bandwidth is the bound. */
#include <string.h>

#include "elementwise/convert.h"
#include "lib/elementwise.h"
#include "lib/per_pixel.h"

SMP_PIXEL_CPU_NAIVE(convert, io->in.channels)

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

static void convert_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                          int64_t pixels)
{
    (void)params;
    const float white_in = io->in.white, white_out = io->out.white;
    const int in_channels = io->in.channels, channels = io->out.channels;
    if (in_channels == channels)
        for (int64_t i = 0; i < pixels * channels; i++)
            to[i] = smp_convert_value(from[i], white_in, white_out);
    else
        for (int64_t i = 0; i < pixels; i++)
            for (int c = 0; c < channels; c++)
                to[i * channels + c] = smp_convert_value(from[i * in_channels + c], white_in, white_out);
}

SMP_CPU_KERNEL(convert_tiled)
{
    const smp_view *in = &io->in, *out = &io->out;
    const int same = in->white == out->white && in->format == out->format;
    const int wider = in->format == SMP_U8 && out->format == SMP_U16 && in->white == 255.f && out->white == 65535.f;
    const int narrower = in->format == SMP_U16 && out->format == SMP_U8 && in->white == 65535.f && out->white == 255.f;
    if (in->channels != out->channels || !(same || wider || narrower)) {
        smp_point_rows(io, params, y0, y1, convert_block);
        return;
    }
    const int64_t rows = smp_joined_rows(io, y0, y1), n = in->width * in->channels * rows;
    for (int64_t y = y0; y < y1; y += rows)
        if (same)
            memcpy(smp_row(out, y), smp_row(in, y), (size_t)(n * smp_sample_size(in->format)));
        else
            (wider ? widen : narrow)(smp_row(out, y), smp_row(in, y), n);
}
