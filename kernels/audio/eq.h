/* eq: one second-order filter. Parameters, kernels. The definition: biquad.h, in double, rounded to f32 once. */
#pragma once

#include "audio/biquad.h"
#include "lib/exact_math.h"

enum {
    SMP_EQ_LANES = 16, /* CPU: recursions side by side, one of a segment and channel each */
    SMP_EQ_TILE = 64,  /* CPU: frames that are turned into lanes at a time */
    SMP_EQ_FRAMES = 32 /* GPU: the same, of a warp */
};

typedef struct smp_eq {
    smp_biquad filter;
    smp_segments segments;
} smp_eq;

/* CPU scratch: a tile of lanes. */
SMP_HOST_DEVICE size_t smp_eq_scratch(void)
{
    return (size_t)SMP_EQ_TILE * SMP_EQ_LANES * sizeof(float);
}

SMP_CPU_DECLARE(eq_naive);
SMP_CPU_DECLARE(eq_tiled);
