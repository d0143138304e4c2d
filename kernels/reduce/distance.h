/* distance: how far each pixel is from the nearest one of the background, exactly. Distances down the columns come
 * first, then the best of a row (Meijster, Roerdink, Hesselink 2000; Felzenszwalb and Huttenlocher 2012).
 *
 * Two passes. Counting: uint16_t [blocks][width]; of SMP_DISTANCE_ROWS rows of a column, the first and the last row of
 * background (low and high byte), or SMP_DISTANCE_NONE. Applying: io->table is int32_t [blocks][2][width], the nearest
 * row of background above the block, -1 where there is none, and the nearest below it, or the height. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum {
    SMP_DISTANCE_ROWS = 16,       /* of a block; strips begin at multiples */
    SMP_DISTANCE_NONE = 0xffff,   /* no background in a column of a block */
    SMP_DISTANCE_FAR = INT32_MAX, /* the same of a whole column */
    SMP_DISTANCE_SIDE = 30000,    /* px up to which squares of distances fit 32 bits */
    SMP_DISTANCE_ACROSS = 256,    /* GPU, tiled: pixels of a block, */
    SMP_DISTANCE_HALO = 64        /* and of what lies beside them in shared memory */
};

typedef enum smp_metric { SMP_METRIC_L2, SMP_METRIC_L1, SMP_METRIC_LINF } smp_metric;

typedef struct smp_distance {
    float level; /* code value below which a pixel is background */
    int32_t metric;
} smp_distance;

/* NaN is no background. */
SMP_HOST_DEVICE int smp_distance_ground(const smp_distance *p, const smp_view *in, const void *row, int64_t x)
{
    return smp_load(row, x * in->channels, in->format) < p->level;
}

SMP_HOST_DEVICE uint16_t smp_distance_block(const smp_distance *p, const smp_view *in, int64_t x, int64_t y, int rows)
{
    int first = -1, last = 0;
    for (int k = 0; k < rows; k++)
        if (smp_distance_ground(p, in, smp_row(in, y + k), x)) {
            first = first < 0 ? k : first;
            last = k;
        }
    return (uint16_t)(first < 0 ? SMP_DISTANCE_NONE : first | last << 8);
}

/* Rows from y to the nearest background above it or at it, and below it, where the block has some or the table tells.
 */
SMP_HOST_DEVICE int32_t smp_distance_nearer(int64_t y, int64_t above, int64_t below, int64_t height)
{
    const int64_t far = SMP_DISTANCE_FAR, up = above < 0 ? far : y - above, down = below >= height ? far : below - y;
    return (int32_t)(up < down ? up : down);
}

/* The distance in column x, of pixel y, from the picture and the table. */
SMP_HOST_DEVICE int32_t smp_distance_column(const smp_distance *p, const smp_io *io, int64_t x, int64_t y)
{
    const smp_view *in = &io->in;
    const int64_t block = y / SMP_DISTANCE_ROWS, top = block * SMP_DISTANCE_ROWS;
    const int64_t end = top + SMP_DISTANCE_ROWS < in->height ? top + SMP_DISTANCE_ROWS : in->height;
    const int32_t *table = (const int32_t *)io->table + 2 * block * in->width;
    int64_t above = y, below = y;
    while (above >= top && !smp_distance_ground(p, in, smp_row(in, above), x))
        above--;
    while (below < end && !smp_distance_ground(p, in, smp_row(in, below), x))
        below++;
    above = above < top ? table[x] : above;
    below = below >= end ? table[in->width + x] : below;
    return smp_distance_nearer(y, above, below, in->height);
}

/* Returns the distance by a column `aside` px beside, whose own distance is g. Squared for l2. */
SMP_HOST_DEVICE int64_t smp_distance_by(int metric, int64_t aside, int32_t g)
{
    if (g == SMP_DISTANCE_FAR)
        return INT64_MAX;
    return metric == SMP_METRIC_L2   ? aside * aside + (int64_t)g * g
           : metric == SMP_METRIC_L1 ? aside + g
           : aside > g               ? aside
                                     : g;
}

/* The least that a column so far beside can give. */
SMP_HOST_DEVICE int64_t smp_distance_least(int metric, int64_t aside)
{
    return metric == SMP_METRIC_L2 ? aside * aside : aside;
}

SMP_HOST_DEVICE float smp_distance_result(int metric, int64_t best)
{
    if (best == INT64_MAX)
        return INFINITY;
    return metric == SMP_METRIC_L2 ? (float)sqrt((double)best) : (float)best;
}

/* The result at column x of a row of column distances: the nearest columns first, as far as they can be better. */
SMP_HOST_DEVICE float smp_distance_row(int metric, const int32_t *g, int64_t x, int64_t width)
{
    int64_t best = smp_distance_by(metric, 0, g[x]);
    for (int64_t aside = 1; aside < width && smp_distance_least(metric, aside) < best; aside++) {
        const int64_t left = x >= aside ? smp_distance_by(metric, aside, g[x - aside]) : INT64_MAX;
        const int64_t right = x + aside < width ? smp_distance_by(metric, aside, g[x + aside]) : INT64_MAX;
        best = left < best ? left : best;
        best = right < best ? right : best;
        if (x < aside && x + aside >= width)
            break;
    }
    return smp_distance_result(metric, best);
}

/* CPU scratch: column distances of a block, rows of background, and the envelope of a row. */
static inline size_t smp_distance_scratch(const smp_io *io, const void *params)
{
    (void)params;
    return ((size_t)io->in.width + 64) * ((size_t)SMP_DISTANCE_ROWS + 6) * sizeof(int32_t);
}

SMP_CPU_DECLARE(distance_blocks_naive);
SMP_CPU_DECLARE(distance_blocks_tiled);
SMP_CPU_DECLARE(distance_columns); /* naive, first launch: to an int32_t picture in the scratch picture */
SMP_CPU_DECLARE(distance_rows);    /* naive, second launch */
SMP_CPU_DECLARE(distance_tiled);
