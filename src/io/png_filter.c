/* PNG's row filters, in loops that the compiler vectorises: the filters look at unfiltered bytes only, so that no byte
 * waits for another. */
#include "io/png_filter.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

INLINE int16_t absolute(int16_t v)
{
    return (int16_t)(v < 0 ? -v : v);
}

INLINE void sub(uint8_t *restrict to, const uint8_t *restrict row, int64_t n, int64_t p)
{
    for (int64_t i = p; i < n; i++)
        to[i] = (uint8_t)(row[i] - row[i - p]);
}

INLINE void up(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict above, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint8_t)(row[i] - above[i]);
}

INLINE void average(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict above, int64_t n, int64_t p)
{
    for (int64_t i = p; i < n; i++)
        to[i] = (uint8_t)(row[i] - ((row[i - p] + above[i]) >> 1));
}

/* In 16 bits, so that a vector holds twice as many. */
INLINE void paeth(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict above, int64_t n, int64_t p)
{
    for (int64_t i = p; i < n; i++) {
        const int16_t a = row[i - p], b = above[i], c = above[i - p];
        const int16_t slope = (int16_t)(b - c), diff = (int16_t)(a - c);
        const int16_t pa = absolute(slope), pb = absolute(diff), pc = absolute((int16_t)(slope + diff));
        const int16_t near = pb <= pc ? b : c, least = pb <= pc ? pb : pc;
        to[i] = (uint8_t)(row[i] - (pa <= least ? a : near));
    }
}

INLINE void filter_row(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t n, int pixel_bytes, int filter)
{
    int64_t p = pixel_bytes < n ? pixel_bytes : n;
    for (int64_t i = 0; i < p; i++) { /* left of the first pixel are zeros; Paeth then predicts the byte above */
        int predicted = filter == SMP_PNG_UP || filter == SMP_PNG_PAETH ? above[i] : filter == SMP_PNG_AVERAGE ? above[i] >> 1 : 0;
        to[i] = (uint8_t)(row[i] - predicted);
    }
    if (filter == SMP_PNG_NONE)
        memcpy(to, row, (size_t)n);
    else if (filter == SMP_PNG_SUB)
        sub(to, row, n, p);
    else if (filter == SMP_PNG_UP)
        up(to, row, above, n);
    else if (filter == SMP_PNG_AVERAGE)
        average(to, row, above, n, p);
    else
        paeth(to, row, above, n, p);
}

INLINE void swap(uint8_t *row, int64_t n)
{
    for (int64_t i = 0; i + 1 < n; i += 2) {
        uint16_t sample;
        memcpy(&sample, row + i, sizeof sample);
        sample = __builtin_bswap16(sample);
        memcpy(row + i, &sample, sizeof sample);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void filter_avx2(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t n, int pixel_bytes,
                                                        int filter)
{
    filter_row(to, row, above, n, pixel_bytes, filter);
}

__attribute__((target("avx2"))) static void swap_avx2(uint8_t *row, int64_t n)
{
    swap(row, n);
}
#endif

void smp_png_filter(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t n, int pixel_bytes, int filter)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        filter_avx2(to, row, above, n, pixel_bytes, filter);
        return;
    }
#endif
    filter_row(to, row, above, n, pixel_bytes, filter);
}

void smp_png_swap(uint8_t *row, int64_t n)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        swap_avx2(row, n);
        return;
    }
#endif
    swap(row, n);
}
