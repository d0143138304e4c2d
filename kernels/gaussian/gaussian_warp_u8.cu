/* gaussian on GPUs for u8 and small radii: see gaussian_warp.cuh. Radii of 4 to 12 are the rung below
 * gaussian_mma_u8.cu, which lacks four channels of radius 12. */
#include "gaussian/gaussian_warp_radii.cuh"

#define GAUSSIAN_U8(R) GAUSSIAN_WARP(R, SMP_GAUSSIAN_WARPS_U8, uint8_t, u8, uint8_t, u8)
GAUSSIAN_U8(2)
GAUSSIAN_U8(3)
GAUSSIAN_U8(4)
GAUSSIAN_U8(8)
GAUSSIAN_U8(12)
GAUSSIAN_U8(16)
