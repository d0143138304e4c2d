/* sharpen on GPUs: the blur of gaussian_tiled.cuh, with its ladder, and the mask as its last step, for which the sharp
 * sample is read again. u8 and f32 of small radii have the kernels of sharpen_warp.cuh, which take it from shared
 * memory: 22 instructions in the inner loop for each u8 sample of 5 taps. The row passes of the variants in two
 * launches are those of gaussian. */
#include "gaussian/sharpen.h"

#include "gaussian/gaussian_tiled.cuh"

struct sharpen_result {
    const smp_view &sharp;
    float amount, threshold;
    SMP_DEVICE_MEMBER float operator()(int64_t y, int64_t i, float blurred) const
    {
        return smp_sharpen_mask(smp_load(smp_row(&sharp, y), i, sharp.format), blurred, amount, threshold);
    }
};

SMP_DEVICE sharpen_result sharpen_with(const smp_view &sharp, const smp_sharpen &p)
{
    const sharpen_result result = {sharp, p.amount, p.threshold * sharp.white};
    return result;
}

template <typename IN, typename OUT> SMP_DEVICE void sharpen_columns(const smp_io &io, const smp_sharpen &p)
{
    gaussian_columns_each<OUT>(io, p.blur, sharpen_with(io.second, p));
}
template <typename IN, typename OUT> SMP_DEVICE void sharpen_columns_tiled(const smp_io &io, const smp_sharpen &p)
{
    gaussian_columns_tile<OUT>(io, p.blur, sharpen_with(io.second, p));
}
SMP_KERNEL_FROM_F32(sharpen_columns, smp_sharpen)
GAUSSIAN_COLUMNS(sharpen_columns_tiled, smp_sharpen)
