/* gaussian arithmetic=fixed on GPUs (bell_fixed.h has the definition).
 *   naive  two launches, sample by sample: 2r+1 global reads through the border rule each; the picture between holds S,
 * which f32 holds exactly. Any radius, any storage. */
#include "gaussian.h"

#include "bell_fixed.h"
#include "stencil.cuh"

template <typename IN, typename OUT> SMP_DEVICE void gaussian_fixed_rows(const smp_io &io, const smp_bell &p)
{
    const float outside = (float)smp_fixed_outside(&p);
    const int channels = io.in.channels;
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        const IN *row = smp_in<IN>(io.in, y);
        uint32_t sum = 0;
        for (int k = -p.radius; k <= p.radius; k++)
            sum += smp_fixed_weight(&p, k) *
                   smp_fixed_code(stencil_across(row, io.in, i + (int64_t)k * channels, p.edge, outside));
        return (float)smp_fixed_row(sum);
    });
}
SMP_KERNEL_PAIR_(gaussian_fixed_rows, u8, uint8_t, f32, float, smp_bell)
SMP_KERNEL_PAIR_(gaussian_fixed_rows, f32, float, f32, float, smp_bell)

template <typename IN, typename OUT> SMP_DEVICE void gaussian_fixed_columns(const smp_io &io, const smp_bell &p)
{
    const float outside = 256.f * (float)smp_fixed_outside(&p);
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        uint32_t sum = 0;
        for (int k = -p.radius; k <= p.radius; k++)
            sum += smp_fixed_weight(&p, k) * (uint32_t)stencil_down<IN>(io.in, i, y + k, p.edge, outside);
        return (float)smp_fixed_result(sum);
    });
}
SMP_KERNEL_PAIR_(gaussian_fixed_columns, f32, float, u8, uint8_t, smp_bell)
SMP_KERNEL_PAIR_(gaussian_fixed_columns, f32, float, f32, float, smp_bell)
