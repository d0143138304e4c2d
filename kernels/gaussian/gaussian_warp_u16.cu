/* gaussian on GPUs for u16 and small radii: see gaussian_warp.cuh. */
#include "gaussian/gaussian_warp_radii.cuh"

#define WARPS(R, C)     (R <= 2 ? 24 : R <= 4 ? 12 : R <= 8 ? 11 : 8) /* fewer would spill */
#define GAUSSIAN_U16(R) GAUSSIAN_WARP(R, WARPS, uint16_t, u16, uint16_t, u16)
GAUSSIAN_U16(2)
GAUSSIAN_U16(4)
GAUSSIAN_U16(8)
GAUSSIAN_U16(12)
GAUSSIAN_U16(16)
