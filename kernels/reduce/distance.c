/* distance on the CPU.
 *   naive  two launches: distances in columns, then outwards along the row from every pixel.
 *   tiled  a block of rows in cache. Columns move in vectors. In a row the pixels of a vector look outwards together,
 *          which takes as many steps as the largest distance; where that is long, the row's lower envelope of parabolas
 *          instead, whose time does not depend on distances. */
#include "reduce/distance.h"

#include <string.h>

static int block_rows(const smp_io *io, int64_t y)
{
    const int64_t rows = io->in.height - y;
    return rows < SMP_DISTANCE_ROWS ? (int)rows : SMP_DISTANCE_ROWS;
}

SMP_CPU_KERNEL(distance_blocks_naive)
{
    const int64_t width = io->in.width;
    for (int64_t y = y0; y < y1; y += SMP_DISTANCE_ROWS)
        for (int64_t x = 0; x < width; x++)
            ((uint16_t *)io->result)[y / SMP_DISTANCE_ROWS * width + x] =
                smp_distance_block(params, &io->in, x, y, block_rows(io, y));
}

SMP_CPU_KERNEL(distance_columns)
{
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            ((int32_t *)smp_row(&io->out, y))[x] = smp_distance_column(params, io, x, y);
}

SMP_CPU_KERNEL(distance_rows)
{
    const smp_distance *p = params;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->out.width; x++)
            ((float *)smp_row(&io->out, y))[x] =
                smp_distance_row(p->metric, (const int32_t *)smp_row(&io->in, y), x, io->out.width);
}

/* ------------------------------------------------------------------------------------------------ columns */

/* 1 where a pixel of the row is background. */
static void grounds(uint8_t *restrict to, const smp_io *io, const smp_distance *p, int64_t y)
{
    const smp_view *in = &io->in;
    const void *row = smp_row(in, y);
    const float level = p->level;
    const uint8_t *restrict bytes = row;
    if (in->format == SMP_U8 && in->channels == 1)
        for (int64_t x = 0; x < in->width; x++)
            to[x] = (float)bytes[x] < level;
    else
        for (int64_t x = 0; x < in->width; x++)
            to[x] = (uint8_t)smp_distance_ground(p, in, row, x);
}

SMP_CPU_KERNEL(distance_blocks_tiled)
{
    const int64_t width = io->in.width;
    uint8_t *restrict ground = scratch;
    for (int64_t y = y0; y < y1; y += SMP_DISTANCE_ROWS) {
        uint16_t *restrict to = (uint16_t *)io->result + y / SMP_DISTANCE_ROWS * width;
        memset(to, 0xff, (size_t)width * sizeof *to);
        for (int k = 0; k < block_rows(io, y); k++) {
            const uint16_t row = (uint16_t)(k | k << 8), last = (uint16_t)(k << 8);
            grounds(ground, io, params, y + k);
            for (int64_t x = 0; x < width; x++) {
                const uint16_t here = to[x] == SMP_DISTANCE_NONE ? row : (uint16_t)((to[x] & 0xff) | last);
                to[x] = ground[x] ? here : to[x];
            }
        }
    }
}

/* Column distances of the rows of a block: down from the nearest background above, then up from that below. */
static void block_columns(const smp_io *io, const smp_distance *p, int64_t y, int rows, int32_t *restrict to,
                          int64_t pitch, int32_t *restrict near, uint8_t *restrict ground)
{
    const int64_t width = io->in.width;
    const int32_t *restrict above = (const int32_t *)io->table + 2 * (y / SMP_DISTANCE_ROWS) * width;
    const int32_t *restrict below = above + width;
    const int32_t height = (int32_t)io->in.height, top = (int32_t)y;
    for (int64_t x = 0; x < width; x++)
        near[x] = above[x];
    for (int k = 0; k < rows; k++) {
        int32_t *restrict row = to + k * pitch;
        const int32_t at = top + k;
        grounds(ground, io, p, y + k);
        for (int64_t x = 0; x < width; x++) {
            near[x] = ground[x] ? at : near[x];
            row[x] = near[x] < 0 ? SMP_DISTANCE_FAR : at - near[x];
        }
    }
    for (int64_t x = 0; x < width; x++)
        near[x] = below[x];
    for (int k = rows - 1; k >= 0; k--) {
        int32_t *restrict row = to + k * pitch;
        const int32_t at = top + k;
        for (int64_t x = 0; x < width; x++) {
            near[x] = row[x] == 0 ? at : near[x];
            const int32_t down = near[x] >= height ? SMP_DISTANCE_FAR : near[x] - at;
            row[x] = down < row[x] ? down : row[x];
        }
    }
}

