/* 16-bit floats as bits: IEEE half precision and bfloat16, rounded to nearest even. */
#ifndef SMP_WARP_PTX_HALF_H
#define SMP_WARP_PTX_HALF_H

#include <stdint.h>
#include <string.h>

static inline float warp_bits_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static inline uint32_t warp_float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static inline double warp_bits_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}
static inline uint64_t warp_double_bits(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return bits;
}

static inline float warp_half_float(uint32_t half)
{
    const uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 31)
        return warp_bits_float(sign | 0x7f800000 | mantissa << 13);
    if (exponent)
        return warp_bits_float(sign | (exponent + 112) << 23 | mantissa << 13);
    const float small = (float)mantissa * 0x1p-24f;
    return warp_bits_float(sign | warp_float_bits(small));
}

/* From a double, so that a sum or product of halves is rounded once. */
static inline uint32_t warp_half_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    const uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
    const int exponent = (int)(bits >> 52 & 2047) - 1023;
    const uint64_t mantissa = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1) << 52;
    if (exponent == 1024)
        return bits << 12 ? 0x7fff : sign | 0x7c00;
    if (exponent > 15)
        return sign | 0x7c00;
    if (exponent < -25)
        return sign;
    const int drop = exponent >= -14 ? 42 : 42 - 14 - exponent; /* bits of the mantissa that are rounded away */
    uint64_t kept = mantissa >> drop;
    const uint64_t rest = mantissa & ((UINT64_C(1) << drop) - 1), tie = UINT64_C(1) << (drop - 1);
    kept += rest > tie || (rest == tie && kept & 1);
    return sign | (uint32_t)(exponent >= -14 ? ((uint64_t)(exponent + 14) << 10) + kept : kept);
}

static inline float warp_bf16_float(uint32_t bits)
{
    return warp_bits_float(bits << 16);
}
static inline uint32_t warp_bf16_bits(float value)
{
    const uint32_t bits = warp_float_bits(value);
    if (value != value)
        return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

#endif
