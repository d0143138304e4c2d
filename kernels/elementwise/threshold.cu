/* threshold on GPUs, the apply pass.
 *   naive  one sample a thread.
 *   tiled  16 bytes a thread and access; bytes through a table in shared memory, so that neither the level of each
 * channel nor conversions cost anything; wider samples are compared. Memory bandwidth is the bound. */
#include "elementwise/threshold.h"
#include "lib/elementwise.cuh"

struct threshold_op {
    static constexpr bool by_channel = true, with_alpha = false;
    const smp_threshold_params &p;
    SMP_DEVICE_MEMBER float operator()(float v, int channel) const
    {
        return smp_threshold_sample(v, p.level[channel], p.white);
    }
};

template <typename IN, typename OUT> SMP_DEVICE void threshold_naive(const smp_io &io, const smp_threshold_params &p)
{
    smp_point_each<IN, OUT>(io, threshold_op{p});
}
SMP_KERNEL_FORMATS(threshold_naive, smp_threshold_params)

template <typename IN, typename OUT> SMP_DEVICE void threshold_tiled(const smp_io &io, const smp_threshold_params &p)
{
    smp_point_tables<IN, OUT>(io, threshold_op{p});
}
SMP_KERNEL_FORMATS(threshold_tiled, smp_threshold_params)
