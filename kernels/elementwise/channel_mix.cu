/* Channel mixing on GPUs: gray, matrix.
 *   naive  one pixel a thread, channel by channel: neighbouring threads are a pixel apart, so that each access wastes
 *          part of what it moves.
 *   tiled  pieces of rows through shared memory, in and out in accesses of 16 bytes; the sums of a pixel in registers.
 *          Memory bandwidth is the bound up to about 4 x 4 weights. Gray from three bytes has a kernel of its own in
 *          gray_u8.cu: of what this one executes (142 instructions for four pixels) most only parts and joins
 *          words. */
#include "elementwise/channel_mix.h"
#include "lib/per_pixel.cuh"

struct channel_mix_op {
    const smp_channel_mix &mix;
    int last; /* the input's last channel */
    float white;
    template <int C, typename PUT> SMP_DEVICE_MEMBER void operator()(const float *v, PUT &put) const
    {
        float alpha = v[0];
#pragma unroll
        for (int c = 1; c < C; c++)
            alpha = c == last ? v[c] : alpha;
#pragma unroll
        for (int r = 0; r < PUT::most; r++)
            if (PUT::most == 1 || r < mix.rows + mix.keep_alpha)
                put(r, r < mix.rows ? smp_channel_mix_row(&mix, r, v, 1, white, C) : alpha);
    }
};

template <typename IN, typename OUT> SMP_DEVICE void channel_mix_naive(const smp_io &io, const smp_channel_mix &p)
{
    smp_pixel_each<IN, OUT>(io, channel_mix_op{p, io.in.channels - 1, io.in.white});
}
SMP_KERNEL_FORMATS(channel_mix_naive, smp_channel_mix)

template <typename IN, typename OUT> SMP_DEVICE void channel_mix_tiled(const smp_io &io, const smp_channel_mix &p)
{
    smp_pixel_tiles<IN, OUT, true>(io, channel_mix_op{p, io.in.channels - 1, io.in.white});
}
SMP_KERNEL_FORMATS(channel_mix_tiled, smp_channel_mix)
