/* noise on GPUs: arithmetic alone, 70 integer operations a sample; the table of sines stays in the first-level cache.
 *   naive  a sample a thread.
 *   tiled  16 bytes a thread and access. */
#include "elementwise/noise.h"
#include "lib/elementwise.cuh"

template <typename IN, typename OUT> struct noise_samples {
    const smp_io &io;
    const smp_noise &p;
    unsigned &clipped;
    template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t row, int64_t i) const
    {
        const int channels = io.in.channels;
        int64_t x = i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : i / channels;
        int c = (int)(i - x * channels);
        const float *sines = static_cast<const float *>(io.table);
        for (int k = 0; k < N; k++) {
            float v = smp_value(from[k]);
            if (!(io.in.alpha && c == channels - 1))
                v = smp_noise_sample(v, (uint64_t)((io.out.y0 + row) * io.in.width + x), c, &p, sines);
            to[k] = smp_point_rounded<OUT>(io, v, &clipped);
            if (++c == channels) {
                c = 0;
                x++;
            }
        }
    }
};

template <typename IN, typename OUT> SMP_DEVICE void noise_naive(const smp_io &io, const smp_noise &p)
{
    unsigned clipped = 0;
    smp_point_singles<IN, OUT>(io, noise_samples<IN, OUT>{io, p, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
template <typename IN, typename OUT> SMP_DEVICE void noise_tiled(const smp_io &io, const smp_noise &p)
{
    unsigned clipped = 0;
    smp_point_runs<IN, OUT>(io, smp_span_of<IN, OUT>(io), noise_samples<IN, OUT>{io, p, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(noise_naive, smp_noise)
SMP_KERNEL_FORMATS(noise_tiled, smp_noise)
