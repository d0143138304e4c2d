/* premultiply and straight on GPUs: each colour meets its pixel's alpha.
 *   naive  one pixel a thread, channel by channel: neighbouring threads are a pixel apart, so that each access wastes
 *          part of what it moves.
 *   tiled  pieces of rows through shared memory, in and out in accesses of 16 bytes, a pixel of four channels in one.
 *          A product and a quotient a sample: memory bandwidth is the bound. */
#include "elementwise/alpha.h"
#include "lib/per_pixel.cuh"

/* BACK: straight, else premultiply. */
template <bool BACK> struct alpha_op {
    int channels, alpha; /* of the input; 1 when the last is alpha */
    float white;
    template <int C, typename PUT> SMP_DEVICE_MEMBER void operator()(const float *v, PUT &put) const
    {
        float a = v[0];
#pragma unroll
        for (int c = 1; c < C; c++)
            a = c == channels - 1 ? v[c] : a;
#pragma unroll
        for (int c = 0; c < C; c++)
            if (c < channels - alpha)
                put(c, !alpha ? v[c] : BACK ? smp_straight(v[c], a, white) : smp_premultiply(v[c], a, white));
            else if (c < channels)
                put(c, v[c]);
    }
};

#define ALPHA_KERNEL(name, run, back)                                                                                  \
    template <typename IN, typename OUT> SMP_DEVICE void name(const smp_io &io, const smp_no_params &)                 \
    {                                                                                                                  \
        run<IN, OUT>(io, alpha_op<back>{io.in.channels, io.in.alpha, io.in.white});                                    \
    }                                                                                                                  \
    SMP_KERNEL_FORMATS(name, smp_no_params)
ALPHA_KERNEL(premultiply_naive, smp_pixel_each, false)
ALPHA_KERNEL(premultiply_tiled, smp_pixel_tiles, false)
ALPHA_KERNEL(straight_naive, smp_pixel_each, true)
ALPHA_KERNEL(straight_tiled, smp_pixel_tiles, true)
