/* gaussian on GPUs between u8 and f32 for small radii, as in the middle of a chain: see gaussian_warp.cuh. */
#include "gaussian/gaussian_warp_radii.cuh"

#define WARPS(R, C) (R <= 2 ? 28 : 20)
GAUSSIAN_WARP(2, WARPS, uint8_t, u8, float, f32)
GAUSSIAN_WARP(3, WARPS, uint8_t, u8, float, f32)
GAUSSIAN_WARP(1, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(2, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(3, WARPS, float, f32, uint8_t, u8)
