/* sharpen on GPUs for u8 and small radii: see sharpen_warp.cuh. */
#include "gaussian/sharpen_warp.cuh"

#define SHARPEN_U8(R, C)                                                                                               \
    SMP_KERNEL_BOUNDS(32, SMP_SHARPEN_WARPS_U8(R), sharpen_warp##R##_##C##_u8_u8, smp_sharpen, io, p)                  \
    {                                                                                                                  \
        sharpen_column_walk<uint8_t, R, C>(io, p);                                                                     \
    }
#define SHARPEN_U8_ALL(R) SHARPEN_U8(R, 1) SHARPEN_U8(R, 3) SHARPEN_U8(R, 4)
SHARPEN_U8_ALL(2)
SHARPEN_U8_ALL(3)
SHARPEN_U8_ALL(4)
SHARPEN_U8_ALL(5)
SHARPEN_U8_ALL(6)
SHARPEN_U8_ALL(7)
SHARPEN_U8_ALL(8)
