/* gaussian on GPUs for bytes and small radii: see bell_warp.cuh. */
#include "gaussian_warp.cuh"

#define WARPS(R, C) (R <= 2 ? 24 : R <= 3 ? 14 : R <= 6 ? 12 : R <= 8 ? 11 : 8) /* fewer spill */
GAUSSIAN_WARP(2, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(3, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(4, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(5, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(6, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(7, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(8, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(10, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(12, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(16, WARPS, uint8_t, u8, uint8_t, u8)
