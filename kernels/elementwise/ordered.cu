/* ordered on GPUs: thresholds are made of bits of the place, so that no table is read.
 *   naive  a sample a thread.
 *   tiled  16 bytes a thread and access. */
#include "elementwise/ordered.h"
#include "lib/elementwise.cuh"

template <typename IN, typename OUT> struct ordered_samples {
    const smp_io &io;
    const smp_ordered &p;
    unsigned &clipped;
    template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t row, int64_t i) const
    {
        const int channels = io.in.channels;
        const int64_t width = io.in.width; /* where rows follow each other without gaps, i counts on through them */
        int64_t pixel = i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : i / channels;
        int c = (int)(i - pixel * channels);
        int64_t down = pixel / width, x = pixel - down * width;
        for (int k = 0; k < N; k++) {
            float v = smp_value(from[k]);
            if (!(io.in.alpha && c == channels - 1))
                v = smp_ordered_sample(v, x, io.out.y0 + row + down, &p);
            to[k] = smp_point_rounded<OUT>(io, v, &clipped);
            if (++c == channels) {
                c = 0;
                if (++x == width) {
                    x = 0;
                    down++;
                }
            }
        }
    }
};

template <typename IN, typename OUT> SMP_DEVICE void ordered_naive(const smp_io &io, const smp_ordered &p)
{
    unsigned clipped = 0;
    smp_point_singles<IN, OUT>(io, ordered_samples<IN, OUT>{io, p, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
template <typename IN, typename OUT> SMP_DEVICE void ordered_tiled(const smp_io &io, const smp_ordered &p)
{
    unsigned clipped = 0;
    smp_point_runs<IN, OUT>(io, smp_span_of<IN, OUT>(io), ordered_samples<IN, OUT>{io, p, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(ordered_naive, smp_ordered)
SMP_KERNEL_FORMATS(ordered_tiled, smp_ordered)
