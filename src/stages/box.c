/* box: mean of a square. */
#include "stencil/box.h"

#include "stages/shared/launch_shapes.h"
#include "stages/shared/stencil/warp_strip_launch.h"
#include "stages/shared/stencil/window_plan.h"
#include "stages/stage.h"

typedef struct params {
    int64_t size;
    double fill;
    int edge;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(size, PX, 1, SMP_BOX_MAX, NULL, "side of the square; 1 changes nothing", SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_WINDOW_EDGE(params),
    SMP_WINDOW_FILL(params),
    {0},
};

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = given;
    if (p->size <= 1) {
        work->effect.none = true;
        return SMP_OK;
    }
    smp_box box = {.size = (int32_t)p->size, .edge = p->edge, .fill = (float)p->fill};
    smp_plan_kernel(work, &box, sizeof box);
    work->rows.up = smp_stencil_reach(smp_box_before(&box), smp_box_after(&box), p->edge);
    work->rows.down = smp_stencil_reach(smp_box_after(&box), smp_box_before(&box), p->edge);
    work->rows.whole = p->edge == SMP_WRAP;
    for (int32_t length = 1; length < box.size; length *= 2) /* a doubling, and the sum of blocks, in each pass */
        work->ops += 2 + (box.size & length ? 2 : 0);
    work->ops += 1;
    return SMP_OK;
}

static size_t scratch(const smp_io *io, const void *kernel)
{
    const smp_box *box = kernel;
    return smp_box_scratch(box->size, io->in.channels);
}

/* If two copies of a window do not fit shared memory, the same kernel adds sample by sample. */
static void rows_grid(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const smp_tiles tiles = {SMP_BOX_ACROSS, 1, SMP_BOX_ACROSS / 4, 1};
    const unsigned bytes = smp_box_row_shared(kernel, io->in.channels);
    if (bytes)
        smp_grid_sample_tiles(io, &tiles, grid);
    else
        smp_geometry_samples(io, kernel, grid);
    grid->shared_bytes = bytes;
}

static void columns_grid(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const smp_tiles tiles = {SMP_BOX_COLUMNS, SMP_BOX_DOWN, SMP_BOX_COLUMNS / 4 * SMP_BOX_DOWN / 2, 1};
    const unsigned bytes = smp_box_column_shared(kernel);
    if (bytes)
        smp_grid_sample_tiles(io, &tiles, grid);
    else
        smp_geometry_samples(io, kernel, grid);
    grid->shared_bytes = bytes;
}

static const char *warp(const smp_io *io, const void *kernel, smp_grid *grid)
{
#define WARP(SIZE) "box_warp" #SIZE "_1", NULL, "box_warp" #SIZE "_3", "box_warp" #SIZE "_4"
    static const char *const names[SMP_BOX_WARP_SIZE / 2][4] = {{WARP(3)},  {WARP(5)},  {WARP(7)}, {WARP(9)},
                                                                {WARP(11)}, {WARP(13)}, {WARP(15)}};
#undef WARP
    const smp_box *box = kernel;
    const smp_bands bands = {.most = smp_box_band(box->size), .halo = box->size - 1};
    if (!smp_box_warp(box, io))
        return NULL;
    smp_strip_grid(io, SMP_STRIP_BYTES, &bands, grid);
    return names[box->size / 2 - 1][io->in.channels - 1];
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "row sums into an f32 picture, column sums out of it",
              {.from = SMP_IN, .to = SMP_SCRATCH, .cpu = SMP_CPU(box_rows), .cuda = "box_rows"},
              {.from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(box_columns), .cuda = "box_columns"})},
    {SMP_RUNG(
         "tiled",
         "windows double in log2(size) passes over what is in cache, or in shared memory; CPU: rows and columns in "
         "one walk",
         {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(box_tiled)},
         {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "box_rows_tiled", .geometry = rows_grid},
         {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "box_columns_tiled", .geometry = columns_grid}),
     .scratch = scratch, .band = 16},
    {SMP_RUNG("warp",
              "GPU, 8 bits, odd sizes up to 15, 1, 3 or 4 channels, no fill outside: one warp walks down a strip with "
              "running sums; others and CPU as tiled",
              SMP_LAUNCH_AS(box_tiled, .decide = warp)),
     .scratch = scratch, .band = 16},
    {0},
};

const smp_stage smp_stage_box = {
    .name = "box",
    .help = "mean of a square of size x size pixels",
    .about =
        "out = sum of the square / size^2. An even square reaches one pixel further up and left, as in "
        "scipy.ndimage.uniform_filter. Rows are summed first, then columns, in f32: a window is cut into blocks "
        "whose lengths are the powers of two in its size, the shortest first, each added in pairs; sums of integers "
        "are exact up to 2^24 (8-bit pictures: size 256), and the mean is one division.\n"
        "Alpha is averaged like a colour; colour is premultiplied.",
    .example = "box 5px",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    SMP_ALSO({"boxblur boxfilter box_blur mean average avgblur uniform_filter", "box"}),
};
