/* ordered: a few evenly spaced values, the nearer or the further of two by a threshold that depends on the place:
 * ordered dithering (Bayer 1973). */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef struct smp_ordered {
    float steps, white; /* values less one; full scale */
} smp_ordered;

/* Bayer's matrix of 8 x 8, 0 to 63: bits of y and of x ^ y take turns, the lowest first. */
SMP_HOST_DEVICE int32_t smp_ordered_rank(int32_t x, int32_t y)
{
    const int32_t z = x ^ y;
    return (z & 1) << 5 | (y & 1) << 4 | (z & 2) << 2 | (y & 2) << 1 | (z & 4) >> 1 | (y & 4) >> 2;
}

SMP_HOST_DEVICE float smp_ordered_sample(float v, int64_t x, int64_t y, const smp_ordered *p)
{
    const float at = v / p->white * p->steps, inside = at > 0.f ? at < p->steps ? at : p->steps : 0.f;
    const float low = floorf(inside);
    const float threshold = ((float)smp_ordered_rank((int32_t)(x & 7), (int32_t)(y & 7)) + 0.5f) / 64.f;
    const float level = low + (inside - low > threshold ? 1.f : 0.f);
    return smp_one_nan(v == v ? level * p->white / p->steps : v);
}

SMP_CPU_DECLARE(ordered_naive);
SMP_CPU_DECLARE(ordered_tiled);
