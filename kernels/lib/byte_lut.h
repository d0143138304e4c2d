/* Bytes through a table of bytes, one a channel, on the CPU. Four ways, the fastest that the processor has:
 *   permutations  of 128 entries at a time, with AVX-512's VBMI, which x86-64-v4 does not include
 *   shuffles      of 16 entries at a time, with vectors of 32 bytes or more, for one table
 *   words         one load and one store for eight look-ups, for up to four channels
 *   bytes         one by one, for more channels */
#pragma once

#include <string.h>

#include "lib/cpu_kernel.h"

#ifdef SMP_ISA

#if defined(__AVX512BW__)
#include <immintrin.h>
#define LOOK_VECTOR               __m512i
#define LOOK_STEP(v)              _mm512_broadcast_i32x4(v)
#define LOOK_ALL(byte)            _mm512_set1_epi8(byte)
#define LOOK_SHUFFLE(t, i)        _mm512_shuffle_epi8(t, i)
#define LOOK_MINUS(a, b)          _mm512_sub_epi8(a, b)
#define LOOK_CHOOSE(v, low, high) _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), low, high)
#elif defined(__AVX2__)
#include <immintrin.h>
#define LOOK_VECTOR               __m256i
#define LOOK_STEP(v)              _mm256_broadcastsi128_si256(v)
#define LOOK_ALL(byte)            _mm256_set1_epi8(byte)
#define LOOK_SHUFFLE(t, i)        _mm256_shuffle_epi8(t, i)
#define LOOK_MINUS(a, b)          _mm256_sub_epi8(a, b)
#define LOOK_CHOOSE(v, low, high) _mm256_blendv_epi8(low, high, v)
#endif

#ifdef LOOK_VECTOR
/* Looks up as many of n bytes as whole vectors hold, and returns their number.
 *
 * A byte shuffle looks up 16 entries by the low half of an index, and gives 0 where the index is negative. Each half of
 * the table has 128 entries, eight steps of 16. Step r holds the difference (exclusive or) of its entries from those of
 * step r - 1. Looking up i - 16 r in step r for r = 0, 1, ... and joining the results by exclusive or gives entry i,
 * because the index is negative in every step behind that of i. The low seven bits of a byte are the index into both
 * halves; its eighth bit chooses between the results. */
SMP_INLINE int64_t smp_look_up_vectors(uint8_t *restrict to, const uint8_t *restrict from, int64_t n,
                                       const uint8_t *table)
{
    enum { STEPS = 8, ENTRIES = 16, WIDE = sizeof(LOOK_VECTOR) };
    LOOK_VECTOR low[STEPS], high[STEPS];
    uint8_t own[2][ENTRIES];
    if (n < 8 * WIDE)
        return 0;
    for (int r = 0; r < STEPS; r++) {
        for (int half = 0; half < 2; half++)
            for (int i = 0; i < ENTRIES; i++) {
                const uint8_t *entry = table + (half * STEPS + r) * ENTRIES + i;
                own[half][i] = (uint8_t)(r > 0 ? entry[0] ^ entry[-ENTRIES] : entry[0]);
            }
        low[r] = LOOK_STEP(_mm_loadu_si128((const __m128i_u *)(const void *)own[0]));
        high[r] = LOOK_STEP(_mm_loadu_si128((const __m128i_u *)(const void *)own[1]));
    }
    const LOOK_VECTOR sixteen = LOOK_ALL(ENTRIES), seven_bits = LOOK_ALL(127);
    int64_t i = 0;
    for (; i + WIDE <= n; i += WIDE) {
        LOOK_VECTOR v;
        memcpy(&v, from + i, sizeof v);
        LOOK_VECTOR index = v & seven_bits, below = LOOK_SHUFFLE(low[0], index), above = LOOK_SHUFFLE(high[0], index);
#pragma GCC unroll 8
        for (int r = 1; r < STEPS; r++) {
            index = LOOK_MINUS(index, sixteen);
            below ^= LOOK_SHUFFLE(low[r], index);
            above ^= LOOK_SHUFFLE(high[r], index);
        }
        const LOOK_VECTOR found = LOOK_CHOOSE(v, below, above);
        memcpy(to + i, &found, sizeof found);
    }
    return i;
}
#endif

#ifdef __AVX512BW__
#define LOOK_VBMI __attribute__((target("avx512vbmi")))

/* Looks up as many of n bytes as whole vectors of each channel hold, and returns their number. A table is four vectors;
 * one permutation looks up the low seven bits of 64 indices in two of them. channels: a constant. */
