/* clahe: local contrast, limited. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "elementwise/clahe.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/reduce/counting.h"

enum { LUMA, EACH };
enum { MOST_SLOTS = 1 << 25 /* entries of all tables: 64 MB */ };

typedef struct params {
    int64_t tiles;
    double clip;
    int channel;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(tiles, NONE, 1, SMP_CLAHE_MOST, "8", "tiles a side: more follow smaller parts of the picture",
                  SMP_P_MAIN),
    SMP_PARAM_FLOAT(clip, NONE, 0, 1000, "2",
                    "the most contrast, as a multiple of what an even histogram gives; 0: no limit", 0),
    SMP_PARAM_ENUM(channel, "luma", "luma: brightness, keeping colour; each: every channel by itself", 0, "luma",
                   "each"),
    {0},
};

/* Columns (or rows) from which on each cell begins. */
static void cells(int32_t *from, int32_t tiles, int32_t tile, float per_tile, int64_t length)
{
    from[0] = 0;
    for (int32_t cell = 1; cell <= tiles; cell++) {
        int64_t at = smp_max_i64(0, (int64_t)((double)tile * (cell - 0.5)) - 2);
        float share;
        while (at < length && smp_clahe_cell(at, per_tile, &share) < cell - 1)
            at++;
        from[cell] = (int32_t)smp_min_i64(at, length);
    }
    from[tiles + 1] = (int32_t)length;
}

/* For formats other than 8 bits. */
static const smp_variant value_reducers[] = {
    {SMP_RUNG("naive", "hands on the values, which the host counts",
              SMP_LAUNCH(clahe_values, .geometry = smp_geometry_pixels))},
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_clahe *k = SMP_PLAN_KERNEL(work, smp_clahe);
    const int colours = in->channels - in->alpha;
    const int32_t tiles = (int32_t)p->tiles;
    if (in->width > INT32_MAX - SMP_CLAHE_MOST || in->height > INT32_MAX - SMP_CLAHE_MOST)
        return smp_fail(err, SMP_E_PIPE, "the picture is too large for tiles");
    k->count = smp_histogram_over(in->format == SMP_U8 ? SMP_CLAHE_BYTES : SMP_MAX_BINS, 0);
    if (p->channel == LUMA)
        smp_count_luma(in, &k->count);
    const bool divides = in->width % tiles == 0 && in->height % tiles == 0; /* else both sides grow, as in OpenCV */
    k->tiles = tiles;
    k->tile_width = (int32_t)((in->width + (divides ? 0 : tiles - in->width % tiles)) / tiles);
    k->tile_height = (int32_t)((in->height + (divides ? 0 : tiles - in->height % tiles)) / tiles);
    k->per_width = 1.f / (float)k->tile_width;
    k->per_height = 1.f / (float)k->tile_height;
    cells(k->x, tiles, k->tile_width, k->per_width, in->width);
    cells(k->y, tiles, k->tile_height, k->per_height, in->height);
    const size_t slots =
        (size_t)(k->count.colours ? 1 : colours) * (size_t)tiles * (size_t)tiles * (size_t)k->count.bins;
    if (slots > MOST_SLOTS)
        return smp_fail(err, SMP_E_PIPE, "the tables of %d x %d tiles of %d values take %zu MB: too much", tiles, tiles,
                        k->count.bins, slots >> 19),
               smp_hint(err, "take fewer tiles, or 8 bits: 'depth 8bit' before it");
    const size_t planes = (size_t)(k->count.colours ? 1 : colours), pixels = (size_t)in->width * (size_t)in->height;
    work->reduction.kind = in->format == SMP_U8 ? SMP_RESULT_COUNTS : SMP_RESULT_CHUNKS;
    work->reduction.size = in->format == SMP_U8    ? slots * sizeof(uint64_t)
                           : in->format == SMP_U16 ? planes * pixels * sizeof(uint16_t)
                                                   : planes * pixels * sizeof(float);
    if (in->format != SMP_U8)
        work->reduction.reducers = value_reducers;
    work->table.size = slots * sizeof(uint16_t);
    work->values.clips = k->count.colours > 0;
    work->ops = 12;
    return SMP_OK;
}

