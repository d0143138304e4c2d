/* trim on GPUs.
 *   naive  one sample a thread.
 *   tiled  16 bytes a thread and access where both sides are so aligned: memory bandwidth is the limit. */
#include "audio/trim.h"
#include "lib/elementwise.cuh"

struct trim_op {
    static constexpr bool by_channel = false, with_alpha = true;
    SMP_DEVICE_MEMBER float operator()(float v, int) const { return v; }
};

template <typename IN, typename OUT> SMP_DEVICE void trim_naive(const smp_io &io, const smp_trim &p)
{
    smp_point_each<IN, OUT>(smp_trim_io(&io, &p), trim_op{});
}
SMP_KERNEL_PAIR_(trim_naive, f32, float, f32, float, smp_trim)

template <typename IN, typename OUT> SMP_DEVICE void trim_tiled(const smp_io &io, const smp_trim &p)
{
    smp_point_packs<IN, OUT>(smp_trim_io(&io, &p), trim_op{});
}
SMP_KERNEL_PAIR_(trim_tiled, f32, float, f32, float, smp_trim)
