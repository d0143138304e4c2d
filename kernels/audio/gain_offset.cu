/* gain and offset on GPUs.
 *   naive  one sample a thread: the limit is the number of its narrow accesses.
 *   tiled  16 bytes a thread and access, packed frames as one long row: memory bandwidth is the limit. */
#include "audio/gain_offset.h"
#include "lib/elementwise.cuh"

struct gain_offset_all {
    static constexpr bool by_channel = false, with_alpha = true;
    float factor, offset;
    SMP_DEVICE_MEMBER float operator()(float v, int) const { return smp_gain_offset_sample(v, factor, offset); }
};

struct gain_offset_each {
    static constexpr bool by_channel = true, with_alpha = true;
    const smp_gain_offset &p;
    SMP_DEVICE_MEMBER float operator()(float v, int channel) const
    {
        return smp_gain_offset_sample(v, p.factor[channel], p.offset[channel]);
    }
};

template <typename IN, typename OUT> SMP_DEVICE void gain_offset_naive(const smp_io &io, const smp_gain_offset &p)
{
    smp_point_each<IN, OUT>(io, gain_offset_each{p});
}
SMP_KERNEL_PAIR_(gain_offset_naive, f32, float, f32, float, smp_gain_offset)

template <typename IN, typename OUT> SMP_DEVICE void gain_offset_tiled(const smp_io &io, const smp_gain_offset &p)
{
    if (p.same)
        smp_point_packs<IN, OUT>(io, gain_offset_all{p.factor[0], p.offset[0]});
    else
        smp_point_packs<IN, OUT>(io, gain_offset_each{p});
}
SMP_KERNEL_PAIR_(gain_offset_tiled, f32, float, f32, float, smp_gain_offset)
