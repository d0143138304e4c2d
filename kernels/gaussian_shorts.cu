/* gaussian on GPUs for 16 bits and small radii: see bell_warp.cuh. */
#include "gaussian.h"

#include "bell_warp.cuh"

/* The least warps an SM, for their registers: fewer of these spill. */
#define GAUSSIAN_SHORTS(R, C)                                                                                          \
    SMP_KERNEL_BOUNDS(32,                                                                                              \
                      (R <= 2   ? 24                                                                                   \
                       : R <= 4 ? 12                                                                                   \
                       : R <= 8 ? 11                                                                                   \
                                : 8),                                                                                  \
                      gaussian_warp##R##_##C##_u16_u16, smp_bell, io, p)                                               \
    {                                                                                                                  \
        bell_march_plain<uint16_t, uint16_t, R, C>(io, p);                                                             \
    }
#define GAUSSIAN_SHORTS_ALL(R) GAUSSIAN_SHORTS(R, 1) GAUSSIAN_SHORTS(R, 3) GAUSSIAN_SHORTS(R, 4)
GAUSSIAN_SHORTS_ALL(2)
GAUSSIAN_SHORTS_ALL(4)
GAUSSIAN_SHORTS_ALL(8)
GAUSSIAN_SHORTS_ALL(12)
GAUSSIAN_SHORTS_ALL(16)
