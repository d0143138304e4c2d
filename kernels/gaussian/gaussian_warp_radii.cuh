/* The kernels of gaussian that gaussian_warp.cuh makes: gaussian_warpRADIUS_CHANNELS_IN_OUT, for 1, 3 and 4 channels.
 * WARPS(R, C): the least warps an SM, for their registers. */
#pragma once

#include "gaussian/gaussian.h"

#include "gaussian/gaussian_warp.cuh"

#define GAUSSIAN_WARP_OF(R, C, WARPS, IN, in, OUT, out)                                                                \
    SMP_KERNEL_BOUNDS(32, WARPS(R, C), gaussian_warp##R##_##C##_##in##_##out, smp_gaussian, io, p)                     \
    {                                                                                                                  \
        gaussian_column_walk_plain<IN, OUT, R, C>(io, p);                                                              \
    }
#define GAUSSIAN_WARP(R, WARPS, IN, in, OUT, out)                                                                      \
    GAUSSIAN_WARP_OF(R, 1, WARPS, IN, in, OUT, out)                                                                    \
    GAUSSIAN_WARP_OF(R, 3, WARPS, IN, in, OUT, out)                                                                    \
    GAUSSIAN_WARP_OF(R, 4, WARPS, IN, in, OUT, out)
