/* Pictures of bit planes on GPUs.
 *   naive  a thread a sample.
 *   tiled  four samples a thread, one store. */
#include "reduce/bits.cuh"

template <typename IN, typename OUT> SMP_DEVICE void bits_fill_naive(const smp_io &io, const smp_no_params &)
{
    bits_each<OUT>(io, [&](int64_t y, int64_t i) { return smp_bits_sample(&io, y, i); });
}
SMP_KERNEL_FORMATS(bits_fill_naive, smp_no_params)

template <typename IN, typename OUT> SMP_DEVICE void bits_fill_tiled(const smp_io &io, const smp_no_params &)
{
    bits_fours<OUT>(io, [&](int64_t y, int64_t i) { return smp_bits_sample(&io, y, i); });
}
SMP_KERNEL_FORMATS(bits_fill_tiled, smp_no_params)