LOOK_VBMI SMP_INLINE int64_t smp_permute_as(uint8_t *restrict to, const uint8_t *restrict from, int64_t n,
                                            uint8_t (*table)[256], const int channels)
{
    enum { WIDE = sizeof(__m512i), MOST = 4 };
    __m512i t[MOST][4];
    uint64_t own[MOST] = {0}; /* the bytes of the first vector that belong to this channel */
    for (int c = 0; c < channels; c++) {
        memcpy(t[c], table[c], sizeof t[c]);
        for (int k = c; k < WIDE; k += channels)
            own[c] |= UINT64_C(1) << k;
    }
    int64_t i = 0;
    for (; i + channels * WIDE <= n; i += channels * WIDE)
#pragma GCC unroll 4
        for (int w = 0; w < channels; w++) {
            __m512i v, found;
            memcpy(&v, from + i + w * WIDE, sizeof v);
            const __mmask64 high = _mm512_movepi8_mask(v);
#pragma GCC unroll 4
            for (int c = 0; c < channels; c++) {
                const __m512i one = _mm512_mask_blend_epi8(high, _mm512_permutex2var_epi8(t[c][0], v, t[c][1]),
                                                           _mm512_permutex2var_epi8(t[c][2], v, t[c][3]));
                /* Byte k of vector w is of channel (64 w + k) % channels. */
                found = c == 0
                            ? one
                            : _mm512_mask_mov_epi8(found, own[(c + w * (channels - WIDE % channels)) % channels], one);
            }
            memcpy(to + i + w * WIDE, &found, sizeof found);
        }
    return i;
}

LOOK_VBMI static int64_t smp_permute(uint8_t *restrict to, const uint8_t *restrict from, int64_t n,
                                     uint8_t (*table)[256], int channels)
{
    return channels == 1   ? smp_permute_as(to, from, n, table, 1)
           : channels == 2 ? smp_permute_as(to, from, n, table, 2)
           : channels == 3 ? smp_permute_as(to, from, n, table, 3)
                           : smp_permute_as(to, from, n, table, 4);
}
#endif

/* Looks byte k of v up and puts the result in its place. The empty statement keeps the value in a general register: gcc
 * otherwise packs some of the bytes into vectors, through memory, at five times the cost. */
SMP_INLINE uint64_t smp_look_up_byte(uint64_t v, const uint8_t *table, int k)
{
    uint64_t found = table[(uint8_t)(v >> (8 * k))];
    __asm__("" : "+r"(found));
    return found << (8 * k);
}

/* Looks up whole pixels at the start of n bytes as far as vectors go, and returns the number of bytes. */
SMP_INLINE int64_t smp_look_up_wide(uint8_t *restrict to, const uint8_t *restrict from, int64_t n,
                                    uint8_t (*table)[256], const int channels)
{
#ifdef __AVX512BW__
    if (__builtin_cpu_supports("avx512vbmi"))
        return smp_permute(to, from, n, table, channels);
#endif
#ifdef LOOK_VECTOR
    if (channels == 1)
        return smp_look_up_vectors(to, from, n, table[0]);
#endif
    (void)to, (void)from, (void)n, (void)table, (void)channels;
    return 0;
}

/* channels: 1 to 4, a constant after inlining. */
SMP_INLINE void smp_look_up_as(uint8_t *restrict to, const uint8_t *restrict from, int64_t n, uint8_t (*table)[256],
                               const int channels)
{
    const int words = channels == 3 ? 3 : 1; /* eight-byte words of a block that holds whole pixels */
    int64_t i = smp_look_up_wide(to, from, n, table, channels);
    for (; i + 8 * words <= n; i += 8 * words) {
#pragma GCC unroll 3
        for (int word = 0; word < words; word++) {
            uint64_t v, found = 0;
            memcpy(&v, from + i + 8 * word, sizeof v);
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++)
                found |= smp_look_up_byte(v, table[(8 * word + k) % channels], k);
            memcpy(to + i + 8 * word, &found, sizeof found);
        }
    }
    for (int k = 0; i < n; i++, k++)
        to[i] = table[k % channels][from[i]];
}

/* Looks up n bytes, whole pixels. */
SMP_INLINE void smp_look_up(uint8_t *restrict to, const uint8_t *restrict from, int64_t n, uint8_t (*table)[256],
                            int channels)
{
    if (channels == 1)
        smp_look_up_as(to, from, n, table, 1);
    else if (channels == 2)
        smp_look_up_as(to, from, n, table, 2);
    else if (channels == 3)
        smp_look_up_as(to, from, n, table, 3);
    else if (channels == 4)
        smp_look_up_as(to, from, n, table, 4);
    else
        for (int64_t i = 0; i < n; i += channels)
            for (int c = 0; c < channels; c++)
                to[i + c] = table[c][from[i + c]];
}

#endif
