/* box: the mean of size x size pixels. Parameters and the order in which samples are added.
 *
 * The definition, the same on every device and for every storage of the input: a window of n samples is cut into blocks
 * whose lengths are the powers of two in n, the shortest first (7 = 1, 2, 4); a block is added in pairs, pairs of pairs
 * and so on; block sums are added from the first to the last. Row windows first, then windows of n row sums down the
 * columns, all in f32, then one division by n * n. So sums of integers are exact up to 2^24 (8-bit pictures: sizes up
 * to 256), f32 sums lose at most a few last bits, and log2(n) passes of doubling make every window of a row: a large
 * box costs hardly more than a small one, although it runs on floats that running sums would spoil. */
#ifndef SMP_KERNELS_BOX_H
#define SMP_KERNELS_BOX_H

#include "stencil.h"

enum {
    SMP_BOX_MAX = 4096, /* px: n * n is exact in f32 */
    SMP_BOX_LEVELS = 13 /* lengths 1, 2, 4 .. SMP_BOX_MAX */
};

typedef struct smp_box {
    int32_t size;
    int32_t edge; /* smp_edge */
    float fill;   /* of `constant`: a fraction of full scale */
} smp_box;

/* Rows and columns before and after the middle: for even sizes one more before, as scipy.ndimage.uniform_filter. */
SMP_FN int64_t smp_box_before(const smp_box *box)
{
    return box->size / 2;
}
SMP_FN int64_t smp_box_after(const smp_box *box)
{
    return box->size - 1 - box->size / 2;
}

SMP_FN float smp_box_mean(float sum, int32_t size)
{
    return sum / ((float)size * (float)size);
}

/* The sum of a window whose samples all are v, added in the order above. */
SMP_FN float smp_box_flat(float v, int32_t n)
{
    float total = 0;
    int some = 0;
    for (int32_t length = 1; length <= n; length *= 2) {
        if (n & length) {
            total = some ? total + v : v;
            some = 1;
        }
        v = v + v;
    }
    return total;
}

/* The sum of the window of n samples that begins at pixel (x, y) and goes on by (dx, dy). */
SMP_FN float smp_box_sum(const smp_view *in, int64_t x, int64_t y, int dx, int dy, int c, int32_t n, int edge,
                         float outside)
{
    float total = 0, part[SMP_BOX_LEVELS];
    int some = 0;
    for (int32_t length = 1; length <= n; length *= 2) {
        if (!(n & length))
            continue;
        int level = 0;
        for (int32_t i = 0; i < length; i++, x += dx, y += dy) {
            float v = smp_at_border(in, x, y, c, edge, outside);
            level = 0;
            for (int32_t pair = i; pair & 1; pair >>= 1)
                v = part[level++] + v;
            part[level] = v;
        }
        total = some ? total + part[level] : part[level];
        some = 1;
    }
    return total;
}

/* CPU scratch of the tiled walk: the window, its doubled rows, sums of a step, and two lines. */
SMP_FN size_t smp_box_scratch(int32_t size, int channels)
{
    int64_t reach = size - 1, step = smp_stencil_step(reach);
    return (2 * smp_stencil_window(reach, step, STENCIL_PITCH) + (size_t)(step * STENCIL_PITCH) +
            2 * smp_stencil_line(reach * channels)) *
           sizeof(float);
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(box_rows);    /* naive, first launch: row sums to an f32 picture */
SMP_CPU_DECLARE(box_columns); /* naive, second launch */
SMP_CPU_DECLARE(box_tiled);
#ifdef __cplusplus
}
#endif

#endif
