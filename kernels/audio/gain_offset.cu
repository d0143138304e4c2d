/* gain_offset on GPUs, for f32 alone, as sound is. tiled: without the channel of a sample where all have one factor. */
#include "audio/gain_offset.h"
#include "lib/elementwise.cuh"

SMP_ELEMENTWISE_OP(gain_offset)

template <typename IN, typename OUT> SMP_DEVICE void gain_offset_naive(const smp_io &io, const smp_gain_offset &p)
{
    smp_point_each<IN, OUT>(io, gain_offset_op<true>{p});
}
SMP_KERNEL_PAIR_(gain_offset_naive, f32, float, f32, float, smp_gain_offset)

template <typename IN, typename OUT> SMP_DEVICE void gain_offset_tiled(const smp_io &io, const smp_gain_offset &p)
{
    if (p.same)
        smp_point_packs<IN, OUT>(io, gain_offset_op<false>{p});
    else
        smp_point_packs<IN, OUT>(io, gain_offset_op<true>{p});
}
SMP_KERNEL_PAIR_(gain_offset_tiled, f32, float, f32, float, smp_gain_offset)
