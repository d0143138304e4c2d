/* levels on GPUs, the apply pass: black and white points and gamma.
 *   naive  one sample a thread, always computed.
 *   tiled  16 bytes a thread and access. Bytes are looked up in a table in shared memory that each block makes, which
 * is what makes a gamma free; wider samples are computed. Memory bandwidth is the bound. */
#include "elementwise/levels.h"
#include "lib/elementwise.cuh"

struct levels_op {
    static constexpr bool by_channel = true, with_alpha = false;
    const smp_levels_params &p;
    SMP_DEVICE_MEMBER float operator()(float v, int channel) const { return smp_levels_sample(v, channel, &p); }
};

template <typename IN, typename OUT> SMP_DEVICE void levels_naive(const smp_io &io, const smp_levels_params &p)
{
    smp_point_each<IN, OUT>(io, levels_op{p});
}
SMP_KERNEL_FORMATS(levels_naive, smp_levels_params)

template <typename IN, typename OUT> SMP_DEVICE void levels_tiled(const smp_io &io, const smp_levels_params &p)
{
    smp_point_tables<IN, OUT>(io, levels_op{p});
}
SMP_KERNEL_FORMATS(levels_tiled, smp_levels_params)
