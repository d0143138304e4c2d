/* Weights and sums of resize.h, a sample at a time. */
#pragma once

#include "lib/exact_math.h"

enum { SMP_RESIZE_BITS = 22, SMP_RESIZE_HALF = 1 << (SMP_RESIZE_BITS - 1) };

SMP_HOST_DEVICE float smp_resize_weight(const int32_t *weight)
{
    return smp_from_bits((uint32_t)*weight);
}

/* A finished sum of SMP_RESIZE_FIXED. */
SMP_HOST_DEVICE int32_t smp_resize_byte(int32_t sum)
{
    sum >>= SMP_RESIZE_BITS;
    return sum < 0 ? 0 : sum > 255 ? 255 : sum;
}
