/* GPU kernels of formulas that want a sample's place too, for all of its channels. SMP_PLACED_GPU(NAME, PARAMS) makes
 * both kernels of a struct NAME_at with the function
 *     static SMP_DEVICE_MEMBER float of(const smp_io &io, const PARAMS &p, float v, const smp_place &at, int channel);
 *   naive  a sample a thread.
 *   tiled  16 bytes a thread and access. */
#pragma once

#include "lib/elementwise.cuh"

struct smp_place {
    int64_t x, y, pixel; /* pixel: y * width + x */
};

template <typename IN, typename OUT, typename PARAMS, typename AT> struct smp_placed {
    const smp_io &io;
    const PARAMS &p;
    unsigned &clipped;
    template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t row, int64_t i) const
    {
        const int channels = io.in.channels;
        const int64_t width = io.in.width; /* where rows follow each other without gaps, i counts on through them */
        const int64_t pixel = i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : i / channels;
        const int64_t down = pixel < width ? 0 : pixel / width, y = io.out.y0 + row;
        smp_place at = {pixel - down * width, y + down, y * width + pixel};
        int c = (int)(i - pixel * channels);
        for (int k = 0; k < N; k++) {
            to[k] = smp_point_rounded<OUT>(io, AT::of(io, p, smp_value(from[k]), at, c), &clipped);
            if (++c == channels) {
                c = 0;
                at.pixel++;
                if (++at.x == width) {
                    at.x = 0;
                    at.y++;
                }
            }
        }
    }
};

#define SMP_PLACED_GPU(NAME, PARAMS)                                                                                   \
    template <typename IN, typename OUT> SMP_DEVICE void NAME##_naive(const smp_io &io, const PARAMS &p)               \
    {                                                                                                                  \
        unsigned clipped = 0;                                                                                          \
        smp_point_singles<IN, OUT>(io, smp_placed<IN, OUT, PARAMS, NAME##_at>{io, p, clipped});                        \
        smp_count_clipped<OUT>(io, clipped);                                                                           \
    }                                                                                                                  \
    template <typename IN, typename OUT> SMP_DEVICE void NAME##_tiled(const smp_io &io, const PARAMS &p)               \
    {                                                                                                                  \
        unsigned clipped = 0;                                                                                          \
        smp_point_runs<IN, OUT>(io, smp_span_of<IN, OUT>(io), smp_placed<IN, OUT, PARAMS, NAME##_at>{io, p, clipped}); \
        smp_count_clipped<OUT>(io, clipped);                                                                           \
    }                                                                                                                  \
    SMP_KERNEL_FORMATS(NAME##_naive, PARAMS)                                                                           \
    SMP_KERNEL_FORMATS(NAME##_tiled, PARAMS)
