/* gaussian on GPUs from bytes to f32 and back, for small radii, as in the midst of a chain: see bell_warp.cuh. */
#include "gaussian.h"

#include "bell_warp.cuh"

/* The least warps an SM, for their registers. */
#define GAUSSIAN_MIXED(R, C, IN, in, OUT, out)                                                                         \
    SMP_KERNEL_BOUNDS(32,                                                                                              \
                      (R <= 2    ? 28                                                                                  \
                       : R <= 4  ? 20                                                                                  \
                       : R <= 8  ? 14                                                                                  \
                       : R <= 12 ? 10                                                                                  \
                                 : 8),                                                                                 \
                      gaussian_warp##R##_##C##_##in##_##out, smp_bell, io, p)                                          \
    {                                                                                                                  \
        bell_march_plain<IN, OUT, R, C>(io, p);                                                                        \
    }
#define GAUSSIAN_TO_REALS(R)                                                                                           \
    GAUSSIAN_MIXED(R, 1, uint8_t, u8, float, f32)                                                                      \
    GAUSSIAN_MIXED(R, 3, uint8_t, u8, float, f32)                                                                      \
    GAUSSIAN_MIXED(R, 4, uint8_t, u8, float, f32)
#define GAUSSIAN_TO_BYTES(R)                                                                                           \
    GAUSSIAN_MIXED(R, 1, float, f32, uint8_t, u8)                                                                      \
    GAUSSIAN_MIXED(R, 3, float, f32, uint8_t, u8)                                                                      \
    GAUSSIAN_MIXED(R, 4, float, f32, uint8_t, u8)
GAUSSIAN_TO_REALS(2)
GAUSSIAN_TO_REALS(4)
GAUSSIAN_TO_REALS(6)
GAUSSIAN_TO_REALS(8)
GAUSSIAN_TO_REALS(12)
GAUSSIAN_TO_REALS(16)
GAUSSIAN_TO_BYTES(1)
GAUSSIAN_TO_BYTES(2)
GAUSSIAN_TO_BYTES(3)
GAUSSIAN_TO_BYTES(4)
GAUSSIAN_TO_BYTES(5)
GAUSSIAN_TO_BYTES(6)
GAUSSIAN_TO_BYTES(7)
GAUSSIAN_TO_BYTES(8)
