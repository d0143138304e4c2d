/* gaussian on GPUs between u8 and f32 for small radii, as in the middle of a chain: see gaussian_warp.cuh. */
#include "gaussian/gaussian_warp_radii.cuh"

GAUSSIAN_WARP(2, SMP_GAUSSIAN_WARPS_MIXED, uint8_t, u8, float, f32)
GAUSSIAN_WARP(3, SMP_GAUSSIAN_WARPS_MIXED, uint8_t, u8, float, f32)
GAUSSIAN_WARP(1, SMP_GAUSSIAN_WARPS_MIXED, float, f32, uint8_t, u8)
GAUSSIAN_WARP(2, SMP_GAUSSIAN_WARPS_MIXED, float, f32, uint8_t, u8)
GAUSSIAN_WARP(3, SMP_GAUSSIAN_WARPS_MIXED, float, f32, uint8_t, u8)
