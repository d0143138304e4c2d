/* Undoes PNG's row filters. Sub, average and Paeth make each pixel depend on the one before. A pixel's bytes are one
 * vector. Four rows are processed together, each one pixel behind the row above, whose results it needs: this gives
 * four independent instruction chains instead of one. */
#include "io/png/png_filter.h"

#include <string.h>

typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef int16_t words8 __attribute__((vector_size(16)));

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Bytes that are loaded and stored for a pixel of B bytes: the next pixel overwrites the excess. The last pixels of a
 * row take exactly B. */
#define LOOSE(B) ((B) <= 4 ? 4 : 8)

/* Loads the first `size` bytes (a constant) as words. */
ALWAYS_INLINE words8 load(const uint8_t *from, const int size)
{
    bytes8 bytes = {0};
    memcpy(&bytes, from, (size_t)size);
    return __builtin_convertvector(bytes, words8);
}

ALWAYS_INLINE void store(uint8_t *to, words8 v, const int size)
{
    const bytes8 bytes = __builtin_convertvector(v, bytes8);
    memcpy(to, &bytes, (size_t)size);
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

/* Masks that turn Paeth's choice among three predictions into a row's own filter. */
typedef struct way {
    words8 average, none, above; /* all bits set where the filter is that; above: none, up */
    words8 paeth, forced;        /* replaces Paeth's distance to a: less than any distance, or more */
} way;

ALWAYS_INLINE words8 all_if(bool is)
{
    return (words8){0} - (int16_t)is;
}

ALWAYS_INLINE way way_of(int filter)
{
    way w = {.average = all_if(filter == SMP_PNG_AVERAGE),
             .none = all_if(filter == SMP_PNG_NONE),
             .above = all_if(filter == SMP_PNG_NONE || filter == SMP_PNG_UP),
             .paeth = all_if(filter == SMP_PNG_PAETH)};
    w.forced = choose(w.above, (words8){0} + INT16_MAX, ~w.paeth);
    return w;
}

/* x plus the prediction from left (a), above (b) and above left (c), modulo 256: Paeth's or, where w is given, that of
 * its row's filter. The next pixel depends on this one only through a. */
ALWAYS_INLINE words8 undo(const way *w, words8 x, words8 a, words8 b, words8 c)
{
    const words8 slope = b - c, diff = a - c;
    const words8 pb = absolute(diff), pc = absolute(diff + slope);
    words8 pa = absolute(slope);
    if (w) {
        pa = (pa & w->paeth) | w->forced;
        a = choose(w->average, (a + b) >> 1, a);
        b &= ~w->none;
        c = choose(w->above, b, c);
    }
    const words8 near = choose(pb <= pc, b, c);
    return (x + choose((pa <= pb) & (pa <= pc), a, near)) & 255;
}

/* In bytes: the sums wrap around, as the specification wants. */
ALWAYS_INLINE bytes8 sub_pixel(uint8_t *to, const uint8_t *from, bytes8 left, const int size)
{
    bytes8 more = {0};
    memcpy(&more, from, (size_t)size);
    left += more;
    memcpy(to, &left, (size_t)size);
    return left;
}

ALWAYS_INLINE words8 average_pixel(uint8_t *to, const uint8_t *above, const uint8_t *from, words8 a, const int size)
{
    a = (((a + load(above, size)) >> 1) + load(from, size)) & 255;
    store(to, a, size);
    return a;
}

ALWAYS_INLINE words8 paeth_pixel(uint8_t *to, const uint8_t *above, const uint8_t *from, words8 a, words8 *c,
                                 const int size)
{
    const words8 b = load(above, size);
    a = undo(NULL, load(from, size), a, b, *c);
    *c = b;
    store(to, a, size);
    return a;
}

ALWAYS_INLINE bool row_of(uint8_t *to, const uint8_t *above, const uint8_t *from, int64_t n, int filter, const int B)
{
    words8 a = {0}, c = {0};
    bytes8 left = {0};
    int64_t x = 0;
    switch (filter) {
    case SMP_PNG_NONE:
        memcpy(to, from, (size_t)n);
        return true;
    case SMP_PNG_SUB:
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && (x = smp_png_undo_sub_avx2(to, from, n, B)) > 0)
            memcpy(&left, to + x - B, (size_t)B);
#endif
        for (; x <= n - LOOSE(B); x += B)
            left = sub_pixel(to + x, from + x, left, LOOSE(B));
        for (; x < n; x += B)
            left = sub_pixel(to + x, from + x, left, B);
        return true;
    case SMP_PNG_UP:
        for (; x < n; x++)
            to[x] = (uint8_t)(from[x] + above[x]);
        return true;
    case SMP_PNG_AVERAGE:
        for (; x <= n - LOOSE(B); x += B)
            a = average_pixel(to + x, above + x, from + x, a, LOOSE(B));
        for (; x < n; x += B)
            a = average_pixel(to + x, above + x, from + x, a, B);
        return true;
    case SMP_PNG_PAETH:
        for (; x <= n - LOOSE(B); x += B)
            a = paeth_pixel(to + x, above + x, from + x, a, &c, LOOSE(B));
        for (; x < n; x += B)
            a = paeth_pixel(to + x, above + x, from + x, a, &c, B);
        return true;
    default:
        return false;
    }
}

