/* integral: summed area table, and running sums. */
#include "reduce/integral.h"

#include <string.h>

#include "base/checked.h"
#include "stages/shared/launch_shapes.h"

typedef struct params {
    int along;
} params;

static const smp_param table[] = {
    SMP_PARAM_ENUM(along, "both", "both: of all pixels above and to the left; rows, columns: along these alone",
                   SMP_P_MAIN, "both", "rows", "columns"),
    {0},
};

static int64_t blocks_of(const smp_shape *in)
{
    return (in->height + SMP_INTEGRAL_ROWS - 1) / SMP_INTEGRAL_ROWS;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_integral *k = SMP_PLAN_KERNEL(work, smp_integral);
    k->along = p->along;
    k->white = (double)smp_white(in->format);
    work->out.format = SMP_F32;
    work->values.no_light = true;
    work->rows.unit = SMP_INTEGRAL_ROWS;
    work->ops = 3;
    if (p->along == SMP_ALONG_ROWS) {
        work->access = SMP_POINT;
        return SMP_OK;
    }
    if (!smp_mul_size((size_t)blocks_of(in) * sizeof(double), (size_t)in->width * (size_t)in->channels,
                      &work->table.size))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large to be summed");
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = work->table.size;
    return SMP_OK;
}

/* The sums of the blocks before each. */
static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *work, smp_measurements *,
                       smp_error *)
{
    const int64_t n = in->width * in->channels;
    const double *sums = result;
    double *to = work->table.data;
    memset(to, 0, (size_t)n * sizeof *to);
    for (int64_t i = n; i < n * blocks_of(in); i++)
        to[i] = smp_integral_one_nan(to[i - n] + sums[i - n]);
    return SMP_OK;
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    enum { THREADS = 32 /* a warp: a thread walks far, and few fill no larger block */ };
    const int64_t blocks = (io->out.rows + SMP_INTEGRAL_ROWS - 1) / SMP_INTEGRAL_ROWS;
    smp_grid_striding_line(blocks * smp_integral_walks(kernel, io), 1, THREADS, grid);
}

static void walk_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    const int64_t blocks = (io->out.rows + SMP_INTEGRAL_ROWS - 1) / SMP_INTEGRAL_ROWS;
    *grid = (smp_grid){.grid = {(unsigned)io->in.channels, (unsigned)smp_clamp_i64(blocks, 1, smp_grid_most(grid)), 1},
                       .block = {SMP_INTEGRAL_ACROSS, 1, 1}};
}

/* Whole numbers, whose running sums need no order. */
static bool scans(const smp_io *io, const void *kernel)
{
    return io->in.white != 1.f && ((const smp_integral *)kernel)->along != SMP_ALONG_COLUMNS;
}

/* Look-back: the words of the tiles lie in the rows of the scratch picture, if these have room for them. */
static const char *clears(const smp_io *io, const void *kernel, smp_grid *grid)
{
    enum { ACROSS = 32, DOWN = 8, BYTES_MOST = 1 << 20 /* pixels; kernels sum 16 rows of bytes in 32 bits */ };
    const int64_t tiles = smp_integral_tiles(io->in.width), most = smp_grid_most(grid);
    const int64_t words = tiles * io->in.channels + 1, rows = io->second.data ? io->second.rows : io->in.rows;
    *grid = (smp_grid){.grid = {(unsigned)smp_clamp_i64((words + ACROSS - 1) / ACROSS, 1, most),
                                (unsigned)smp_clamp_i64((rows + DOWN - 1) / DOWN, 1, most), 1},
                       .block = {ACROSS, DOWN, 1}};
    const bool counted = words < INT32_MAX / (io->in.height / SMP_INTEGRAL_ROWS + 1); /* numbers of tiles, in 32 bits */
    const bool room =
        (words + 1) * (int64_t)sizeof(uint64_t) <= io->in.width * io->in.channels * (int64_t)sizeof(float);
    const bool small = io->in.format != SMP_U8 || io->in.width <= BYTES_MOST;
    return scans(io, kernel) && room && counted && small ? "integral_words_clear" : NULL;
}

static void look_geometry(const smp_io *io, smp_grid *grid)
{
    const int64_t blocks = (io->out.rows + SMP_INTEGRAL_ROWS - 1) / SMP_INTEGRAL_ROWS;
    smp_grid_striding_line(blocks * io->second.channels * smp_integral_tiles(io->second.width), 1, SMP_INTEGRAL_THREADS,
                           grid);
}

static const char *integral_looks(const smp_io *io, const void *, smp_grid *grid)
{
    look_geometry(io, grid);
    return io->second.format == SMP_U8    ? "integral_lookback_u8"
           : io->second.format == SMP_U16 ? "integral_lookback_u16"
                                          : "integral_lookback_f32";
}
static const char *integral_blocks_looks(const smp_io *io, const void *, smp_grid *grid)
{
    look_geometry(io, grid);
    return "integral_blocks_lookback";
}

