/* PNG's row filters, in loops that the compiler vectorises: the filters look at unfiltered bytes only, so that no byte
 * waits for another. */
#include "io/png_filter.h"

#include <string.h>

static int distance(int a, int b)
{
    return a > b ? a - b : b - a;
}

static void sub(uint8_t *restrict to, const uint8_t *restrict row, int64_t n, int64_t p)
{
    for (int64_t i = p; i < n; i++)
        to[i] = (uint8_t)(row[i] - row[i - p]);
}

static void up(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict above, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint8_t)(row[i] - above[i]);
}

static void average(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict above, int64_t n, int64_t p)
{
    for (int64_t i = p; i < n; i++)
        to[i] = (uint8_t)(row[i] - ((row[i - p] + above[i]) >> 1));
}

static void paeth(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict above, int64_t n, int64_t p)
{
    for (int64_t i = p; i < n; i++) {
        int a = row[i - p], b = above[i], c = above[i - p];
        int pa = distance(b, c), pb = distance(a, c), pc = distance(a + b, 2 * c);
        int near = pb <= pc ? b : c;
        near = pa <= pb && pa <= pc ? a : near;
        to[i] = (uint8_t)(row[i] - near);
    }
}

void smp_png_filter(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t n, int pixel_bytes, int filter)
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
