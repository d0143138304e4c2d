/* gaussian on GPUs for 16 bits and small radii: see gaussian_warp.cuh. */
#include "gaussian/gaussian_warp_radii.cuh"

#define WARPS(R, C) (R <= 2 ? 24 : R <= 4 ? 12 : R <= 8 ? 11 : 8) /* fewer spill */
#define SHORTS(R)   GAUSSIAN_WARP(R, WARPS, uint16_t, u16, uint16_t, u16)
SHORTS(2)
SHORTS(4)
SHORTS(8)
SHORTS(12)
SHORTS(16)
