/* label on GPUs: the pictures (a mask, or numbers). label_join.cu and label_measure.cu make what they are of.
 *   naive  a thread a sample.
 *   tiled  four samples a thread, one store. */
#include "reduce/label.h"

#include "reduce/bits.cuh"

template <typename IN, typename OUT> SMP_DEVICE void label_naive(const smp_io &io, const smp_label &p)
{
    bits_each<OUT>(io, [&](int64_t y, int64_t i) { return smp_label_sample(&p, &io, y, i); });
}
SMP_KERNEL_FORMATS(label_naive, smp_label)
SMP_KERNEL_PAIR_(label_naive, u8, uint8_t, u16, uint16_t, smp_label)

template <typename IN, typename OUT> SMP_DEVICE void label_tiled(const smp_io &io, const smp_label &p)
{
    bits_fours<OUT>(io, [&](int64_t y, int64_t i) { return smp_label_sample(&p, &io, y, i); });
}
SMP_KERNEL_FORMATS(label_tiled, smp_label)
SMP_KERNEL_PAIR_(label_tiled, u8, uint8_t, u16, uint16_t, smp_label)
