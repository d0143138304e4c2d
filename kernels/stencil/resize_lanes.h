/* Eight words side by side, floats or integers, for the CPU's resize: one register where there is AVX2. Included by
 * kernel files only. */
#pragma once

#include <string.h>

#include "lib/cpu_kernel.h"
#include "stencil/resize_weight.h"

#ifdef __AVX2__
typedef __m256i resize_lanes;

SMP_INLINE resize_lanes resize_load(const int32_t *from)
{
    return _mm256_loadu_si256((const __m256i_u *)(const void *)from);
}
SMP_INLINE void resize_keep(int32_t *to, resize_lanes v)
{
    _mm256_storeu_si256((__m256i_u *)(void *)to, v);
}
/* The value that sums begin with. */
SMP_INLINE resize_lanes resize_zero(int fixed)
{
    return fixed ? _mm256_set1_epi32(SMP_RESIZE_HALF) : _mm256_setzero_si256();
}
SMP_INLINE resize_lanes resize_tap(resize_lanes sum, const int32_t *weight, resize_lanes v, int fixed)
{
    if (fixed)
        return _mm256_add_epi32(sum, _mm256_mullo_epi32(_mm256_set1_epi32(*weight), v));
    return _mm256_castps_si256(_mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_set1_epi32(*weight)), _mm256_castsi256_ps(v),
                                               _mm256_castsi256_ps(sum)));
}
SMP_INLINE resize_lanes resize_bytes(resize_lanes sum)
{
    sum = _mm256_max_epi32(_mm256_srai_epi32(sum, SMP_RESIZE_BITS), _mm256_setzero_si256());
    return _mm256_min_epi32(sum, _mm256_set1_epi32(255));
}

/* Lane j of v[i] to lane i of v[j]. */
SMP_INLINE void resize_turn(resize_lanes v[8])
{
    __m256i a[8], b[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_epi32(v[i], v[i + 1]);
        a[i + 1] = _mm256_unpackhi_epi32(v[i], v[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_unpacklo_epi64(a[i], a[i + 2]);
        b[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 2]);
        b[i + 2] = _mm256_unpacklo_epi64(a[i + 1], a[i + 3]);
        b[i + 3] = _mm256_unpackhi_epi64(a[i + 1], a[i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x20);
        v[i + 4] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x31);
    }
}

/* Eight bytes of each of eight rows, from byte `at` on, to eight words of each of eight columns. */
SMP_INLINE void resize_turn_bytes(int32_t *to, const char *const rows[8], int64_t at, int fixed)
{
    __m128i a[4], b[4], c[4];
    uint8_t turned[64] __attribute__((aligned(64)));
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        a[i] = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i_u *)(const void *)(rows[2 * i] + at)),
                                 _mm_loadl_epi64((const __m128i_u *)(const void *)(rows[2 * i + 1] + at)));
    b[0] = _mm_unpacklo_epi16(a[0], a[1]);
    b[1] = _mm_unpackhi_epi16(a[0], a[1]);
    b[2] = _mm_unpacklo_epi16(a[2], a[3]);
    b[3] = _mm_unpackhi_epi16(a[2], a[3]);
    c[0] = _mm_unpacklo_epi32(b[0], b[2]);
    c[1] = _mm_unpackhi_epi32(b[0], b[2]);
    c[2] = _mm_unpacklo_epi32(b[1], b[3]);
    c[3] = _mm_unpackhi_epi32(b[1], b[3]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        _mm_store_si128((__m128i *)(void *)(turned + 16 * i), c[i]);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i_u *)(const void *)(turned + 8 * i)));
        resize_keep(to + 8 * i, fixed ? v : _mm256_castps_si256(_mm256_cvtepi32_ps(v)));
    }
}
#else
typedef union resize_lanes {
    float f[8];
    int32_t i[8];
} resize_lanes;

SMP_INLINE resize_lanes resize_load(const int32_t *from)
{
    resize_lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}
