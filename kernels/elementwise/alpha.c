/* premultiply and straight on the CPU.
 *   naive  sample by sample: the definition.
 *   tiled  blocks of f32 in the first-level cache, one loop for each usual number of channels so that it vectorises. */
#include "elementwise/alpha.h"
#include "lib/elementwise.h"

typedef float pair_fn(float v, float alpha, float white);

SMP_INLINE void naive_rows(const smp_io *io, int64_t y0, int64_t y1, pair_fn *fn)
{
    const smp_view *in = &io->in;
    int channels = in->channels, colours = in->alpha ? channels - 1 : 0;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < in->width; x++) {
            const void *from = smp_row(in, y);
            float alpha = smp_load(from, x * channels + channels - 1, in->format);
            for (int c = 0; c < channels; c++) {
                float v = smp_load(from, x * channels + c, in->format);
                smp_put(io, smp_row(&io->out, y), x * channels + c, c < colours ? fn(v, alpha, in->white) : v);
            }
        }
}

SMP_CPU_KERNEL(premultiply_naive)
{
    (void)params, (void)scratch;
    naive_rows(io, y0, y1, smp_premultiply);
}

SMP_CPU_KERNEL(straight_naive)
{
    (void)params, (void)scratch;
    naive_rows(io, y0, y1, smp_straight);
}

/* channels is a constant in the usual cases. */
SMP_INLINE void pixels_of(float *restrict to, const float *restrict from, int64_t pixels, const int channels,
                          float white, pair_fn *fn)
{
    for (int64_t i = 0; i < pixels; i++) {
        const float *p = from + i * channels;
        float *o = to + i * channels, alpha = p[channels - 1];
        for (int c = 0; c < channels - 1; c++)
            o[c] = fn(p[c], alpha, white);
        o[channels - 1] = alpha;
    }
}

SMP_INLINE void block(const smp_io *io, float *restrict to, const float *restrict from, int64_t pixels, pair_fn *fn)
{
    int channels = io->in.channels;
    float white = io->in.white;
    if (!io->in.alpha)
        for (int64_t i = 0; i < pixels * channels; i++)
            to[i] = from[i];
    else if (channels == 4)
        pixels_of(to, from, pixels, 4, white, fn);
    else if (channels == 2)
        pixels_of(to, from, pixels, 2, white, fn);
    else
        pixels_of(to, from, pixels, channels, white, fn);
}

SMP_INLINE void premultiply_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                                  int64_t pixels)
{
    (void)params;
    block(io, to, from, pixels, smp_premultiply);
}

SMP_INLINE void straight_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                               int64_t pixels)
{
    (void)params;
    block(io, to, from, pixels, smp_straight);
}

SMP_CPU_KERNEL(premultiply_tiled)
{
    (void)scratch;
    smp_point_rows(io, params, y0, y1, premultiply_block);
}

SMP_CPU_KERNEL(straight_tiled)
{
    (void)scratch;
    smp_point_rows(io, params, y0, y1, straight_block);
}
