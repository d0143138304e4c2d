/* convert on GPUs: another storage format, another full scale.
 *   naive  one sample a thread: bound by the number of its narrow accesses.
 *   tiled  16 bytes a thread and access on the wider side; where alpha is dropped, pieces of rows go through shared
 * memory (per_pixel.cuh), so that three of four channels still leave in accesses of 16 bytes. One product or quotient a
 * sample: memory bandwidth is the bound. */
#include "elementwise/convert.h"
#include "lib/per_pixel.cuh"

/* Alpha is converted like any channel. */
struct convert_op {
    static constexpr bool by_channel = false, with_alpha = true;
    float white_in, white_out;
    SMP_DEVICE_MEMBER float operator()(float v, int) const { return smp_convert(v, white_in, white_out); }
};

/* Without the input's last channel. */
struct convert_fewer_op {
    int channels;
    convert_op each;
    template <int C, typename PUT> SMP_DEVICE_MEMBER void operator()(const float *v, PUT &put) const
    {
#pragma unroll
        for (int c = 0; c < C; c++)
            if (c < channels)
                put(c, each(v[c], c));
    }
};

SMP_DEVICE convert_fewer_op convert_fewer(const smp_io &io)
{
    return convert_fewer_op{io.out.channels, {io.in.white, io.out.white}};
}

template <typename IN, typename OUT> SMP_DEVICE void convert_naive(const smp_io &io, const smp_no_params &)
{
    smp_pixel_each<IN, OUT>(io, convert_fewer(io));
}
SMP_KERNEL_FORMATS(convert_naive, smp_no_params)
SMP_KERNEL_DEPTHS(convert_naive, smp_no_params)

template <typename IN, typename OUT> SMP_DEVICE void convert_tiled(const smp_io &io, const smp_no_params &)
{
    if (io.in.channels == io.out.channels)
        smp_point_packs<IN, OUT>(io, convert_op{io.in.white, io.out.white});
    else
        smp_pixel_tiles<IN, OUT>(io, convert_fewer(io));
}
SMP_KERNEL_FORMATS(convert_tiled, smp_no_params)
SMP_KERNEL_DEPTHS(convert_tiled, smp_no_params)
