/* gaussian on GPUs: the blur of bell.cuh, stored as it is. The ladder is told there. */
#include "gaussian.h"

#include "bell.cuh"

struct gaussian_result {
    SMP_MEMBER float operator()(int64_t, int64_t, float blurred) const { return blurred; }
};

template <typename IN, typename OUT> SMP_DEVICE void gaussian_rows(const smp_io &io, const smp_bell &p)
{
    bell_rows_each<IN>(io, p);
}
template <typename IN, typename OUT> SMP_DEVICE void gaussian_rows_tiled(const smp_io &io, const smp_bell &p)
{
    bell_rows_tile<IN>(io, p);
}
template <typename IN, typename OUT> SMP_DEVICE void gaussian_columns(const smp_io &io, const smp_bell &p)
{
    bell_columns_each<OUT>(io, p, gaussian_result());
}
template <typename IN, typename OUT> SMP_DEVICE void gaussian_columns_tiled(const smp_io &io, const smp_bell &p)
{
    bell_columns_tile<OUT>(io, p, gaussian_result());
}
SMP_KERNEL_INTO_F32(gaussian_rows, smp_bell)
SMP_KERNEL_INTO_F32(gaussian_rows_tiled, smp_bell)
SMP_KERNEL_FROM_F32(gaussian_columns, smp_bell)
BELL_COLUMNS(gaussian_columns_tiled, smp_bell)
