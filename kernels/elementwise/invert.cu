/* invert on GPUs.
 *   naive  one sample a thread: correct, and bound by the number of its narrow accesses.
 *   tiled  16 bytes a thread and access: each warp moves 512 bytes an instruction, so memory bandwidth is the bound.
 *          Bytes are looked up in a table in shared memory: seven instructions a sample less than computing them. */
#include "elementwise/invert.h"
#include "lib/elementwise.cuh"

struct invert_op {
    static constexpr bool by_channel = false, with_alpha = false;
    float white;
    SMP_DEVICE_MEMBER float operator()(float v, int) const { return smp_invert(v, white); }
};

template <typename IN, typename OUT> SMP_DEVICE void invert_naive(const smp_io &io, const smp_no_params &)
{
    smp_point_each<IN, OUT>(io, invert_op{io.in.white});
}
SMP_KERNEL_FORMATS(invert_naive, smp_no_params)

template <typename IN, typename OUT> SMP_DEVICE void invert_tiled(const smp_io &io, const smp_no_params &)
{
    smp_point_tables<IN, OUT>(io, invert_op{io.in.white});
}
SMP_KERNEL_FORMATS(invert_tiled, smp_no_params)
