/* sharpen on GPUs for f32 and small radii: see sharpen_warp.cuh. */
#include "gaussian/sharpen_warp.cuh"

#define SHARPEN_F32(R, C)                                                                                              \
    SMP_KERNEL_BOUNDS(32, SMP_SHARPEN_WARPS_F32(R), sharpen_warp##R##_##C##_f32_f32, smp_sharpen, io, p)               \
    {                                                                                                                  \
        sharpen_column_walk<float, R, C>(io, p);                                                                       \
    }
#define SHARPEN_F32_ALL(R) SHARPEN_F32(R, 1) SHARPEN_F32(R, 3) SHARPEN_F32(R, 4)
SHARPEN_F32_ALL(1)
SHARPEN_F32_ALL(2)
SHARPEN_F32_ALL(3)
SHARPEN_F32_ALL(4)
SHARPEN_F32_ALL(5)
SHARPEN_F32_ALL(6)
SHARPEN_F32_ALL(7)
SHARPEN_F32_ALL(8)
