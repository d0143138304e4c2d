/* distance: to the nearest pixel of the background. */
#include "reduce/distance.h"

#include "base/checked.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/samples/one_channel.h"

typedef struct params {
    double level;
    int metric;
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(metric, "l2", "l2: straight; l1: along rows and columns; linf: the longer of the two", SMP_P_MAIN,
                   "l2", "l1", "linf"),
    SMP_PARAM_FLOAT(level, FRACTION, 0, 1, "50%", "what lies below is background", SMP_P_LEVEL),
    {0},
};

static int64_t blocks_of(const smp_shape *in)
{
    return (in->height + SMP_DISTANCE_ROWS - 1) / SMP_DISTANCE_ROWS;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_distance *k = SMP_PLAN_KERNEL(work, smp_distance);
    SMP_TRY(smp_one_channel(in, "distance", "write 'gray' before it", err));
    if (in->width >= INT32_MAX / 4 || in->height >= INT32_MAX / 4 ||
        !smp_mul_size((size_t)blocks_of(in) * 2 * sizeof(int32_t), (size_t)in->width, &work->table.size))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large for distances");
    *k = (smp_distance){.level = (float)(p->level * (double)smp_white(in->format)), .metric = p->metric};
    work->out.format = SMP_F32;
    work->out.channels = 1;
    work->out.alpha = false;
    work->values.no_light = true;
    work->rows.unit = SMP_DISTANCE_ROWS;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = (size_t)(blocks_of(in) * in->width) * sizeof(uint16_t);
    work->ops = 20;
    return SMP_OK;
}

/* The nearest rows of background above and below each block. */
static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *work, smp_measurements *,
                       smp_error *)
{
    const int64_t width = in->width, blocks = blocks_of(in);
    const uint16_t *found = result;
    int32_t *to = work->table.data;
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t x = 0; x < width; x++) {
            const uint16_t before = b ? found[(b - 1) * width + x] : SMP_DISTANCE_NONE;
            to[2 * b * width + x] = before != SMP_DISTANCE_NONE ? (int32_t)((b - 1) * SMP_DISTANCE_ROWS + (before >> 8))
                                    : b                         ? to[2 * (b - 1) * width + x]
                                                                : -1;
        }
    for (int64_t b = blocks - 1; b >= 0; b--)
        for (int64_t x = 0; x < width; x++) {
            const uint16_t after = b + 1 < blocks ? found[(b + 1) * width + x] : SMP_DISTANCE_NONE;
            to[(2 * b + 1) * width + x] = after != SMP_DISTANCE_NONE
                                              ? (int32_t)((b + 1) * SMP_DISTANCE_ROWS + (after & 0xff))
                                          : b + 1 < blocks ? to[(2 * b + 3) * width + x]
                                                           : (int32_t)in->height;
        }
    return SMP_OK;
}

static void blocks_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const int64_t rows = (io->out.rows + SMP_DISTANCE_ROWS - 1) / SMP_DISTANCE_ROWS;
    const smp_io blocks = smp_grid_over(io, io->out.width, rows, 1);
    smp_geometry_samples(&blocks, kernel, grid);
}

static const smp_variant reducers[] = {
    {SMP_RUNG("naive", "column by column", SMP_LAUNCH(distance_blocks_naive, .geometry = blocks_geometry)),
     .band = SMP_DISTANCE_ROWS},
    {SMP_RUNG("tiled", "row by row in vectors (GPU: as naive)",
              SMP_LAUNCH_AS(distance_blocks_tiled, .cuda = "distance_blocks_naive", .geometry = blocks_geometry)),
     .scratch = smp_distance_scratch, .band = SMP_DISTANCE_ROWS},
    {0},
};

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "outwards from every pixel",
              {SMP_IN, SMP_SCRATCH, SMP_CPU(distance_columns), "distance_columns_naive", NULL, false},
              {SMP_SCRATCH, SMP_OUT, SMP_CPU(distance_rows), "distance_rows_naive", NULL, false}),
     .band = SMP_DISTANCE_ROWS},
    {SMP_RUNG("tiled", "blocks of rows in cache, near distances in vectors; on GPUs pieces of rows in shared memory",
              {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(distance_tiled)},
              {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "distance_columns_tiled", .geometry = blocks_geometry},
              {.from = SMP_SCRATCH,
               .to = SMP_OUT,
               .cuda = "distance_rows_tiled",
               .tiles = {SMP_DISTANCE_ACROSS, 1, SMP_DISTANCE_ACROSS, 1}}),
     .scratch = smp_distance_scratch, .band = SMP_DISTANCE_ROWS},
    {0},
};

const smp_stage smp_stage_distance = {
    .name = "distance",
    .help = "how far each pixel is from the background, in pixels; the result is float",
    .about =
        "Background is what lies below level; there the distance is 0, elsewhere that to the nearest background pixel: "
        "metric=l2 the root of dx^2 + dy^2, from whole numbers and one square root (scipy's "
        "distance_transform_edt), l1 |dx| + |dy|, linf the larger of |dx| and |dy| (distance_transform_cdt's taxicab "
        "and chessboard). Without any background it is infinite.\n"
        "The result is a float picture of one channel whose values are pixels, not fractions: `multiply` scales it "
        "for a file of 8 or 16 bits.",
    .example = "distance l1",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, variants),
    .traits = SMP_TRAIT_PIXELS,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = reducers),
    SMP_ALSO({"edt distancetransform distance_transform bwdist distance_transform_edt", "distance"}),
};
