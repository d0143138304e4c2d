/* Alpha that a file has multiplied into its colours. */
#pragma once

#include <stdint.h>

/* The colour without it, to nearest; 0 where nothing is seen. full: the largest value. */
static inline uint32_t smp_divide_alpha(uint32_t colour, uint32_t alpha, uint32_t full)
{
    const uint64_t value = alpha ? ((uint64_t)colour * full + alpha / 2) / alpha : 0;
    return value > full ? full : (uint32_t)value;
}
