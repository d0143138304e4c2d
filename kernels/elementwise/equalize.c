/* equalize on the CPU, the apply pass.
 *   naive  pixel by pixel: the definition.
 *   tiled  bytes through a table of bytes a channel, made at the start of the call; everything else in blocks: one
 *          vectorised loop finds the bins, one gathers from the table. */
#include "elementwise/equalize.h"

#include "lib/byte_lut.h"
#include "lib/elementwise.h"
#include "lib/exact_math.h"

SMP_CPU_KERNEL(equalize_naive)
{
    (void)scratch;
    const smp_histogram_params *p = &((const smp_equalize_params *)params)->count;
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++) {
            float pixel[SMP_MAX_CHANNELS];
            for (int c = 0; c < channels; c++)
                pixel[c] = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
            float shift =
                p->colours ? smp_equalize_shift(smp_histogram_luma(pixel, p), io->in.white, io->table, p) : 0.f;
            for (int c = 0; c < channels; c++) {
                float v = pixel[c];
                if (!(io->in.alpha && c == channels - 1))
                    v = p->colours ? smp_one_nan(v + shift) : smp_equalize_sample(v, c, io->in.white, io->table, p);
                smp_put(io, smp_row(&io->out, y), x * channels + c, v);
            }
        }
}

SMP_INLINE void each_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                           int64_t pixels, const float white)
{
    const smp_histogram_params *p = &((const smp_equalize_params *)params)->count;
    const float *table = io->table;
    const int channels = io->in.channels, colours = channels - io->in.alpha;
    const int64_t n = pixels * channels;
    int32_t bin[SMP_BLOCK];
    for (int64_t i = 0; i < n; i++)
        bin[i] = smp_histogram_bin(from[i], white, p);
    if (channels == 1)
        for (int64_t i = 0; i < n; i++)
            to[i] = table[bin[i]];
    else
        for (int c = 0; c < channels; c++) {
            const float *plane = table + smp_histogram_slot(p->bins, c, 0);
            for (int64_t i = c; i < n; i += channels)
                to[i] = c < colours ? plane[bin[i]] : from[i];
        }
}

SMP_INLINE void luma_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                           int64_t pixels, const float white)
{
    const smp_histogram_params *p = &((const smp_equalize_params *)params)->count;
    const float *table = io->table;
    const int channels = io->in.channels, colours = channels - io->in.alpha;
    float luma[SMP_BLOCK];
    if (colours == 3)
        for (int64_t i = 0; i < pixels; i++) {
            const float *pixel = from + i * channels;
            luma[i] = p->weights[0] * pixel[0] + p->weights[1] * pixel[1] + p->weights[2] * pixel[2];
        }
    else
        for (int64_t i = 0; i < pixels; i++)
            luma[i] = smp_histogram_luma(from + i * channels, p);
    for (int64_t i = 0; i < pixels; i++)
        luma[i] = table[smp_histogram_bin(luma[i], white, p)];
    if (channels == 3 && colours == 3)
        for (int64_t i = 0; i < pixels; i++)
            for (int c = 0; c < 3; c++)
                to[i * 3 + c] = smp_one_nan(from[i * 3 + c] + luma[i]);
    else
        for (int64_t i = 0; i < pixels; i++)
            for (int c = 0; c < channels; c++) {
                float v = from[i * channels + c];
                to[i * channels + c] = c < colours ? smp_one_nan(v + luma[i]) : v;
            }
}

/* The kind of picture is a constant of each loop. */
#define BLOCK(NAME)                                                                                                    \
    static void NAME##_any(const smp_io *io, const void *params, float *restrict to, const float *restrict from,       \
                           int64_t pixels)                                                                             \
    {                                                                                                                  \
        if (io->in.white == 1.f)                                                                                       \
            NAME(io, params, to, from, pixels, 1.f);                                                                   \
        else if (io->in.white == 255.f)                                                                                \
            NAME(io, params, to, from, pixels, 255.f);                                                                 \
        else                                                                                                           \
            NAME(io, params, to, from, pixels, 65535.f);                                                               \
    }
BLOCK(each_block)
BLOCK(luma_block)

/* Bytes to bytes: the table holds code values in range, so that nothing clips. */
static void byte_rows(const smp_io *io, const smp_histogram_params *p, int64_t y0, int64_t y1)
{
    uint8_t lut[SMP_MAX_CHANNELS][256];
    const int channels = io->in.channels, colours = channels - io->in.alpha;
    for (int c = 0; c < channels; c++)
        for (int v = 0; v < 256; v++)
            lut[c][v] = c < colours ? smp_to_u8(smp_equalize_sample((float)v, c, 255.f, io->table, p)) : (uint8_t)v;
    const int64_t joined = smp_joined_rows(io, y0, y1), n = io->in.width * channels * joined;
    for (int64_t y = y0; y < y1; y += joined)
        smp_look_up(smp_row(&io->out, y), smp_row(&io->in, y), n, lut, channels);
}

SMP_CPU_KERNEL(equalize_tiled)
{
    (void)scratch;
    const smp_histogram_params *p = &((const smp_equalize_params *)params)->count;
    if (p->colours)
        smp_point_rows(io, params, y0, y1, luma_block_any);
    else if (io->in.format == SMP_U8 && io->out.format == SMP_U8)
        byte_rows(io, p, y0, y1);
    else
        smp_point_rows(io, params, y0, y1, each_block_any);
}
