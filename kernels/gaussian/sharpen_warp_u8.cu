/* sharpen on GPUs for bytes and small radii: see sharpen_warp.cuh. */
#include "gaussian/sharpen_warp.cuh"

#define SHARPEN_BYTES(R, C)                                                                                            \
    SMP_KERNEL_BOUNDS(32, SMP_SHARPEN_WARPS_U8(R), sharpen_warp##R##_##C##_u8_u8, smp_sharpen, io, p)                  \
    {                                                                                                                  \
        sharpen_column_walk<uint8_t, R, C>(io, p);                                                                     \
    }
#define SHARPEN_BYTES_ALL(R) SHARPEN_BYTES(R, 1) SHARPEN_BYTES(R, 3) SHARPEN_BYTES(R, 4)
SHARPEN_BYTES_ALL(2)
SHARPEN_BYTES_ALL(3)
SHARPEN_BYTES_ALL(4)
SHARPEN_BYTES_ALL(5)
SHARPEN_BYTES_ALL(6)
SHARPEN_BYTES_ALL(7)
SHARPEN_BYTES_ALL(8)
