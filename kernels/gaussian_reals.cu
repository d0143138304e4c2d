/* gaussian on GPUs for f32 and small radii: see bell_warp.cuh. */
#include "gaussian.h"

#include "bell_warp.cuh"

/* The least warps an SM, for their registers. */
#define GAUSSIAN_REALS(R, C)                                                                                           \
    SMP_KERNEL_BOUNDS(32,                                                                                              \
                      (R <= 2                    ? 28                                                                  \
                       : R <= 4                  ? 20                                                                  \
                       : R <= 8                  ? 14                                                                  \
                       : R <= (C == 1 ? 15 : 12) ? 10                                                                  \
                                                 : 8),                                                                 \
                      gaussian_warp##R##_##C##_f32_f32, smp_bell, io, p)                                               \
    {                                                                                                                  \
        bell_march_plain<float, float, R, C>(io, p);                                                                   \
    }
#define GAUSSIAN_REALS_ALL(R) GAUSSIAN_REALS(R, 1) GAUSSIAN_REALS(R, 3) GAUSSIAN_REALS(R, 4)
GAUSSIAN_REALS_ALL(1)
GAUSSIAN_REALS_ALL(2)
GAUSSIAN_REALS_ALL(3)
GAUSSIAN_REALS_ALL(4)
GAUSSIAN_REALS_ALL(5)
GAUSSIAN_REALS_ALL(6)
GAUSSIAN_REALS_ALL(7)
GAUSSIAN_REALS_ALL(8)
GAUSSIAN_REALS_ALL(9)
GAUSSIAN_REALS_ALL(10)
GAUSSIAN_REALS_ALL(11)
GAUSSIAN_REALS_ALL(12)
GAUSSIAN_REALS_ALL(13)
GAUSSIAN_REALS_ALL(14)
GAUSSIAN_REALS_ALL(15)
GAUSSIAN_REALS_ALL(16)
