/* premultiply and straight on the CPU. tiled has loops of its own: the channels of a pixel, which do the same, lie in
 * one vector. */
#include "elementwise/alpha.h"
#include "lib/per_pixel.h"

typedef float colour_fn(float v, float alpha, float white);

/* channels is a constant in the usual cases. */
SMP_INLINE void pixels_of(float *restrict to, const float *restrict from, int64_t pixels, const int channels,
                          float white, colour_fn *fn)
{
    for (int64_t i = 0; i < pixels; i++) {
        const float *p = from + i * channels;
        float *o = to + i * channels, alpha = p[channels - 1];
        for (int c = 0; c < channels - 1; c++)
            o[c] = fn(p[c], alpha, white);
        o[channels - 1] = alpha;
    }
}

#define ALPHA(NAME)                                                                                                    \
    SMP_PIXEL_CPU_NAIVE(NAME, io->in.channels)                                                                         \
    static void NAME##_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,     \
                             int64_t pixels)                                                                           \
    {                                                                                                                  \
        const float white = io->in.white;                                                                              \
        (void)params;                                                                                                  \
        if (io->in.alpha)                                                                                              \
            SMP_BY_CHANNELS(io->in.channels, pixels_of(to, from, pixels, N, white, smp_##NAME))                        \
        else                                                                                                           \
            memcpy(to, from, (size_t)(pixels * io->in.channels) * sizeof *to);                                         \
    }                                                                                                                  \
    SMP_CPU_KERNEL(NAME##_tiled)                                                                                       \
    {                                                                                                                  \
        smp_point_rows(io, params, y0, y1, NAME##_block);                                                              \
    }
ALPHA(premultiply)
ALPHA(straight)
