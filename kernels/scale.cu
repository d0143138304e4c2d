/* scale on GPUs.
 *   naive  one sample a thread: bound by the number of its narrow accesses.
 *   tiled  16 bytes a thread and access, frames end to end as one long row: memory bandwidth is the bound. */
#include "scale.h"
#include "smp_point.cuh"

struct scale_all {
    static constexpr bool by_channel = false, with_alpha = true;
    float factor, offset;
    SMP_MEMBER float operator()(float v, int) const { return smp_scale_sample(v, factor, offset); }
};

struct scale_each {
    static constexpr bool by_channel = true, with_alpha = true;
    const smp_scale &p;
    SMP_MEMBER float operator()(float v, int channel) const
    {
        return smp_scale_sample(v, p.factor[channel], p.offset[channel]);
    }
};

template <typename IN, typename OUT> SMP_DEVICE void scale_naive(const smp_io &io, const smp_scale &p)
{
    smp_point_each<IN, OUT>(io, scale_each{p});
}
SMP_KERNEL_PAIR_(scale_naive, f32, float, f32, float, smp_scale)

template <typename IN, typename OUT> SMP_DEVICE void scale_tiled(const smp_io &io, const smp_scale &p)
{
    if (p.same)
        smp_point_packs<IN, OUT>(io, scale_all{p.factor[0], p.offset[0]});
    else
        smp_point_packs<IN, OUT>(io, scale_each{p});
}
SMP_KERNEL_PAIR_(scale_tiled, f32, float, f32, float, smp_scale)
