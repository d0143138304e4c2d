/* sharpen on GPUs for f32 and small radii: see sharpen_warp.cuh. */
#include "gaussian/sharpen_warp.cuh"

#define SHARPEN_REALS(R, C)                                                                                            \
    SMP_KERNEL_BOUNDS(32, SMP_SHARPEN_WARPS_F32(R), sharpen_warp##R##_##C##_f32_f32, smp_sharpen, io, p)               \
    {                                                                                                                  \
        sharpen_column_walk<float, R, C>(io, p);                                                                       \
    }
#define SHARPEN_REALS_ALL(R) SHARPEN_REALS(R, 1) SHARPEN_REALS(R, 3) SHARPEN_REALS(R, 4)
SHARPEN_REALS_ALL(1)
SHARPEN_REALS_ALL(2)
SHARPEN_REALS_ALL(3)
SHARPEN_REALS_ALL(4)
SHARPEN_REALS_ALL(5)
SHARPEN_REALS_ALL(6)
SHARPEN_REALS_ALL(7)
SHARPEN_REALS_ALL(8)
