/* gaussian on GPUs for 16 bits and small radii: see bell_warp.cuh. */
#include "gaussian_warp.cuh"

#define WARPS(R, C) (R <= 2 ? 24 : R <= 4 ? 12 : R <= 8 ? 11 : 8) /* fewer spill */
GAUSSIAN_WARP(2, WARPS, uint16_t, u16, uint16_t, u16)
GAUSSIAN_WARP(4, WARPS, uint16_t, u16, uint16_t, u16)
GAUSSIAN_WARP(8, WARPS, uint16_t, u16, uint16_t, u16)
GAUSSIAN_WARP(12, WARPS, uint16_t, u16, uint16_t, u16)
GAUSSIAN_WARP(16, WARPS, uint16_t, u16, uint16_t, u16)
