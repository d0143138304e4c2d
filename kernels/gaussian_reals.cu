/* gaussian on GPUs for f32 and small radii: see bell_warp.cuh. */
#include "gaussian_warp.cuh"

#define WARPS(R, C) (R <= 2 ? 28 : R <= 4 ? 20 : R <= 8 ? 14 : R <= (C == 1 ? 15 : 12) ? 10 : 8)
#define REALS(R)                                                                                                       \
    GAUSSIAN_WARP_OF(R, 1, WARPS, true, float, f32, float, f32)                                                        \
    GAUSSIAN_WARP_OF(R, 3, WARPS, true, float, f32, float, f32)                                                        \
    GAUSSIAN_WARP_OF(R, 4, WARPS, false, float, f32, float, f32)
REALS(1)
REALS(2)
REALS(3)
REALS(4)
REALS(5)
REALS(6)
REALS(7)
REALS(8)
REALS(9)
REALS(10)
REALS(11)
REALS(12)
REALS(13)
REALS(14)
REALS(15)
REALS(16)
