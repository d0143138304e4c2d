/* The kernels of gaussian that bell_warp.cuh makes: gaussian_warpRADIUS_CHANNELS_IN_OUT, for 1, 3 and 4 channels.
 * WARPS(R, C): the least warps an SM, for their registers. */
#ifndef SMP_KERNELS_GAUSSIAN_WARP_CUH
#define SMP_KERNELS_GAUSSIAN_WARP_CUH

#include "gaussian.h"

#include "bell_warp.cuh"

#define GAUSSIAN_WARP_OF(R, C, WARPS, BOTH, IN, in, OUT, out)                                                          \
    SMP_KERNEL_BOUNDS(32, WARPS(R, C), gaussian_warp##R##_##C##_##in##_##out, smp_bell, io, p)                         \
    {                                                                                                                  \
        bell_march_plain<IN, OUT, R, C, BOTH>(io, p);                                                                  \
    }
#define GAUSSIAN_WARP(R, WARPS, IN, in, OUT, out)                                                                      \
    GAUSSIAN_WARP_OF(R, 1, WARPS, false, IN, in, OUT, out)                                                             \
    GAUSSIAN_WARP_OF(R, 3, WARPS, false, IN, in, OUT, out)                                                             \
    GAUSSIAN_WARP_OF(R, 4, WARPS, false, IN, in, OUT, out)

/* Rows that begin anywhere are a march of their own where there are 1 or 3 channels of one format, in the same kernel
 * or in gaussian_warpRADIUS_CHANNELS_loose_IN_OUT, whichever was faster (smp_bell_loose()): bytes are up to 10 % faster
 * apart, floats and 16 bits in three channels lose 1 to 3 %, in their aligned rows too. */
#define GAUSSIAN_LOOSE(R, C, WARPS, T, t)                                                                              \
    SMP_KERNEL_BOUNDS(32, WARPS(R, C), gaussian_warp##R##_##C##_loose_##t##_##t, smp_bell, io, p)                      \
    {                                                                                                                  \
        bell_march_loose<T, R, C>(io, p);                                                                              \
    }

#endif