/* ------------------------------------------------------------------------------------------------ rows */

enum {
    LANES = 16,   /* pixels that look outwards together */
    STEPS = 96,   /* as far as they do */
    TOGETHER = 8, /* steps between two looks whether all have found: more change no result */
};
#define FAR_SQUARE (INT32_MAX / 2)

/* Results of the row where all squares are below 2^30. g: with STEPS far columns on both sides, squared already. False:
 * some pixels need to look further. */
SMP_INLINE int look_outwards(float *restrict to, const int32_t *restrict squares, int64_t width, const int metric)
{
    for (int64_t x0 = 0; x0 < width; x0 += LANES) {
        const int32_t *g = squares + x0;
        int32_t best[LANES], most = 0;
        for (int i = 0; i < LANES; i++)
            best[i] = g[i];
        for (int32_t first = 1;; first += TOGETHER) {
            most = 0;
            for (int i = 0; i < LANES; i++)
                most = best[i] > most ? best[i] : most;
            if ((metric == SMP_METRIC_L2 ? first * first : first) >= most)
                break;
            if (first > STEPS)
                return 0;
            for (int32_t aside = first; aside < first + TOGETHER; aside++) {
                const int32_t least = metric == SMP_METRIC_L2 ? aside * aside : aside;
                for (int i = 0; i < LANES; i++) {
                    int32_t v = g[i - aside] < g[i + aside] ? g[i - aside] : g[i + aside];
                    v = metric == SMP_METRIC_LINF ? (v > least ? v : least) : v + least;
                    best[i] = v < best[i] ? v : best[i];
                }
            }
        }
        for (int i = 0; i < LANES && x0 + i < width; i++)
            to[x0 + i] = metric == SMP_METRIC_L2 ? (float)sqrt((double)best[i]) : (float)best[i];
    }
    return 1;
}

/* The lower envelope of parabolas x -> (x - at)^2 + g[at]^2: from which pixel on each is the lowest (Felzenszwalb). */
static void envelope(float *restrict to, const int32_t *restrict g, int64_t width, int32_t *restrict at,
                     int32_t *restrict from)
{
    int64_t n = 0;
    for (int64_t q = 0; q < width; q++) {
        if (g[q] == SMP_DISTANCE_FAR)
            continue;
        int64_t start = 0;
        while (n) { /* the first whole x at which q is lower than the last parabola */
            const int64_t last = at[n - 1],
                          rise = (q * q + (int64_t)g[q] * g[q]) - (last * last + (int64_t)g[last] * g[last]);
            const int64_t twice = 2 * (q - last);
            start = rise < 0 ? 0 : rise / twice + 1;
            if (start > from[n - 1])
                break;
            n--;
            start = 0;
        }
        if (start >= width)
            continue;
        at[n] = (int32_t)q;
        from[n++] = (int32_t)start;
    }
    for (int64_t x = 0, k = 0; x < width; x++) {
        while (k + 1 < n && from[k + 1] <= x)
            k++;
        const int64_t aside = n ? x - at[k] : 0;
        to[x] = smp_distance_result(
            SMP_METRIC_L2, n ? smp_distance_by(SMP_METRIC_L2, aside < 0 ? -aside : aside, g[at[k]]) : INT64_MAX);
    }
}

/* Sums of distances: forwards, then backwards. */
static void city_blocks(float *restrict to, int32_t *restrict g, int64_t width)
{
    for (int64_t x = 1; x < width; x++)
        if (g[x - 1] != SMP_DISTANCE_FAR && g[x - 1] + 1 < g[x])
            g[x] = g[x - 1] + 1;
    for (int64_t x = width - 2; x >= 0; x--)
        if (g[x + 1] != SMP_DISTANCE_FAR && g[x + 1] + 1 < g[x])
            g[x] = g[x + 1] + 1;
    for (int64_t x = 0; x < width; x++)
        to[x] = smp_distance_result(SMP_METRIC_L1, g[x] == SMP_DISTANCE_FAR ? INT64_MAX : g[x]);
}

