/* gaussian on GPUs for bytes and small radii: see bell_warp.cuh. */
#include "gaussian.h"

#include "bell_warp.cuh"

/* The least warps an SM, for their registers: fewer of these spill. */
#define GAUSSIAN_BYTES(R, C)                                                                                           \
    SMP_KERNEL_BOUNDS(32,                                                                                              \
                      (R <= 2   ? 24                                                                                   \
                       : R <= 3 ? 14                                                                                   \
                       : R <= 6 ? 12                                                                                   \
                       : R <= 8 ? 11                                                                                   \
                                : 8),                                                                                  \
                      gaussian_warp##R##_##C##_u8_u8, smp_bell, io, p)                                                 \
    {                                                                                                                  \
        bell_march_plain<uint8_t, uint8_t, R, C>(io, p);                                                               \
    }
#define GAUSSIAN_BYTES_ALL(R) GAUSSIAN_BYTES(R, 1) GAUSSIAN_BYTES(R, 3) GAUSSIAN_BYTES(R, 4)
GAUSSIAN_BYTES_ALL(2)
GAUSSIAN_BYTES_ALL(3)
GAUSSIAN_BYTES_ALL(4)
GAUSSIAN_BYTES_ALL(5)
GAUSSIAN_BYTES_ALL(6)
GAUSSIAN_BYTES_ALL(7)
GAUSSIAN_BYTES_ALL(8)
GAUSSIAN_BYTES_ALL(10)
GAUSSIAN_BYTES_ALL(12)
GAUSSIAN_BYTES_ALL(16)
