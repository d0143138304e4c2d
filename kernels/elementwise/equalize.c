/* equalize on the CPU, the apply pass.
 *   naive  pixel by pixel: the definition.
 *   tiled  bytes through a table of bytes a channel, made at the start of the call; all else in blocks: one vectorised
 *          loop finds the bins, one gathers from the table. */
#include "elementwise/equalize.h"

#include "lib/elementwise.h"

SMP_CPU_KERNEL(equalize_naive)
{
    const smp_histogram_params *p = params;
    const int channels = io->in.channels, colours = channels - io->in.alpha;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++) {
            float pixel[SMP_MAX_CHANNELS];
            for (int c = 0; c < channels; c++)
                pixel[c] = smp_load(smp_row(&io->in, y), x * channels + c, io->in.format);
            const float shift = p->colours ? smp_equalize_shift(smp_histogram_luma(pixel, p), io, p) : 0.f;
            for (int c = 0; c < channels; c++) {
                float v = pixel[c];
                if (c < colours)
                    v = p->colours ? smp_one_nan(v + shift) : smp_equalize_sample(v, c, io, p);
                smp_put(io, smp_row(&io->out, y), x * channels + c, v);
            }
        }
}

SMP_INLINE void each_block(const smp_io *io, const smp_histogram_params *p, float *restrict to,
                           const float *restrict from, int64_t pixels, const float white)
{
    const float *table = io->table;
    const int channels = io->in.channels, colours = channels - io->in.alpha;
    const int64_t n = pixels * channels;
    int32_t bin[256 * SMP_MAX_CHANNELS]; /* of a block, or of all bytes */
    for (int64_t i = 0; i < n; i++)
        bin[i] = smp_histogram_bin(from[i], white, p);
    for (int c = 0; c < channels; c++) {
        const float *plane = table + smp_histogram_slot(p->bins, c, 0);
        if (channels == 1)
            for (int64_t i = 0; i < n; i++)
                to[i] = plane[bin[i]];
        else
            for (int64_t i = c; i < n; i += channels)
                to[i] = c < colours ? plane[bin[i]] : from[i];
    }
}

SMP_INLINE void luma_block(const smp_io *io, const smp_histogram_params *p, float *restrict to,
                           const float *restrict from, int64_t pixels, const float white)
{
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

/* Full scale is a constant of each loop. */
static void equalize_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                           int64_t pixels)
{
    const smp_histogram_params *p = params;
#define BLOCK(white)                                                                                                   \
    if (p->colours)                                                                                                    \
        luma_block(io, p, to, from, pixels, white);                                                                    \
    else                                                                                                               \
        each_block(io, p, to, from, pixels, white)
    if (io->in.white == 1.f)
        BLOCK(1.f);
    else if (io->in.white == 255.f)
        BLOCK(255.f);
    else
        BLOCK(65535.f);
#undef BLOCK
}

SMP_CPU_KERNEL(equalize_tiled)
{
    const smp_histogram_params *p = params;
    if (p->colours || !smp_byte_rows(io, params, y0, y1, 1, 0, equalize_block))
        smp_point_rows(io, params, y0, y1, equalize_block);
}
