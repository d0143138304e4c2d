/* PNG's row filters. They read unfiltered bytes only, so no byte depends on another's result. They run from the end of
 * the row to its beginning, so that a row can be filtered in place: a byte's prediction reads bytes to its left and
 * above. */
#include "io/png/png_filter.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef uint8_t bytes __attribute__((vector_size(32)));
enum { WIDTH = sizeof(bytes) };

/* Predicts from left, above, and above left. */
static uint8_t predict(int a, int b, int c, int filter)
{
    const int slope = b - c, diff = a - c, pa = slope < 0 ? -slope : slope, pb = diff < 0 ? -diff : diff;
    const int pc = slope + diff < 0 ? -(slope + diff) : slope + diff, near = pb <= pc ? b : c;
    switch (filter) {
    case SMP_PNG_SUB:
        return (uint8_t)a;
    case SMP_PNG_UP:
        return (uint8_t)b;
    case SMP_PNG_AVERAGE:
        return (uint8_t)((a + b) >> 1);
    case SMP_PNG_PAETH:
        return (uint8_t)(pa <= pb && pa <= pc ? a : near);
    default:
        return 0;
    }
}

/* The distance of bytes u and v. not_above: the mask of u <= v. */
#define DISTANCE(u, v, not_above) ((((u) - (v)) ^ (not_above)) - (not_above))

/* WIDTH bytes in memory. Vectors are not parameters, since the calling convention for them depends on the processor. */
INLINE void filter_some(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t p, const int filter)
{
    bytes x, a, b, c;
    memcpy(&x, row, sizeof x);
    memcpy(&a, row - p, sizeof a);
    memcpy(&b, above, sizeof b);
    memcpy(&c, above - p, sizeof c);
    if (filter == SMP_PNG_SUB)
        x -= a;
    else if (filter == SMP_PNG_UP)
        x -= b;
    else if (filter == SMP_PNG_AVERAGE)
        x -= (a & b) + ((a ^ b) >> 1);
    else {
        /* The three distances in bytes. |a + b - 2c| is the sum of the other two when both have the same sign, and so
         * the largest; otherwise it is their difference. */
        const bytes b_below = (bytes)(b <= c), a_below = (bytes)(a <= c), pa = DISTANCE(b, c, b_below),
                    pb = DISTANCE(a, c, a_below);
        const bytes same = ~(a_below ^ b_below), nearer = (bytes)(pa <= pb), pc = DISTANCE(pa, pb, nearer);
        const bytes left = nearer & (same | (bytes)(pa <= pc)), upper = same | (bytes)(pb <= pc);
        x -= (a & left) | (((b & upper) | (c & ~upper)) & ~left);
    }
    memcpy(to, &x, sizeof x);
}

INLINE void filter_by(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t n, int64_t p, const int filter)
{
    int64_t x = n;
    for (; x >= p + WIDTH; x -= WIDTH)
        filter_some(to + x - WIDTH, row + x - WIDTH, above + x - WIDTH, p, filter);
    for (; x > 0; x--) /* left of the first pixel are zeros */
        to[x - 1] = (uint8_t)(row[x - 1] -
                              predict(x > p ? row[x - 1 - p] : 0, above[x - 1], x > p ? above[x - 1 - p] : 0, filter));
}

INLINE void filter_row(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t n, int pixel_bytes, int filter)
{
    if (filter == SMP_PNG_NONE)
        memmove(to, row, (size_t)n);
    else if (filter == SMP_PNG_SUB)
        filter_by(to, row, above, n, pixel_bytes, SMP_PNG_SUB);
    else if (filter == SMP_PNG_UP)
        filter_by(to, row, above, n, pixel_bytes, SMP_PNG_UP);
    else if (filter == SMP_PNG_AVERAGE)
        filter_by(to, row, above, n, pixel_bytes, SMP_PNG_AVERAGE);
    else
        filter_by(to, row, above, n, pixel_bytes, SMP_PNG_PAETH);
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
__attribute__((target("avx2"))) static void filter_avx2(uint8_t *to, const uint8_t *row, const uint8_t *above,
                                                        int64_t n, int pixel_bytes, int filter)
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