#define DECIDE(kernel)                                                                                                 \
    static const char *kernel##_by_tree(const smp_io *io, const void *kernel_, smp_grid *grid)                         \
    {                                                                                                                  \
        walk_geometry(io, kernel_, grid);                                                                              \
        return scans(io, kernel_) ? #kernel "_tree" : NULL;                                                            \
    }                                                                                                                  \
    static const char *kernel##_by_pads(const smp_io *io, const void *kernel_, smp_grid *grid)                         \
    {                                                                                                                  \
        walk_geometry(io, kernel_, grid);                                                                              \
        return scans(io, kernel_) ? #kernel "_tree_padded" : #kernel "_padded";                                        \
    }                                                                                                                  \
    static const char *kernel##_by_shuffle(const smp_io *io, const void *kernel_, smp_grid *grid)                      \
    {                                                                                                                  \
        walk_geometry(io, kernel_, grid);                                                                              \
        return scans(io, kernel_) ? #kernel "_shuffle" : NULL;                                                         \
    }
DECIDE(integral_blocks)
DECIDE(integral)

#define VARIANTS(kernel)                                                                                               \
    {                                                                                                                  \
        {.name = "naive",                                                                                              \
         .help = "one running sum after the other",                                                                    \
         .launches = {{SMP_IN, SMP_OUT, SMP_CPU(kernel##_naive), #kernel "_naive", naive_geometry}},                   \
         .band = SMP_INTEGRAL_ROWS},                                                                                   \
            {.name = "tiled",                                                                                          \
             .help = "sums go on from sample to sample; on GPUs tiles of 16 rows in shared memory: conflicts",         \
             .launches = {{SMP_IN, SMP_OUT, SMP_CPU(kernel##_tiled), #kernel "_tiled", walk_geometry}},                \
             .scratch = smp_integral_scratch,                                                                          \
             .band = SMP_INTEGRAL_ROWS},                                                                               \
            RUNG("tree", "on GPUs, 8 and 16 bits: rows by a tree in shared memory: conflicts of growing strides",      \
                 kernel, kernel##_by_tree),                                                                            \
            RUNG("padded", "on GPUs the same, or tiled, with an unused element at the end of each row of the tile",    \
                 kernel, kernel##_by_pads),                                                                            \
            RUNG("shuffle", "on GPUs, 8 and 16 bits: lanes add through registers, no shared memory", kernel,           \
                 kernel##_by_shuffle),                                                                                 \
            {.name = "lookback",                                                                                       \
             .help = "on GPUs, 8 and 16 bits: a block a tile, sums of tiles to the left by decoupled look-back",       \
             .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(kernel##_tiled)},                             \
                          {.from = SMP_IN, .to = SMP_SCRATCH, .decide = clears},                                       \
                          {.from = SMP_SCRATCH, .to = SMP_OUT, .decide = kernel##_looks}},                             \
             .scratch = smp_integral_scratch,                                                                          \
             .band = SMP_INTEGRAL_ROWS},                                                                               \
            {0},                                                                                                       \
    }
#define RUNG(word, text, kernel, which)                                                                                \
    {                                                                                                                  \
        .name = word, .help = text,                                                                                    \
        .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(kernel##_tiled), .decide = which}},                \
        .scratch = smp_integral_scratch, .band = SMP_INTEGRAL_ROWS                                                     \
    }
static const smp_variant reducers[] = VARIANTS(integral_blocks);
static const smp_variant variants[] = VARIANTS(integral);

const smp_stage smp_stage_integral = {
    .name = "integral",
    .help = "summed area table, or running sums along rows or columns; the result is float",
    .about =
        "Sample (x, y) becomes the sum of all samples of its channel above and to the left, itself included, as "
        "fractions of full scale (numpy.cumsum along both axes; cv2.integral without its row and column of zeros): "
        "the sum of any rectangle is then four look-ups. along=rows and along=columns sum along these alone.\n"
        "Sums of 8 and 16 bits are exact, divided once and rounded to f32 once. Sums of floats are double: along rows "
        "in blocks of 1024 pixels, down columns in blocks of 16 rows, each in order, the blocks in order. Fractions "
        "between stages count as the code value that a file would hold. Alpha is summed like a colour.",
    .example = "integral rows",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, variants),
    .traits = SMP_TRAIT_PIXELS,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = reducers),
    SMP_ALSO({"cumsum sat summed_area summedareatable integralimage", "integral"},
             {"scan prefixsum prefix_sum", "integral rows"}),
};
