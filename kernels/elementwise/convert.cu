/* convert on GPUs.
 *   naive  one pixel a thread: bound by the number of its narrow accesses.
 *   tiled  16 bytes a thread and access on the wider side; where alpha is dropped, pieces of rows go through shared
 *          memory (per_pixel.cuh), so that three of four channels still leave in accesses of 16 bytes. One product or
 *          quotient a sample: memory bandwidth is the bound. */
#include "elementwise/convert.h"
#include "lib/per_pixel.cuh"

struct convert_each {
    static constexpr bool by_channel = false, with_alpha = true;
    float white_in, white_out;
    SMP_DEVICE_MEMBER float operator()(float v, int) const { return smp_convert_value(v, white_in, white_out); }
};

SMP_PIXEL_OP(convert, smp_no_params, true, io.in.channels)

template <typename IN, typename OUT> SMP_DEVICE void convert_naive(const smp_io &io, const smp_no_params &p)
{
    smp_pixel_each<IN, OUT>(io, convert_op{io, p});
}
SMP_KERNEL_FORMATS(convert_naive, smp_no_params)
SMP_KERNEL_DEPTHS(convert_naive, smp_no_params)

template <typename IN, typename OUT> SMP_DEVICE void convert_tiled(const smp_io &io, const smp_no_params &p)
{
    if (io.in.channels == io.out.channels)
        smp_point_packs<IN, OUT>(io, convert_each{io.in.white, io.out.white});
    else
        smp_pixel_tiles<IN, OUT>(io, convert_op{io, p});
}
SMP_KERNEL_FORMATS(convert_tiled, smp_no_params)
SMP_KERNEL_DEPTHS(convert_tiled, smp_no_params)
