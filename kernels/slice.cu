/* slice on GPUs.
 *   naive  one sample a thread.
 *   tiled  16 bytes a thread and access where both sides begin at such a boundary: memory bandwidth is the bound. */
#include "slice.h"
#include "smp_point.cuh"

struct slice_op {
    static constexpr bool by_channel = false, with_alpha = true;
    SMP_MEMBER float operator()(float v, int) const { return v; }
};

template <typename IN, typename OUT> SMP_DEVICE void slice_naive(const smp_io &io, const smp_slice &p)
{
    smp_point_each<IN, OUT>(smp_slice_io(&io, &p), slice_op{});
}
SMP_KERNEL_PAIR_(slice_naive, f32, float, f32, float, smp_slice)

template <typename IN, typename OUT> SMP_DEVICE void slice_tiled(const smp_io &io, const smp_slice &p)
{
    smp_point_packs<IN, OUT>(smp_slice_io(&io, &p), slice_op{});
}
SMP_KERNEL_PAIR_(slice_tiled, f32, float, f32, float, smp_slice)
