/* Vectors of f32 with a fused multiply and add, written out, because compilers keep a block of sums in memory. */
#pragma once

#include <math.h>
#include <string.h>

#include "lib/cpu_kernel.h"

#if defined(__AVX512F__)
enum { LANES = 16 };
typedef __m512 vec;
#define VEC_LOAD(p)      _mm512_loadu_ps(p)
#define VEC_STORE(p, v)  _mm512_storeu_ps(p, v)
#define VEC_ALL(s)       _mm512_set1_ps(s)
#define VEC_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#elif defined(__AVX2__) && defined(__FMA__)
enum { LANES = 8 };
typedef __m256 vec;
#define VEC_LOAD(p)      _mm256_loadu_ps(p)
#define VEC_STORE(p, v)  _mm256_storeu_ps(p, v)
#define VEC_ALL(s)       _mm256_set1_ps(s)
#define VEC_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#else
enum { LANES = 4 };
typedef struct vec {
    float v[LANES];
} vec;
SMP_INLINE vec VEC_LOAD(const float *p)
{
    vec r;
    memcpy(&r, p, sizeof r);
    return r;
}
SMP_INLINE void VEC_STORE(float *p, vec v)
{
    memcpy(p, &v, sizeof v);
}
SMP_INLINE vec VEC_ALL(float s)
{
    vec r;
    for (int i = 0; i < LANES; i++)
        r.v[i] = s;
    return r;
}
SMP_INLINE vec VEC_FMA(vec a, vec b, vec c)
{
    for (int i = 0; i < LANES; i++)
        c.v[i] = fmaf(a.v[i], b.v[i], c.v[i]);
    return c;
}
#endif
