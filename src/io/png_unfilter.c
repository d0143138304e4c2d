/* Undoes PNG's row filters. Sub, average and Paeth make each pixel wait for the one before it; a pixel's bytes are one
 * vector, and of four Paeth rows each runs one pixel behind the row above it, whose results it needs: four chains of
 * instructions side by side instead of one. */
#include "io/png_unfilter.h"

#include <string.h>

#include "io/png_filter.h"

typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef int16_t words8 __attribute__((vector_size(16)));

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A pixel's bytes as words; B is a constant. What lies behind the pixel comes along where that is quicker. */
ALWAYS_INLINE words8 load(const uint8_t *from, const int B)
{
    bytes8 bytes = {0};
    memcpy(&bytes, from, B <= 4 ? 4 : 8);
    return __builtin_convertvector(bytes, words8);
}

/* Stores exactly B bytes. */
ALWAYS_INLINE void store(uint8_t *to, words8 v, const int B)
{
    const bytes8 bytes = __builtin_convertvector(v, bytes8);
    memcpy(to, &bytes, (size_t)B);
}

/* Stores up to 8 bytes: the excess is overwritten by the next pixel, or falls on the line's slack. */
ALWAYS_INLINE void store_loose(uint8_t *to, words8 v, const int B)
{
    const bytes8 bytes = __builtin_convertvector(v, bytes8);
    memcpy(to, &bytes, B <= 4 ? 4 : 8);
}

ALWAYS_INLINE words8 choose(words8 mask, words8 yes, words8 no)
{
    return (yes & mask) | (no & ~mask);
}

ALWAYS_INLINE words8 absolute(words8 v)
{
    const words8 sign = v >> 15;
    return (v ^ sign) - sign;
}

/* x plus the prediction from left (a), above (b) and above left (c), modulo 256. The next pixel waits for this one through
 * a alone. */
ALWAYS_INLINE words8 paeth(words8 x, words8 a, words8 b, words8 c)
{
    const words8 slope = b - c, diff = a - c;
    const words8 pa = absolute(slope), pb = absolute(diff), pc = absolute(diff + slope);
    const words8 near = choose(pb <= pc, b, c);
    return (x + choose((pa <= pb) & (pa <= pc), a, near)) & 255;
}

ALWAYS_INLINE bool row_of(uint8_t *to, const uint8_t *above, const uint8_t *from, int64_t n, int filter, const int B)
{
    words8 a = {0}, c = {0};
    switch (filter) {
    case SMP_PNG_NONE:
        memcpy(to, from, (size_t)n);
        return true;
    case SMP_PNG_SUB:
        for (int64_t x = 0; x < n; x += B) {
            a = (a + load(from + x, B)) & 255;
            store_loose(to + x, a, B);
        }
        return true;
    case SMP_PNG_UP:
        for (int64_t x = 0; x < n; x++)
            to[x] = (uint8_t)(from[x] + above[x]);
        return true;
    case SMP_PNG_AVERAGE:
        for (int64_t x = 0; x < n; x += B) {
            a = (((a + load(above + x, B)) >> 1) + load(from + x, B)) & 255;
            store_loose(to + x, a, B);
        }
        return true;
    case SMP_PNG_PAETH:
        for (int64_t x = 0; x < n; x += B) {
            const words8 b = load(above + x, B);
            a = paeth(load(from + x, B), a, b, c);
            c = b;
            store_loose(to + x, a, B);
        }
        return true;
    default:
        return false;
    }
}

/* Four Paeth rows: line 0 is above the first, rows are `step` bytes apart. */
ALWAYS_INLINE void paeth_four(uint8_t *lines, int64_t pitch, const uint8_t *from, int64_t step, int64_t n, const int B)
{
    enum { ROWS = 4 };
    words8 a[ROWS], c[ROWS];
    for (int i = 0; i < ROWS; i++)
        a[i] = c[i] = (words8){0};
    for (int64_t t = 0; t < n + (ROWS - 1) * B; t += B) {
        if (t < (ROWS - 1) * B || t >= n) { /* not all rows have a pixel */
            for (int i = ROWS - 1; i >= 0; i--) {
                const int64_t x = t - i * B;
                if (x < 0 || x >= n)
                    continue;
                const words8 b = load(lines + i * pitch + x, B);
                a[i] = paeth(load(from + i * step + x, B), a[i], b, c[i]);
                c[i] = b;
                store(lines + (i + 1) * pitch + x, a[i], B);
            }
            continue;
        }
#pragma GCC unroll 4
        for (int i = ROWS - 1; i >= 0; i--) { /* from below, so that a[i-1] still is the pixel above */
            const int64_t x = t - i * B;
            const words8 b = i ? a[i ? i - 1 : 0] : load(lines + x, B);
            a[i] = paeth(load(from + i * step + x, B), a[i], b, c[i]);
            c[i] = b;
            store(lines + (i + 1) * pitch + x, a[i], B);
        }
    }
}

ALWAYS_INLINE bool unfilter(uint8_t *lines, int64_t pitch, const uint8_t *from, int64_t n, int64_t rows, const int B)
{
    const int64_t step = n + 1;
    for (int64_t y = 0; y < rows;) {
        uint8_t *above = lines + y * pitch;
        const uint8_t *at = from + y * step;
        if (rows - y >= 4 && at[0] == SMP_PNG_PAETH && at[step] == SMP_PNG_PAETH && at[2 * step] == SMP_PNG_PAETH &&
            at[3 * step] == SMP_PNG_PAETH) {
            paeth_four(above, pitch, at + 1, step, n, B);
            y += 4;
            continue;
        }
        if (!row_of(above + pitch, above, at + 1, n, at[0], B))
            return false;
        y++;
    }
    return true;
}

bool smp_png_unfilter(uint8_t *lines, int64_t pitch, const uint8_t *from, int64_t row_bytes, int64_t rows, int pixel_bytes)
{
    switch (pixel_bytes) {
    case 1:
        return unfilter(lines, pitch, from, row_bytes, rows, 1);
    case 2:
        return unfilter(lines, pitch, from, row_bytes, rows, 2);
    case 3:
        return unfilter(lines, pitch, from, row_bytes, rows, 3);
    case 4:
        return unfilter(lines, pitch, from, row_bytes, rows, 4);
    case 6:
        return unfilter(lines, pitch, from, row_bytes, rows, 6);
    default:
        return unfilter(lines, pitch, from, row_bytes, rows, 8);
    }
}
