/* equalize on GPUs, the apply pass.
 *   naive  one pixel a thread, channel by channel; every value through the table in memory.
 *   tiled  each channel by itself: 16 bytes a thread and access; bytes through their own table in shared memory, wider
 *          samples through the one in memory, which the caches hold (1 KB a channel for 8 bits, 256 KB else: this is
 * what bounds 16 bits). Luma: pieces of rows through shared memory, one look-up a pixel. */
#include "elementwise/equalize.h"
#include "lib/exact_math.h"
#include "lib/per_pixel.cuh"

/* Every channel by itself. */
struct equalize_each_op {
    static constexpr bool by_channel = true, with_alpha = false;
    const smp_histogram_params &p;
    const float *table;
    float white;
    SMP_DEVICE_MEMBER float operator()(float v, int channel) const
    {
        return smp_equalize_sample(v, channel, white, table, &p);
    }
};

/* A pixel, in either way. */
struct equalize_op {
    equalize_each_op each;
    int channels, alpha;
    template <int C, typename PUT> SMP_DEVICE_MEMBER void operator()(const float *v, PUT &put) const
    {
        float shift = 0.f;
        if (each.p.colours)
            shift = smp_equalize_shift(smp_histogram_luma_of(v, &each.p, C), each.white, each.table, &each.p);
#pragma unroll
        for (int c = 0; c < C; c++)
            if (c < channels - alpha)
                put(c, each.p.colours ? smp_one_nan(v[c] + shift) : each(v[c], c));
            else if (c < channels)
                put(c, v[c]);
    }
};

SMP_DEVICE equalize_op equalize_with(const smp_io &io, const smp_equalize_params &p)
{
    return equalize_op{{p.count, static_cast<const float *>(io.table), io.in.white}, io.in.channels, io.in.alpha};
}

template <typename IN, typename OUT> SMP_DEVICE void equalize_naive(const smp_io &io, const smp_equalize_params &p)
{
    smp_pixel_each<IN, OUT>(io, equalize_with(io, p));
}
SMP_KERNEL_FORMATS(equalize_naive, smp_equalize_params)

template <typename IN, typename OUT> SMP_DEVICE void equalize_tiled(const smp_io &io, const smp_equalize_params &p)
{
    if (p.count.colours)
        smp_pixel_tiles<IN, OUT>(io, equalize_with(io, p));
    else
        smp_point_tables<IN, OUT>(io, equalize_with(io, p).each);
}
SMP_KERNEL_FORMATS(equalize_tiled, smp_equalize_params)
