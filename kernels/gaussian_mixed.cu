/* gaussian on GPUs from bytes to f32 and back, for small radii, as in the midst of a chain: see bell_warp.cuh. */
#include "gaussian_warp.cuh"

#define WARPS(R, C) (R <= 2 ? 28 : R <= 4 ? 20 : R <= 8 ? 14 : R <= 12 ? 10 : 8)
GAUSSIAN_WARP(2, WARPS, uint8_t, u8, float, f32)
GAUSSIAN_WARP(4, WARPS, uint8_t, u8, float, f32)
GAUSSIAN_WARP(6, WARPS, uint8_t, u8, float, f32)
GAUSSIAN_WARP(8, WARPS, uint8_t, u8, float, f32)
GAUSSIAN_WARP(12, WARPS, uint8_t, u8, float, f32)
GAUSSIAN_WARP(16, WARPS, uint8_t, u8, float, f32)
GAUSSIAN_WARP(1, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(2, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(3, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(4, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(5, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(6, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(7, WARPS, float, f32, uint8_t, u8)
GAUSSIAN_WARP(8, WARPS, float, f32, uint8_t, u8)
