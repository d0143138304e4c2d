/* palette on CPUs.
 *   naive  pixel by pixel.
 *   tiled  channels of a block in planes, vectors of pixels against one colour after the other; counting takes pixels
 *          that are alike together. */
#include "elementwise/palette.h"

#include <string.h>

SMP_PIXEL_CPU_NAIVE(palette, ((const smp_palette *)params)->colours)

SMP_INLINE void nearest(float *restrict best, int32_t *restrict which, const float *restrict planes, int64_t pixels,
                        const float *color, const int colours, int32_t k)
{
    for (int64_t i = 0; i < pixels; i++) {
        float far = 0.f;
        for (int c = colours - 1; c >= 0; c--)
            far = smp_palette_far(far, planes[c * pixels + i], color[c]);
        which[i] = far < best[i] ? k : which[i];
        best[i] = far < best[i] ? far : best[i];
    }
}

static void palette_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                          int64_t pixels)
{
    float planes[SMP_BLOCK] __attribute__((aligned(64))), best[SMP_BLOCK] __attribute__((aligned(64)));
    int32_t which[SMP_BLOCK] __attribute__((aligned(64)));
    const smp_palette *p = params;
    const float *table = io->table;
    const int channels = io->in.channels;
    smp_pixel_part(planes, from, pixels, channels);
    for (int64_t i = 0; i < pixels; i++)
        best[i] = INFINITY, which[i] = 0;
    for (int32_t k = 0; k < p->count; k++)
        if (p->colours == 3)
            nearest(best, which, planes, pixels, table + 3 * k, 3, k);
        else
            nearest(best, which, planes, pixels, table + k, 1, k);
    memcpy(to, from, (size_t)(pixels * channels) * sizeof *to);
    for (int64_t i = 0; i < pixels; i++)
        for (int c = 0; c < p->colours; c++)
            to[i * channels + c] = table[which[i] * p->colours + c];
}

SMP_CPU_KERNEL(palette_tiled)
{
    smp_point_rows(io, params, y0, y1, palette_block);
}

static void count(const smp_io *io, const smp_palette_sample *s, uint64_t pixels)
{
    uint64_t *to = (uint64_t *)io->result + (int64_t)s->bin * SMP_PALETTE_PARTS;
    to[0] += pixels;
    for (int c = 0; c < 3; c++)
        to[1 + c] += pixels * (uint64_t)s->code[c];
}

SMP_CPU_KERNEL(palette_count_naive)
{
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++) {
            const smp_palette_sample s = smp_palette_sample_of(params, &io->in, smp_row(&io->in, y), x);
            if (s.bin >= 0)
                count(io, &s, 1);
        }
}

SMP_CPU_KERNEL(palette_count_tiled)
{
    smp_palette_sample last = {.bin = -1};
    uint64_t pixels = 0;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++) {
            const smp_palette_sample s = smp_palette_sample_of(params, &io->in, smp_row(&io->in, y), x);
            if (s.bin == last.bin && s.code[0] == last.code[0] && s.code[1] == last.code[1] &&
                s.code[2] == last.code[2]) {
                pixels++;
                continue;
            }
            if (last.bin >= 0)
                count(io, &last, pixels);
            last = s;
            pixels = 1;
        }
    if (last.bin >= 0)
        count(io, &last, pixels);
}
