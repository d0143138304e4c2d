/* gaussian on GPUs for bytes, where gaussian_banded.cu is not for them: see bell_warp.cuh. */
#include "gaussian_warp.cuh"

#define WARPS(R, C)       (R <= 2 ? 24 : R <= 3 ? 14 : 8) /* fewer spill */
#define LOOSE_WARPS(R, C) (R <= 2 ? 16 : WARPS(R, C))
#define BYTES(R)                                                                                                       \
    GAUSSIAN_WARP(R, WARPS, uint8_t, u8, uint8_t, u8)                                                                  \
    GAUSSIAN_LOOSE(R, 1, LOOSE_WARPS, uint8_t, u8)                                                                     \
    GAUSSIAN_LOOSE(R, 3, LOOSE_WARPS, uint8_t, u8)
BYTES(2)
BYTES(3)
GAUSSIAN_WARP_OF(12, 4, WARPS, false, uint8_t, u8, uint8_t, u8)
BYTES(16)