/* The longer of two: from which pixel on each column is the nearest (Meijster). far: more than any distance. */
static void chessboard(float *restrict to, int32_t *restrict g, int64_t width, int32_t far, int32_t *restrict at,
                       int32_t *restrict from)
{
#define LONGER(x, i) ((x) > (i) ? ((x) - (i) > g[i] ? (x) - (i) : g[i]) : (i) - (x) > g[i] ? (i) - (x) : g[i])
    int64_t n = 1;
    for (int64_t x = 0; x < width; x++)
        g[x] = g[x] == SMP_DISTANCE_FAR ? far : g[x];
    at[0] = from[0] = 0;
    for (int32_t q = 1; q < (int32_t)width; q++) {
        while (n && LONGER(from[n - 1], at[n - 1]) > LONGER(from[n - 1], q))
            n--;
        if (!n) {
            at[0] = q;
            from[n++] = 0;
            continue;
        }
        const int32_t last = at[n - 1], middle = (int32_t)(((int64_t)last + q) / 2);
        const int64_t until = g[last] <= g[q] ? (last + (int64_t)g[q] > middle ? last + (int64_t)g[q] : middle)
                                              : (q - (int64_t)g[last] < middle ? q - (int64_t)g[last] : middle);
        if (until + 1 < width) {
            at[n] = q;
            from[n++] = (int32_t)(until + 1);
        }
    }
    for (int32_t x = (int32_t)width - 1; x >= 0; x--) {
        const int32_t best = LONGER(x, at[n - 1]);
        to[x] = smp_distance_result(SMP_METRIC_LINF, best >= far ? INT64_MAX : best);
        n -= x == from[n - 1];
    }
#undef LONGER
}

SMP_CPU_KERNEL(distance_tiled)
{
    const smp_distance *p = params;
    const int64_t width = io->in.width, pitch = width + 16;
    int32_t *columns = scratch, *near = columns + SMP_DISTANCE_ROWS * pitch, *spare = near + pitch;
    uint8_t *ground = (uint8_t *)(spare + 2 * pitch + 2 * (STEPS + LANES));
    const int together = width <= SMP_DISTANCE_SIDE && io->in.height <= SMP_DISTANCE_SIDE && width > 2 * STEPS;
    for (int64_t y = y0; y < y1; y += SMP_DISTANCE_ROWS) {
        const int rows = (int)(y1 - y < SMP_DISTANCE_ROWS ? y1 - y : SMP_DISTANCE_ROWS);
        block_columns(io, p, y, block_rows(io, y), columns, pitch, near, ground);
        for (int k = 0; k < rows; k++) {
            int32_t *g = columns + k * pitch, *squares = spare + STEPS;
            float *to = smp_row(&io->out, y + k);
            if (p->metric == SMP_METRIC_L1) {
                city_blocks(to, g, width);
                continue;
            }
            int done = 0;
            if (together) {
                for (int64_t i = 0; i < STEPS; i++)
                    spare[i] = squares[width + i] = FAR_SQUARE;
                for (int64_t i = 0; i < LANES; i++)
                    squares[width + STEPS + i] = FAR_SQUARE;
                for (int64_t x = 0; x < width; x++)
                    squares[x] = g[x] == SMP_DISTANCE_FAR     ? FAR_SQUARE
                                 : p->metric == SMP_METRIC_L2 ? g[x] * g[x]
                                                              : g[x];
                done = p->metric == SMP_METRIC_L2 ? look_outwards(to, squares, width, SMP_METRIC_L2)
                                                  : look_outwards(to, squares, width, SMP_METRIC_LINF);
            }
            if (!done && p->metric == SMP_METRIC_L2)
                envelope(to, g, width, spare, spare + pitch);
            else if (!done)
                chessboard(to, g, width, (int32_t)(width + io->in.height), spare, spare + pitch);
        }
    }
}