enum { ROWS = 4 };

ALWAYS_INLINE void undo_four(uint8_t *const *line, const uint8_t *from, int64_t n, const bool mixed, const int B)
{
    const int64_t step = n + 1;
    words8 a[ROWS], c[ROWS];
    way ways[ROWS];
    for (int i = 0; i < ROWS; i++) {
        a[i] = c[i] = (words8){0};
        ways[i] = way_of(from[i * step - 1]);
    }
    for (int64_t t = 0; t < n + (ROWS - 1) * B; t += B) {
        if (t < (ROWS - 1) * B || t > n - LOOSE(B)) { /* not all rows have a pixel, or not all that LOOSE loads */
            for (int i = ROWS - 1; i >= 0; i--) {
                const int64_t x = t - i * B;
                if (x < 0 || x >= n)
                    continue;
                const words8 b = load(line[i] + x, B);
                a[i] = undo(&ways[i], load(from + i * step + x, B), a[i], b, c[i]);
                c[i] = b;
                store(line[i + 1] + x, a[i], B);
            }
            continue;
        }
#pragma GCC unroll 4
        for (int i = ROWS - 1; i >= 0; i--) { /* from the bottom, so that a[i-1] still is the pixel above */
            const int64_t x = t - i * B;
            const words8 b = i ? a[i ? i - 1 : 0] : load(line[0] + x, LOOSE(B));
            a[i] = undo(mixed ? &ways[i] : NULL, load(from + i * step + x, LOOSE(B)), a[i], b, c[i]);
            c[i] = b;
            store(line[i + 1] + x, a[i], B);
        }
    }
}

/* Whether four rows, at `at` and a step apart each, are faster together. One filter that makes each pixel depend on the
 * one before is enough. */
ALWAYS_INLINE bool four_pay(const uint8_t *at, int64_t step)
{
    bool known = true, waits = false;
    for (int i = 0; i < ROWS; i++) {
        const int filter = at[i * step];
        known = known && filter < SMP_PNG_FILTERS;
        waits = waits || filter == SMP_PNG_AVERAGE || filter == SMP_PNG_PAETH;
    }
    return known && waits;
}

ALWAYS_INLINE bool unfilter(uint8_t *to, int64_t pitch, uint8_t *above, const uint8_t *from, int64_t n, int64_t rows,
                            const int B)
{
    const int64_t step = n + 1;
    for (int64_t y = 0; y < rows;) {
        uint8_t *row = to + y * pitch;
        const uint8_t *at = from + y * step;
        if (rows - y >= 4 && four_pay(at, step)) {
            uint8_t *line[] = {above, row, row + pitch, row + 2 * pitch, row + 3 * pitch};
#if defined(__x86_64__)
            if (__builtin_cpu_supports("avx2"))
                smp_png_undo_four_avx2(line, at + 1, n, B);
            else
#endif
                smp_png_undo_four(line, at + 1, n, B);
            above = row + 3 * pitch;
            y += 4;
            continue;
        }
        if (!row_of(row, above, at + 1, n, at[0], B))
            return false;
        above = row;
        y++;
    }
    return true;
}

bool smp_png_unfilter(uint8_t *to, int64_t pitch, uint8_t *above, const uint8_t *from, int64_t row_bytes, int64_t rows,
                      int pixel_bytes)
{
    bool known;
#define UNFILTER(B) known = unfilter(to, pitch, above, from, row_bytes, rows, B)
    SMP_PNG_BY_PIXEL(pixel_bytes, UNFILTER)
#undef UNFILTER
    return known;
}

void smp_png_undo_four(uint8_t *const line[5], const uint8_t *from, int64_t row_bytes, int pixel_bytes)
{
    bool mixed = false;
    for (int i = 0; i < ROWS; i++)
        mixed = mixed || from[i * (row_bytes + 1) - 1] != SMP_PNG_PAETH;
#define PAETH(B)  undo_four(line, from, row_bytes, false, B)
#define OTHERS(B) undo_four(line, from, row_bytes, true, B)
    if (mixed) {
        SMP_PNG_BY_PIXEL(pixel_bytes, OTHERS)
    } else {
        SMP_PNG_BY_PIXEL(pixel_bytes, PAETH)
    }
#undef PAETH
#undef OTHERS
}
