/* gaussian on GPUs for bytes, where gaussian_banded.cu is not for them: see bell_warp.cuh. */
#include "gaussian_warp.cuh"

#define WARPS(R, C) (R <= 2 ? 24 : R <= 3 ? 14 : 8) /* fewer spill */
GAUSSIAN_WARP(2, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(3, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP_OF(12, 4, WARPS, uint8_t, u8, uint8_t, u8)
GAUSSIAN_WARP(16, WARPS, uint8_t, u8, uint8_t, u8)
