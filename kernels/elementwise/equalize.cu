/* equalize on GPUs, the apply pass.
 *   naive  one pixel a thread, channel by channel; every value through the table in memory.
 *   tiled  each channel by itself: 16 bytes a thread and access; bytes through their own table in shared memory, wider
 *          samples through the one in memory, which the caches hold. Its size bounds 16 bits: 256 KB a channel, against
 *          1 KB for 8 bits. Luma: pieces of rows through shared memory, one look-up a pixel. */
#include "elementwise/equalize.h"
#include "lib/per_pixel.cuh"

struct equalize_each_op {
    static constexpr bool by_channel = true, with_alpha = false;
    const smp_io &io;
    const smp_histogram_params &p;
    SMP_DEVICE_MEMBER float operator()(float v, int channel) const { return smp_equalize_sample(v, channel, &io, &p); }
};

/* A pixel, in either way. */
struct equalize_op {
    const smp_io &io;
    const smp_histogram_params &p;
    template <int C, typename PUT> SMP_DEVICE_MEMBER void operator()(const float *v, PUT &put) const
    {
        const int channels = io.in.channels, colours = channels - io.in.alpha;
        const float shift = p.colours ? smp_equalize_shift(smp_histogram_luma_of(v, &p, C), &io, &p) : 0.f;
#pragma unroll
        for (int c = 0; c < C; c++)
            if (c < colours)
                put(c, p.colours ? smp_one_nan(v[c] + shift) : smp_equalize_sample(v[c], c, &io, &p));
            else if (c < channels)
                put(c, v[c]);
    }
};

template <typename IN, typename OUT> SMP_DEVICE void equalize_naive(const smp_io &io, const smp_equalize &p)
{
    smp_pixel_each<IN, OUT>(io, equalize_op{io, p.count});
}
SMP_KERNEL_FORMATS(equalize_naive, smp_equalize)

template <typename IN, typename OUT> SMP_DEVICE void equalize_tiled(const smp_io &io, const smp_equalize &p)
{
    if (p.count.colours)
        smp_pixel_tiles<IN, OUT>(io, equalize_op{io, p.count});
    else
        smp_point_tables<IN, OUT>(io, equalize_each_op{io, p.count});
}
SMP_KERNEL_FORMATS(equalize_tiled, smp_equalize)