/* Cuts what is above the limit, and shares it out: all bins alike, then one each to bins at even distances. */
static void limit_counts(uint64_t *counts, int32_t bins, uint64_t limit)
{
    uint64_t excess = 0;
    for (int32_t i = 0; i < bins; i++)
        if (counts[i] > limit) {
            excess += counts[i] - limit;
            counts[i] = limit;
        }
    const uint64_t all = excess / (uint64_t)bins;
    uint64_t rest = excess % (uint64_t)bins;
    const int32_t step = rest ? (int32_t)smp_max_i64(1, bins / (int64_t)rest) : 1;
    for (int32_t i = 0; i < bins; i++)
        counts[i] += all;
    for (int32_t i = 0; i < bins && rest; i += step, rest--)
        counts[i]++;
}

/* Counts a tile of the mirrored picture from the values of a plane. What lies outside the bins is noted. */
static void count_values(uint64_t *counts, const smp_clahe *k, const smp_shape *in, const void *values, int ty, int tx,
                         smp_extent *extent)
{
    for (int64_t i = 0; i < k->tile_height; i++) {
        const int64_t y = smp_border((int64_t)ty * k->tile_height + i, in->height, SMP_MIRROR) * in->width;
        for (int64_t j = 0; j < k->tile_width; j++) {
            const int64_t column = (int64_t)tx * k->tile_width + j;
            const int64_t x = column < in->width ? column : smp_border(column, in->width, SMP_MIRROR);
            if (in->format == SMP_U16) {
                counts[((const uint16_t *)values)[y + x]]++;
                continue;
            }
            const float v = ((const float *)values)[y + x];
            const int32_t bin = smp_histogram_bin(v, 1.f, &k->count);
            if (bin == k->count.bins)
                continue;
            counts[bin]++;
            extent->infinite |= isinf(v);
            extent->least = fmin(extent->least, (double)v);
            extent->most = fmax(extent->most, (double)v);
        }
    }
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *, smp_error *err)
{
    const params *p = given;
    const smp_clahe *k = (const smp_clahe *)(const void *)work->kernel.bytes;
    const int32_t bins = k->count.bins;
    const int64_t area = (int64_t)k->tile_width * k->tile_height, pixels = in->width * in->height;
    const uint64_t limit = p->clip > 0 ? (uint64_t)fmax(1, floor(p->clip * (double)area / bins)) : UINT64_MAX;
    const float scale = (float)(bins - 1) / (float)area, most = (float)(bins - 1);
    const int tiles = k->tiles, planes = (int)(work->table.size / sizeof(uint16_t) / (size_t)bins) / (tiles * tiles);
    uint64_t *counts = smp_alloc_array((size_t)bins, sizeof *counts);
    uint16_t *to = work->table.data;
    smp_extent extent = {.least = 0, .most = 1};
    SMP_NEED(counts, "the tables of clahe", (uint64_t)bins * sizeof *counts, err);
    for (int tile = 0; tile < planes * tiles * tiles; tile++, to += bins) {
        const int64_t plane = tile / (tiles * tiles), size = in->format == SMP_U16 ? 2 : 4;
        memset(counts, 0, (size_t)bins * sizeof *counts);
        if (in->format == SMP_U8)
            memcpy(counts, (const uint64_t *)result + (int64_t)tile * bins, (size_t)bins * sizeof *counts);
        else
            count_values(counts, k, in, (const char *)result + plane * pixels * size, tile / tiles % tiles,
                         tile % tiles, &extent);
        if (p->clip > 0)
            limit_counts(counts, bins, limit);
        uint64_t sum = 0;
        for (int32_t i = 0; i < bins; i++) {
            sum += counts[i];
            to[i] = (uint16_t)smp_round_to((float)sum * scale, most);
        }
    }
    smp_free(counts);
    extent.below = extent.infinite || extent.least < -1. / bins;
    extent.above = extent.infinite || extent.most > 1 + 1. / bins;
    smp_count_outside(extent.below || extent.above ? &extent : NULL, &k->count, work);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ launches */

static void each_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_clahe *k = kernel;
    smp_io mirrored = *io;
    mirrored.out.channels = 1;
    mirrored.out.width = smp_clahe_wide(k);
    mirrored.out.rows += smp_clahe_high(k) - io->in.height;
    smp_geometry_samples(&mirrored, kernel, grid);
}

