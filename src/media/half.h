/* Floats of 16 bits. */
#pragma once

#include <stdint.h>
#include <string.h>

/* To the nearest, ties to even, as IEEE 754 has it. */
static inline uint16_t smp_half_of(float v)
{
    enum { LEAST_NORMAL = 0x38800000, INFINITE = 0x477ff000 /* 65520 rounds up to it */, NAN_ABOVE = 0x7f800000 };
    uint32_t bits, sign;
    memcpy(&bits, &v, sizeof bits);
    sign = bits >> 16 & 0x8000u;
    bits &= 0x7fffffffu;
    if (bits > NAN_ABOVE)
        return (uint16_t)(sign | 0x7e00u);
    if (bits >= INFINITE)
        return (uint16_t)(sign | 0x7c00u);
    if (bits < LEAST_NORMAL) { /* steps of 2^-24, which floats from 1/2 on have */
        float sum;
        memcpy(&sum, &bits, sizeof sum);
        sum += 0.5f;
        memcpy(&bits, &sum, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000u));
    }
    bits += 0xfffu + (bits >> 13 & 1u);
    return (uint16_t)(sign | (bits - 0x38000000u) >> 13);
}
