/* gaussian on GPUs for bytes and small radii: see gaussian_warp.cuh. Those of 4 to 12 px are the rung below
 * gaussian_mma_u8.cu, but for four channels and 12 px, which it lacks. */
#include "gaussian/gaussian_warp_radii.cuh"

#define BYTES(R) GAUSSIAN_WARP(R, SMP_GAUSSIAN_WARPS_U8, uint8_t, u8, uint8_t, u8)
BYTES(2)
BYTES(3)
BYTES(4)
BYTES(8)
BYTES(12)
BYTES(16)
