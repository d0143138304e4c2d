/* median on the CPU: window.h with the networks of median.h.
 *   naive  every window by the border rule: the definition.
 *   tiled  rows in cache, 8 to 64 medians in the lanes of a vector; bytes and 16-bit samples as they are, and with a
 * side of 3 straight from the picture's rows (nine.h). */
#include "stencil/median.h"
#include "stencil/nine.h"

SMP_WINDOW_DECLARE(median_window);
SMP_WINDOW_CPU_ORDERED(median_window, smp_median, SMP_MEDIAN_SIZES)

/* Two medians of three columns each, one above the other. Both columns of a place share a sorted pair, and the median
 * of nine is that of three: of the smallest, the middle and the largest samples of the columns the largest, the middle
 * and the smallest. */
#define MEDIAN_(T)                                                                                                     \
    SMP_INLINE T less_##T(T a, T b)                                                                                    \
    {                                                                                                                  \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    SMP_INLINE T more_##T(T a, T b)                                                                                    \
    {                                                                                                                  \
        return a < b ? b : a;                                                                                          \
    }                                                                                                                  \
    SMP_INLINE T middle_##T(T a, T b, T c)                                                                             \
    {                                                                                                                  \
        return more_##T(less_##T(a, b), less_##T(more_##T(a, b), c));                                                  \
    }                                                                                                                  \
    SMP_INLINE void sort_##T(T *to, T v, T low, T high)                                                                \
    {                                                                                                                  \
        const T up = more_##T(v, low);                                                                                 \
        to[0] = less_##T(v, low);                                                                                      \
        to[1] = less_##T(up, high);                                                                                    \
        to[2] = more_##T(up, high);                                                                                    \
    }                                                                                                                  \
    SMP_INLINE T of_columns_##T(const T *a, const T *b, const T *c)                                                    \
    {                                                                                                                  \
        return middle_##T(more_##T(more_##T(a[0], b[0]), c[0]), middle_##T(a[1], b[1], c[1]),                          \
                          less_##T(less_##T(a[2], b[2]), c[2]));                                                       \
    }                                                                                                                  \
    SMP_INLINE void median_two_##T(const T *left, const T *middle, const T *right, T *results)                         \
    {                                                                                                                  \
        const T *const columns[] = {left, middle, right};                                                              \
        T above[3][3], below[3][3];                                                                                    \
        for (int i = 0; i < 3; i++) {                                                                                  \
            const T low = less_##T(columns[i][1], columns[i][2]), high = more_##T(columns[i][1], columns[i][2]);       \
            sort_##T(above[i], columns[i][0], low, high);                                                              \
            sort_##T(below[i], columns[i][3], low, high);                                                              \
        }                                                                                                              \
        results[0] = of_columns_##T(above[0], above[1], above[2]);                                                     \
        results[1] = of_columns_##T(below[0], below[1], below[2]);                                                     \
    }                                                                                                                  \
    NINE(median, T)
MEDIAN_(uint8_t)
MEDIAN_(uint16_t)

SMP_CPU_KERNEL(median_naive)
{
    SMP_PASTE(median_window_naive, SMP_ISA)(io, params, scratch, y0, y1);
}

SMP_CPU_KERNEL(median_tiled)
{
    const smp_window *g = params;
    const int64_t from = y0 > 1 ? y0 : 1, to = y1 < io->in.height - 1 ? y1 : io->in.height - 1;
    if (g->size != 3 || (io->in.alpha && !g->alpha) || !nine_serves(io, from, to)) {
        SMP_PASTE(median_window_tiled, SMP_ISA)(io, params, scratch, y0, y1);
        return;
    }
    const float outside = smp_window_outside(g, io->in.white, SMP_WINDOW_ORDERED);
    if (io->in.format == SMP_U8)
        nine_median_uint8_t(io, g->edge, outside, from, to);
    else
        nine_median_uint16_t(io, g->edge, outside, from, to);
    if (from > y0)
        SMP_PASTE(median_window_tiled, SMP_ISA)(io, params, scratch, y0, from);
    if (to < y1)
        SMP_PASTE(median_window_tiled, SMP_ISA)(io, params, scratch, to, y1);
}
