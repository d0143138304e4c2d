/* box: the mean of size x size pixels. Parameters and the order in which samples are added.
 *
 * The definition, the same on every device and for every storage of the input: a window of n samples is cut into blocks
 * whose lengths are the powers of two in n, the shortest first (7 = 1, 2, 4). A block is added in pairs, pairs of pairs
 * and so on; block sums are added from the first to the last. Row windows come first, then windows of n row sums down
 * the columns, all in f32, then one division by n * n. Sums of integers are so exact up to 2^24 (8-bit pictures: sizes
 * up to 256), f32 sums lose at most a few last bits, and log2(n) passes of doubling make every window of a row: a large
 * box costs hardly more than a small one, although running sums, which floats would spoil, are not used. */
#pragma once

#include "lib/tuning.h"
#include "stencil/stencil.h"
#include "stencil/stencil_u8.h"

enum {
    SMP_BOX_MAX = 4096,  /* px: n * n is exact in f32 */
    SMP_BOX_LEVELS = 13, /* lengths 1, 2, 4 .. SMP_BOX_MAX */
    SMP_BOX_NARROW =
        13, /* 8-bit samples: sums fit 16 bits, and smp_box_mean_u16() is exact (14 is the first where not) */
    SMP_BOX_WIDE = 256 /* 8-bit samples: column sums fit 16 bits, sums of the square are exact in f32 */
};

typedef struct smp_box {
    int32_t size;
    int32_t edge; /* smp_edge */
    float fill;   /* of `constant`: a fraction of full scale */
} smp_box;

/* Rows and columns before and after the middle. Even sizes have one more before, as in scipy.ndimage.uniform_filter. */
SMP_HOST_DEVICE int64_t smp_box_before(const smp_box *box)
{
    return box->size / 2;
}
SMP_HOST_DEVICE int64_t smp_box_after(const smp_box *box)
{
    return box->size - 1 - box->size / 2;
}

SMP_HOST_DEVICE float smp_box_mean(float sum, int32_t size)
{
    return sum / ((float)size * (float)size);
}

/* The sum of a window in which every sample is v, in the order above. */
SMP_HOST_DEVICE float smp_box_flat(float v, int32_t n)
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

