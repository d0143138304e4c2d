/* Logarithm, exponential and power in f32 for kernels: the same arithmetic for every compiler and device. Library
 * functions differ in the last bit between C libraries, and between CPU and GPU, which would break "same bytes
 * everywhere". These use only IEEE operations, fmaf and bit patterns, have no branches (compilers vectorise loops over
 * them) and take about 30 operations.
 *
 * The polynomials are minimax fits (Remez) whose coefficients were rounded to f32; tests/kernels/math.c checks the
 * stated errors against the C library's double functions. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lib/view.h"

SMP_FORMULA uint32_t smp_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
SMP_FORMULA float smp_from_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The sign and payload of a NaN depend on the processor and on the order of operands. Stages that compute pass their
 * result through this function, so that all their NaNs are equal. */
SMP_FORMULA float smp_one_nan(float v)
{
    return v == v ? v : smp_from_bits(0x7fc00000u);
}

/* |v| and |v| with the sign of `sign`, by bits: no library call. */
SMP_FORMULA float smp_abs(float v)
{
    return smp_from_bits(smp_bits(v) & 0x7fffffffu);
}
SMP_FORMULA float smp_with_sign(float v, float sign)
{
    return smp_from_bits((smp_bits(v) & 0x7fffffffu) | (smp_bits(sign) & 0x80000000u));
}

/* x = 2^*exponent * m with m in [sqrt(1/2), sqrt(2)); returns log2(m), |error| <= 5e-8. x: positive and finite, else
 * the result is meaningless (but defined). */
SMP_FORMULA float smp_log2_parts(float x, float *exponent)
{
    const int subnormal = x < 1.17549435e-38f;
    uint32_t bits = smp_bits(subnormal ? x * 8388608.f : x);
    uint32_t offset = bits - 0x3f3504f3u; /* the bits of sqrt(1/2) */
    *exponent = (float)((int32_t)offset >> 23) - (subnormal ? 23.f : 0.f);
    float t = smp_from_bits((offset & 0x007fffffu) + 0x3f3504f3u) - 1.f;
    float q = -0.11288138f; /* log2(1 + t) = t / ln 2 + t^2 q(t); fit: 6.2e-9 |t| */
    q = fmaf(q, t, 0.18760770f);
    q = fmaf(q, t, -0.19055028f);
    q = fmaf(q, t, 0.20433727f);
    q = fmaf(q, t, -0.23965013f);
    q = fmaf(q, t, 0.28858246f);
    q = fmaf(q, t, -0.36069562f);
    q = fmaf(q, t, 0.48089799f);
    q = fmaf(q, t, -0.72134737f);
    return t * fmaf(q, t, 1.44269504f);
}

/* 2^(whole + part), relative error <= 1.5e-7 plus that of the argument. `part` should be small (|part| <= 8), so that
 * it keeps its digits next to a large `whole`. Below 2^-150: 0; from 2^128: infinity. NaN: unspecified, but defined. */
SMP_FORMULA float smp_exp2_parts(float whole, float part)
{
    float z = whole + part;
    z = z < -160.f ? -160.f : z;
    z = z > 160.f ? 160.f : z;
    float shifted = z + 12582912.f; /* 1.5 * 2^23: the integer nearest to z sits in the low bits */
    float f = (whole - (shifted - 12582912.f)) + part;
    f = f < -1.f ? -1.f : f; /* outside -0.5..0.5 only where the result is 0 or infinite */
    f = f > 1.f ? 1.f : f;
    float p = 1.5321351e-4f; /* 2^f = 1 + f ln 2 + f^2 p(f); fit: 3.1e-9 */
    p = fmaf(p, f, 1.3390107e-3f);
    p = fmaf(p, f, 9.6185248e-3f);
    p = fmaf(p, f, 5.5503624e-2f);
    p = fmaf(p, f, 0.24022648f);
    p = fmaf(p, f, 0.69314718f);
    p = fmaf(p, f, 1.f);
    int32_t n = (int32_t)(smp_bits(shifted) - 0x4b400000u), half = n >> 1;
    /* Two factors: results below the normal range round once, and those above it overflow. */
    float low = smp_from_bits((uint32_t)(half + 127) << 23);
    float high = smp_from_bits(((uint32_t)n - (uint32_t)half + 127u) << 23);
    return p * low * high;
}

/* log2(x): error <= 6e-8 + 6e-8 |log2 x|. 0 gives -infinity, below 0 and NaN give NaN. */
SMP_FORMULA float smp_log2f_(float x)
{
    float exponent, log2_m = smp_log2_parts(x, &exponent), r = exponent + log2_m;
    r = x == 0.f ? -INFINITY : r;
    r = x == INFINITY ? x : r;
    return x >= 0.f ? r : smp_from_bits(0x7fc00000u);
}

/* 2^x: relative error <= 1.5e-7. NaN gives NaN. */
SMP_FORMULA float smp_exp2f_(float x)
{
    float r = smp_exp2_parts(x, 0.f);
    return x == x ? r : smp_from_bits(0x7fc00000u);
}

/* x^y for x >= 0 and y > 0: relative error <= 2e-7 (1 + y / 4) for normal results; 0^y = 0, 1^y = 1 and infinity^y =
 * infinity exactly. x < 0 and NaN give NaN. The product y log2(x) has two parts: in one f32 its rounding alone would
 * cost 1e-6 when log2(x) is near -16. */
SMP_FORMULA float smp_powf_(float x, float y)
{
    float exponent, log2_m = smp_log2_parts(x, &exponent);
    float whole = y * exponent, part = fmaf(y, log2_m, fmaf(y, exponent, -whole));
    float r = smp_exp2_parts(whole, part);
    r = x == 0.f || x == INFINITY ? x : r;
    return x >= 0.f ? smp_abs(r) : smp_from_bits(0x7fc00000u);
}