SMP_INLINE void resize_keep(int32_t *to, resize_lanes v)
{
    memcpy(to, &v, sizeof v);
}
SMP_INLINE resize_lanes resize_zero(int fixed)
{
    resize_lanes v;
    for (int k = 0; k < 8; k++)
        v.i[k] = fixed ? SMP_RESIZE_HALF : 0;
    return v;
}
SMP_INLINE resize_lanes resize_tap(resize_lanes sum, const int32_t *weight, resize_lanes v, int fixed)
{
    if (fixed) {
        for (int k = 0; k < 8; k++)
            sum.i[k] += *weight * v.i[k];
    } else {
        const float w = smp_resize_weight(weight);
        for (int k = 0; k < 8; k++)
            sum.f[k] = fmaf(w, v.f[k], sum.f[k]);
    }
    return sum;
}
SMP_INLINE resize_lanes resize_bytes(resize_lanes sum)
{
    for (int k = 0; k < 8; k++)
        sum.i[k] = smp_resize_byte(sum.i[k]);
    return sum;
}
SMP_INLINE void resize_turn(resize_lanes v[8])
{
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < i; k++) {
            const int32_t word = v[i].i[k];
            v[i].i[k] = v[k].i[i];
            v[k].i[i] = word;
        }
}
#endif

/* Sample i of a row as a word: f32, or a byte's value. */
SMP_INLINE int32_t resize_word(const void *row, int64_t i, int format, int fixed)
{
    const float v = smp_load(row, i, format);
    return fixed ? (int32_t)smp_to_u8(v) : (int32_t)smp_bits(v);
}

/* n samples of a row as words. */
SMP_INLINE void resize_words_as(int32_t *restrict to, const void *restrict row, int64_t n, int format, int fixed)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = resize_word(row, i, format, fixed);
}
static __attribute__((unused)) void resize_words(int32_t *to, const void *row, int64_t n, int format, int fixed)
{
    if (fixed && format == SMP_U8)
        resize_words_as(to, row, n, SMP_U8, 1);
    else if (fixed)
        resize_words_as(to, row, n, SMP_F32, 1);
    else if (format == SMP_U8)
        resize_words_as(to, row, n, SMP_U8, 0);
    else if (format == SMP_U16)
        resize_words_as(to, row, n, SMP_U16, 0);
    else
        memcpy(to, row, (size_t)n * sizeof *to);
}

/* n samples of eight rows, which begin at `rows`, to words that lie side by side: eight for each sample. */
SMP_INLINE void resize_turn_as(int32_t *to, const char *const rows[8], int64_t n, int format, int fixed)
{
    int64_t i = 0;
#ifdef __AVX2__
    if (format == SMP_U8)
        for (; i + 8 <= n; i += 8)
            resize_turn_bytes(to + 8 * i, rows, i, fixed);
    else if (!fixed)
        for (; i + 8 <= n; i += 8) {
            resize_lanes v[8];
#pragma GCC unroll 8
            for (int r = 0; r < 8; r++)
                v[r] = format == SMP_F32 ? resize_load((const int32_t *)(const void *)rows[r] + i)
                                         : _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(
                                               _mm_loadu_si128((const __m128i_u *)(const void *)(rows[r] + 2 * i)))));
            resize_turn(v);
#pragma GCC unroll 8
            for (int r = 0; r < 8; r++)
                resize_keep(to + 8 * (i + r), v[r]);
        }
#endif
    for (; i < n; i++)
        for (int r = 0; r < 8; r++)
            to[8 * i + r] = resize_word(rows[r], i, format, fixed);
}
static __attribute__((unused)) void resize_turn_in(int32_t *to, const char *const rows[8], int64_t n, int format,
                                                   int fixed)
{
    if (fixed && format == SMP_U8)
        resize_turn_as(to, rows, n, SMP_U8, 1);
    else if (fixed)
        resize_turn_as(to, rows, n, SMP_F32, 1);
    else if (format == SMP_U8)
        resize_turn_as(to, rows, n, SMP_U8, 0);
    else if (format == SMP_U16)
        resize_turn_as(to, rows, n, SMP_U16, 0);
    else
        resize_turn_as(to, rows, n, SMP_F32, 0);
}

/* Back: n samples (rounded up to a multiple of eight) to `count` rows. */
static __attribute__((unused)) void resize_turn_out(int32_t *const rows[8], int count, const int32_t *from, int64_t n)
{
    for (int64_t i = 0; i < n; i += 8) {
        resize_lanes v[8];
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            v[k] = resize_load(from + 8 * (i + k));
        resize_turn(v);
        for (int r = 0; r < count; r++)
            resize_keep(rows[r] + i, v[r]);
    }
}
