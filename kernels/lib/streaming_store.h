/* Stores past the caches, on the CPU, for large results. A plain store first reads the line that it writes to: a third
 * of the traffic of a stage that only moves. Streaming pays where the result is too large to be found in a cache by
 * whoever reads it next. Kernel files alone include this. */
#pragma once

#include <string.h>

#include "lib/cpu_kernel.h"

#ifdef SMP_ISA

#if defined(__AVX512F__)
#include <immintrin.h>
#define STREAM_LINE(to, from) _mm512_stream_si512((__m512i *)(void *)(to), _mm512_loadu_si512((const void *)(from)))
#elif defined(__AVX__)
#include <immintrin.h>
#define STREAM_HALF(to, from)                                                                                          \
    _mm256_stream_si256((__m256i *)(void *)(to), _mm256_loadu_si256((const __m256i_u *)(const void *)(from)))
#define STREAM_LINE(to, from) (STREAM_HALF(to, from), STREAM_HALF((to) + 32, (from) + 32))
#endif

enum {
    STREAM_BYTES = 64,     /* bytes of a cache line */
    STREAM_FROM = 1 << 25, /* bytes of a result from which on streaming pays */
    STREAM_PART = 1024     /* bytes to make before they are streamed: a small part of the first-level cache */
};

/* Whether to stream the rows of a launch, `bytes` in all. */
SMP_INLINE int smp_streams(int64_t bytes)
{
#ifdef STREAM_LINE
    return bytes >= STREAM_FROM;
#else
    (void)bytes;
    return 0;
#endif
}

/* Streams n bytes. Lines that it fills in part are stored as usual. */
SMP_INLINE void smp_stream(char *restrict to, const char *restrict from, int64_t n)
{
#ifdef STREAM_LINE
    int64_t i = -(int64_t)(uintptr_t)to & (STREAM_BYTES - 1);
    i = i < n ? i : n;
    memcpy(to, from, (size_t)i);
    for (; i + STREAM_BYTES <= n; i += STREAM_BYTES)
        STREAM_LINE(to + i, from + i);
    memcpy(to + i, from + i, (size_t)(n - i));
#else
    memcpy(to, from, (size_t)n);
#endif
}

/* To be called after the last smp_stream(): makes what was written visible to other threads. */
SMP_INLINE void smp_stream_end(void)
{
#ifdef STREAM_LINE
    _mm_sfence();
#endif
}

#endif
