/* 16-bit floats as bits: IEEE half precision and bfloat16, rounded to nearest even. */
#pragma once

#include <math.h>
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

/* Arithmetic on 32-bit floats makes one NaN, whatever its operands: 0x7fffffff (an H200). */
static inline float warp_one_nan(float f)
{
    return f == f ? f : warp_bits_float(0x7fffffff);
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

static inline double warp_quiet(double d)
{
    return d == d ? d : warp_bits_double(warp_double_bits(d) | UINT64_C(1) << 51);
}
/* The result of arithmetic on doubles, whose NaN is that of an operand, the first of those named, made quiet: with its
 * sign, whatever the instruction does to that. Where no operand is one it is 0xfff8000000000000 (an H200). */
static inline double warp_nan_of(double result, double first, double second, double third)
{
    if (result == result)
        return result;
    const double from = first != first ? first : second != second ? second : third;
    return from == from ? warp_bits_double(UINT64_C(0xfff8) << 48) : warp_quiet(from);
}

static inline float warp_flushed(float f)
{
    const uint32_t bits = warp_float_bits(f);
    return bits & 0x7f800000 ? f : warp_bits_float(bits & 0x80000000);
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

/* Converts a double: a NaN keeps the upper bits of its payload. */
static inline uint32_t warp_half_of_double(double d)
{
    const uint64_t bits = warp_double_bits(d);
    return d == d ? warp_half_bits(d) : (uint32_t)(bits >> 48 & 0x8000) | 0x7e00 | (uint32_t)(bits >> 42 & 0x1ff);
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
/* x * y + z of three of bfloat16 as a float that is rounded to bfloat16 as the exact sum is: where the nearest float is
 * half way between two of those, what it was rounded from decides. */
static inline float warp_bf16_fma(float x, float y, float z)
{
    const float near = fmaf(x, y, z);
    const uint32_t bits = warp_float_bits(near);
    if ((bits & 0xffff) != 0x8000)
        return near;
    const double rest = ((double)x * (double)y - (double)near + (double)z) * (double)near;
    return warp_bits_float(bits + (rest > 0) - (rest < 0));
}
