/* gaussian on GPUs for u8 where gaussian_mma_u8.cu does not apply: see gaussian_warp.cuh. */
#include "gaussian/gaussian_warp_radii.cuh"

#define WARPS(R, C) (R <= 2 ? 24 : R <= 3 ? 14 : 8) /* fewer would spill */
GAUSSIAN_WARP(2, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(3, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP_OF(12, 4, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(16, WARPS, uint8_t, u8, uint8_t, u8)