static void shared_grid(int64_t across, int64_t rows, int planes, int64_t words, smp_grid *grid)
{
    const int64_t pieces = (rows + SMP_CLAHE_ROWS - 1) / SMP_CLAHE_ROWS;
    *grid = (smp_grid){
        .grid = {(unsigned)across, (unsigned)smp_clamp_i64(pieces, 1, smp_grid_most(grid)), (unsigned)planes},
        .block = {SMP_BLOCK_THREADS, 1, 1},
        .shared_bytes = (unsigned)(words * (int64_t)sizeof(uint32_t))};
}

static void count_shared(const smp_io *io, const smp_clahe *k, int copies, smp_grid *grid)
{
    shared_grid(k->tiles, io->out.rows + smp_clahe_high(k) - io->in.height, smp_clahe_planes(k, &io->in),
                (int64_t)SMP_CLAHE_BYTES * copies, grid);
}

static const char *count_tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    count_shared(io, kernel, 1, grid);
    return "clahe_count_tiled";
}

static const char *count_private(const smp_io *io, const void *kernel, smp_grid *grid)
{
    count_shared(io, kernel, 32, grid);
    return "clahe_count_private";
}

static const char *apply_tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_clahe *k = kernel;
    const int planes = smp_clahe_planes(k, &io->in);
    shared_grid(k->tiles + 1, io->out.rows, 1, (int64_t)SMP_CLAHE_BYTES * planes, grid);
    return k->count.bins == SMP_CLAHE_BYTES ? "clahe_tiled" : NULL;
}

static const smp_variant reducers[] = {
    {SMP_RUNG("naive", "one increment in memory a pixel",
              SMP_LAUNCH(clahe_count_naive, .geometry = each_geometry, .counts = true))},
    {SMP_RUNG("tiled", "tile by tile in small tables; on GPUs a histogram a block in shared memory",
              SMP_LAUNCH_AS(clahe_count_tiled, .counts = true, .decide = count_tiled)),
     .scratch = smp_clahe_scratch},
    {SMP_RUNG("private", "on GPUs a counter for each bank of shared memory, so that lanes never wait for each other",
              SMP_LAUNCH_AS(clahe_count_tiled, .counts = true, .decide = count_private)),
     .scratch = smp_clahe_scratch},
    {0},
};

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "four look-ups a pixel", SMP_LAUNCH_SAMPLES(clahe_naive))},
    {SMP_RUNG("tiled",
              "between the same tiles one table of words for bytes, on GPUs in shared memory: one look-up a pixel",
              SMP_LAUNCH_AS(clahe_tiled, .decide = apply_tiled)),
     .scratch = smp_clahe_scratch},
    {0},
};

const smp_stage smp_stage_clahe = {
    .name = "clahe",
    .help = "local contrast, limited: detail in shadows and in lights alike",
    .about =
        "Contrast limited adaptive histogram equalisation, as OpenCV's createCLAHE computes it, in f32. The picture is "
        "cut into tiles x tiles. In a tile's histogram no bin keeps more than clip times its even share; what is cut "
        "is shared out. The tile's cumulative histogram, scaled to full scale and rounded, is its table; a pixel mixes "
        "those of the four tiles round it by distance. Where a side is not a multiple of tiles, the picture is "
        "mirrored to the right and below for counting.\n"
        "Bins: every value of 8 and 16 bits; 65536 over 0..1 for float pictures, of which none may lie outside.\n"
        "channel=luma takes Y = 0.299 R + 0.587 G + 0.114 B and adds its change to every colour, as `equalize` does; a "
        "strongly coloured pixel can leave the range. Alpha stays, and pixels count however transparent they are.",
    .example = "clahe 4 clip=3",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = reducers),
    SMP_ALSO({"adapthisteq equalize_adapthist hist_local localcontrast local_contrast", "clahe"}),
};
