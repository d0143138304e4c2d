/* gaussian on GPUs: the blur of gaussian_tiled.cuh, which describes the ladder, without a further step. */
#include "gaussian/gaussian.h"

#include "gaussian/gaussian_tiled.cuh"

struct gaussian_result {
    SMP_DEVICE_MEMBER float operator()(int64_t, int64_t, float blurred) const { return blurred; }
};

template <typename IN, typename OUT> SMP_DEVICE void gaussian_rows(const smp_io &io, const smp_gaussian &p)
{
    gaussian_rows_each<IN>(io, p);
}
template <typename IN, typename OUT> SMP_DEVICE void gaussian_rows_tiled(const smp_io &io, const smp_gaussian &p)
{
    gaussian_rows_tile<IN>(io, p);
}
template <typename IN, typename OUT> SMP_DEVICE void gaussian_columns(const smp_io &io, const smp_gaussian &p)
{
    gaussian_columns_each<OUT>(io, p, gaussian_result());
}
template <typename IN, typename OUT> SMP_DEVICE void gaussian_columns_tiled(const smp_io &io, const smp_gaussian &p)
{
    gaussian_columns_tile<OUT>(io, p, gaussian_result());
}
SMP_KERNEL_INTO_F32(gaussian_rows, smp_gaussian)
SMP_KERNEL_INTO_F32(gaussian_rows_tiled, smp_gaussian)
SMP_KERNEL_FROM_F32(gaussian_columns, smp_gaussian)
GAUSSIAN_COLUMNS(gaussian_columns_tiled, smp_gaussian)
