/* join on GPUs.
 *   naive  a sample a thread.
 *   tiled  16 bytes of output a thread and store; where they come from one run of the first picture, in the same
 * format, they are loaded as gather.cuh does. */
#include "geometry/gather.cuh"
#include "geometry/join.h"

template <typename IN, typename OUT> SMP_DEVICE void join_naive(const smp_io &io, const smp_join &p)
{
    unsigned clipped = 0;
    const int64_t channels = io.out.channels, n = io.out.width * channels;
    smp_each(io, n, [&](int64_t y, int64_t i) {
        const int64_t x = i / channels;
        const smp_join_source at = smp_join_source_of(&io, &p, x, y);
        const float v = smp_join_sample(&io, &p, &at, 0, (int)(i - x * channels), smp_sample<IN>::format);
        smp_out<OUT>(io.out, y)[i] = smp_point_rounded<OUT>(io, v, &clipped);
    });
    smp_count_clipped<OUT>(io, clipped);
}

/* Geometry: smp_geometry_packs. */
template <typename IN, typename OUT> SMP_DEVICE void join_tiled(const smp_io &io, const smp_join &p)
{
    constexpr int N = 16 / (int)sizeof(OUT);
    unsigned clipped = 0;
    const int64_t channels = io.out.channels, n = io.out.width * channels;
    const int64_t size = io.in.width * io.in.channels * (int64_t)sizeof(IN);
    smp_each<N>(io, n, [&](int64_t y, int64_t i) {
        OUT *out = smp_out<OUT>(io.out, y);
        int64_t x = i / channels;
        int c = (int)(i - x * channels);
        smp_join_source at = smp_join_source_of(&io, &p, x, y);
        if constexpr (smp_sample<IN>::format == smp_sample<OUT>::format)
            if (at.from == 1 && at.run * channels - c >= N && i + N <= n && (uintptr_t)(out + i) % 16 == 0) {
                const IN *row = smp_in<IN>(io.in, at.y);
                const gather_place<IN> from = {reinterpret_cast<const unsigned char *>(row), row + at.x * channels + c,
                                               at.run * channels - c};
                if (gather_word(from, size, out + i))
                    return;
            }
#pragma unroll 1
        for (int k = 0; k < N && i + k < n; k++) {
            out[i + k] =
                smp_point_rounded<OUT>(io, smp_join_sample(&io, &p, &at, 0, c, smp_sample<IN>::format), &clipped);
            if (++c == channels) {
                c = 0;
                at = smp_join_source_of(&io, &p, ++x, y);
            }
        }
    });
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(join_naive, smp_join)
SMP_KERNEL_FORMATS(join_tiled, smp_join)