/* The sum of the window of n samples from pixel (x, y) in steps of (dx, dy). */
SMP_HOST_DEVICE float smp_box_sum(const smp_view *in, int64_t x, int64_t y, int dx, int dy, int c, int32_t n, int edge,
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

/* Divides sums of bytes by d = size * size, size up to SMP_BOX_NARROW: the high half of a product, shifted. */
typedef struct smp_box_divisor {
    uint16_t d, half, factor;
    int32_t shift;
} smp_box_divisor;

SMP_HOST_DEVICE smp_box_divisor smp_box_divide_by(int32_t d)
{
    int32_t shift = 0;
    while (2 << shift < d)
        shift++;
    smp_box_divisor by;
    by.d = (uint16_t)d;
    by.half = (uint16_t)(d / 2);
    by.factor = (uint16_t)(((65536u << shift) + (uint32_t)d - 1) / (uint32_t)d);
    by.shift = shift;
    return by;
}

/* A sum of d bytes divided by d, rounded to nearest, ties to even: what storing smp_box_mean() gives. A tie (d even)
 * leaves no remainder after adding d/2; an odd mean is then one too large. */
SMP_HOST_DEVICE uint8_t smp_box_mean_u16(uint16_t sum, smp_box_divisor by, int even)
{
    const uint16_t s = (uint16_t)(sum + by.half);
    uint16_t mean = (uint16_t)((uint16_t)(((uint32_t)s * by.factor) >> 16) >> by.shift);
    if (even)
        mean = (uint16_t)(mean - ((uint16_t)(mean * by.d) == s ? mean & 1 : 0));
    return (uint8_t)mean;
}

/* CPU scratch of the tiled walk: the window, its doubled rows, sums of a step, and two lines; or, from u8 to u8, three
 * f32 lines, column sums and a row without borders. */
SMP_HOST_DEVICE size_t smp_box_scratch(int32_t size, int channels)
{
    int64_t reach = size - 1, step = smp_stencil_step(reach);
    size_t floats = (2 * smp_stencil_window(reach, step, STENCIL_PITCH) + (size_t)(step * STENCIL_PITCH) +
                     2 * smp_stencil_line(reach * channels)) *
                    sizeof(float);
    size_t bytes = smp_bytes_line(reach, channels) * (3 * sizeof(float) + sizeof(uint16_t) + sizeof(uint8_t));
    return floats > bytes ? floats : bytes;
}

/* GPU: bytes of shared memory of the row and of the column pass, tiled, for two copies of their window; 0: they do not
 * fit, and windows are added sample by sample. */
SMP_HOST_DEVICE uint32_t smp_box_row_shared(const smp_box *box, int channels)
{
    const int64_t bytes = 2 * (SMP_BOX_ACROSS + (int64_t)(box->size - 1) * channels + 8) / 4 * 16;
    return bytes <= SMP_BOX_SHARED ? (uint32_t)bytes : 0;
}
SMP_HOST_DEVICE uint32_t smp_box_column_shared(const smp_box *box)
{
    const int64_t bytes = 2 * (SMP_BOX_DOWN + (int64_t)box->size - 1) * SMP_BOX_COLUMNS * 4;
    return bytes <= SMP_BOX_SHARED ? (uint32_t)bytes : 0;
}

/* GPU: the kernels of box_warp.cu, one warp a strip: the largest size. */
enum { SMP_BOX_WARP_SIZE = 15 };

/* Whether they take this launch. The border value must be zero; offsets in a row have 32 bits. */
SMP_HOST_DEVICE int smp_box_warp(const smp_box *box, const smp_io *io)
{
    const int channels = io->in.channels;
    return smp_rows_aligned(io) && io->in.format == SMP_U8 && io->out.format == SMP_U8 && box->size % 2 &&
           box->size >= 3 && box->size <= SMP_BOX_WARP_SIZE && (channels == 1 || channels == 3 || channels == 4) &&
           (box->edge != SMP_CONSTANT || box->fill == 0.f) && io->in.width * channels <= 1 << 30;
}
/* Output rows of a band: with the halo, whole groups of rows. */
SMP_HOST_DEVICE int smp_box_band(int size)
{
    return SMP_BOX_BAND(size) - (size - 1);
}

/* A sum of size * size bytes divided by that, for odd sizes up to SMP_BOX_WARP_SIZE, in the top byte; rounded to
 * nearest (there are no ties): what storing smp_box_mean() gives. */
#ifdef __cplusplus
SMP_HOST_DEVICE constexpr uint32_t smp_box_factor(int size)
#else
SMP_HOST_DEVICE uint32_t smp_box_factor(int size)
#endif
{
    return ((1u << 24) + (uint32_t)(size * size) / 2) / (uint32_t)(size * size);
}
SMP_HOST_DEVICE uint32_t smp_box_top(uint32_t sum, uint32_t factor)
{
    return sum * factor + (1u << 23);
}

SMP_CPU_DECLARE(box_rows);    /* naive, first launch: row sums to an f32 picture */
SMP_CPU_DECLARE(box_columns); /* naive, second launch */
SMP_CPU_DECLARE(box_tiled);
#ifdef SMP_ISA
#include <string.h>

/* Makes NAME: the sums of the windows of a line, n of them, by blocks of doubling length, added where the size has that
 * bit. Returns where they are, `sum` or a line. from: n + (size - 1) * channels samples; to: as much memory. */
#define SMP_BOX_ACROSS(NAME, TYPE)                                                                                     \
    SMP_INLINE void NAME##_double(TYPE *restrict to, const TYPE *restrict a, int64_t by, int64_t n)                    \
    {                                                                                                                  \
        for (int64_t x = 0; x < n; x++)                                                                                \
            to[x] = (TYPE)(a[x] + a[x + by]);                                                                          \
    }                                                                                                                  \
    static const TYPE *NAME(TYPE *from, TYPE *to, TYPE *restrict sum, int32_t size, int64_t channels, int64_t n)       \
    {                                                                                                                  \
        int64_t have = n + (size - 1) * channels, at = 0;                                                              \
        for (int32_t length = 1; length <= size; length *= 2) {                                                        \
            if (size == length) /* the only block */                                                                   \
                return from;                                                                                           \
            if (size & length) {                                                                                       \
                const TYPE *block = from + at * channels;                                                              \
                if (at)                                                                                                \
                    for (int64_t x = 0; x < n; x++)                                                                    \
                        sum[x] = (TYPE)(sum[x] + block[x]);                                                            \
                else                                                                                                   \
                    memcpy(sum, block, (size_t)n * sizeof *sum);                                                       \
                at += length;                                                                                          \
            }                                                                                                          \
            if (2 * length > size)                                                                                     \
                break;                                                                                                 \
            have -= length * channels;                                                                                 \
            NAME##_double(to, from, length *channels, have);                                                           \
            TYPE *swap = from;                                                                                         \
            from = to;                                                                                                 \
            to = swap;                                                                                                 \
        }                                                                                                              \
        return sum;                                                                                                    \
    }

int SMP_PASTE(box_bytes, SMP_ISA)(const smp_io *io, const smp_box *box, void *scratch, int64_t y0, int64_t y1);
#endif
