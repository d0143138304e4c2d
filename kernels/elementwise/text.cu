/* text on GPUs: a copy of the picture, and a look-up of a dot a pixel inside the box.
 *   naive  a sample a thread.
 *   tiled  16 bytes a thread and access. */
#include "elementwise/text.h"
#include "lib/elementwise.cuh"

template <typename IN, typename OUT> struct text_samples {
    const smp_io &io;
    const smp_text &p;
    unsigned &clipped;
    template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t row, int64_t i) const
    {
        const int channels = io.in.channels;
        const int64_t pixel = i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : i / channels;
        const int64_t down = pixel < io.in.width ? 0 : pixel / io.in.width; /* rows may be joined */
        int64_t x = pixel - down * io.in.width, y = io.out.y0 + row + down;
        int c = (int)(i - pixel * channels);
        for (int k = 0; k < N; k++) {
            const int dot = smp_text_dot(&p, io.table, x, y);
            float v = smp_value(from[k]);
            if (dot)
                v = smp_text_value(&p, dot, v, smp_text_alpha(&io.in, y, x), c, &io.in);
            to[k] = smp_point_rounded<OUT>(io, v, &clipped);
            if (++c == channels) {
                c = 0;
                y += ++x == io.in.width;
                x = x == io.in.width ? 0 : x;
            }
        }
    }
};

template <typename IN, typename OUT> SMP_DEVICE void text_naive(const smp_io &io, const smp_text &p)
{
    unsigned clipped = 0;
    smp_point_singles<IN, OUT>(io, text_samples<IN, OUT>{io, p, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
template <typename IN, typename OUT> SMP_DEVICE void text_tiled(const smp_io &io, const smp_text &p)
{
    unsigned clipped = 0;
    smp_point_runs<IN, OUT>(io, smp_span_of<IN, OUT>(io), text_samples<IN, OUT>{io, p, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(text_naive, smp_text)
SMP_KERNEL_FORMATS(text_tiled, smp_text)
