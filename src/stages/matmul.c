/* matmul: the product of a picture's planes with those of a second picture. */
#include "matmul/matmul.h"
#include "base/checked.h"
#include "matmul/matmul_blocks.h"
#include "stages/stage.h"

typedef struct params {
    smp_operand with;
    int side;
} params;

enum { RIGHT, LEFT };
static const char *const sides[] = {"right", "left", NULL};

static const smp_param table[] = {
    SMP_PARAM_ROW(with, OPERAND, NONE, 0, 0, NULL, "the other matrix: @name, or a file such as \"a.npy\"", NULL,
                  SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE | SMP_P_WEIGHTS | SMP_P_ANYSIZE),
    SMP_PARAM_ROW(side, ENUM, NONE, 0, 0, "right",
                  "on which side of the picture it stands: right is picture x with, left is with x picture", sides, 0),
    {0},
};

/* "3 x 4": rows and columns, as NumPy has them. */
static smp_code check_fit(int side, const smp_shape *in, const smp_shape *with, smp_error *err)
{
    const int64_t inner = side == LEFT ? in->height : in->width, other = side == LEFT ? with->width : with->height;
    int64_t samples;
    if (with->kind != SMP_IMAGE)
        return smp_fail(err, SMP_E_PIPE, "'with' must be a picture, not sound");
    if (inner != other) {
        const char *first = side == LEFT ? "columns" : "rows", *second = side == LEFT ? "rows" : "columns";
        const int64_t turned = side == LEFT ? with->height : with->width;
        smp_fail(err, SMP_E_PIPE,
                 "the matrices do not fit: 'with' (%lld x %lld) has %lld %s, the picture (%lld x %lld) %lld %s",
                 (long long)with->height, (long long)with->width, (long long)other, first, (long long)in->height,
                 (long long)in->width, (long long)inner, second);
        if (side == RIGHT ? with->width == in->height : with->height == in->width)
            return smp_hint(err, "they fit on the other side: side=%s", sides[!side]);
        return turned == inner ? smp_hint(err, "they fit with one of them transposed") : SMP_E_PIPE;
    }
    if (with->channels != 1 && with->channels != in->channels)
        return smp_fail(err, SMP_E_PIPE, "the channels do not match: the picture has %d, 'with' %d", in->channels,
                        with->channels),
               smp_hint(err, "'with' needs as many channels as the picture, or one for all");
    const int64_t width = side == LEFT ? in->width : with->width, height = side == LEFT ? with->height : in->height;
    if (!smp_mul_i64(width, height, &samples) || !smp_mul_i64(samples, (int64_t)sizeof(float) * in->channels, &samples))
        return smp_fail(err, SMP_E_LIMIT, "the product of %lld x %lld samples is past what can be counted",
                        (long long)height, (long long)width);
    return SMP_OK;
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    if (!by)
        return smp_fail(err, SMP_E_PIPE, "'with' must be a picture");
    SMP_TRY(check_fit(p->side, in, by, err));
    if (p->side == LEFT)
        work->out.height = by->height;
    else
        work->out.width = by->width;
    smp_matmul_params *k = SMP_PLAN_KERNEL(work, smp_matmul_params);
    *k = (smp_matmul_params){.left = p->side == LEFT, .divisor = smp_white(by->format)};
    work->values.clips = true;
    work->ops = 2. * (double)(p->side == LEFT ? in->height : in->width);
    return SMP_OK;
}

/* Tiles of `side` output samples both ways, counted along x; planes along z. */
static void tiles(const smp_io *io, int64_t side, smp_grid *grid)
{
    const int64_t across = (io->out.width + side - 1) / side, down = (io->out.rows + side - 1) / side;
    grid->grid[0] = (unsigned)smp_clamp_i64(across * down, 1, INT32_MAX);
    grid->grid[1] = 1;
    grid->grid[2] = (unsigned)io->out.channels;
    grid->shared_bytes = 0;
}

static void square_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    *grid = (smp_grid){.block = {SMP_MATMUL_SIDE, SMP_MATMUL_ROWS, 1}};
    tiles(io, SMP_MATMUL_SIDE, grid);
}

static void register_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    *grid = (smp_grid){.block = {SMP_MATMUL_THREADS, 1, 1}};
    tiles(io, SMP_MATMUL_BLOCK, grid);
}

static size_t scratch(const smp_io *, const void *)
{
    return SMP_MATMUL_CPU_SCRATCH;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample, both operands from memory for every product",
              SMP_LAUNCH_SAMPLES(matmul_naive))},
    {.name = "tiled",
     .help =
         "32 x 32 tiles in shared memory, one stored by columns: 32 lanes on one bank; on a CPU blocks in caches and "
         "sums in registers",
     .launches = {SMP_LAUNCH(matmul_tiled, .geometry = square_geometry)},
     .scratch = scratch},
    {SMP_RUNG("padded", "tiles with a sample more a row: a column lies in all banks (GPU; on a CPU as tiled)",
              SMP_LAUNCH_AS(matmul_tiled, .cuda = "matmul_padded", .geometry = square_geometry)),
     .scratch = scratch},
    {SMP_RUNG("register",
              "128 x 128 tiles a block, 64 x 32 a warp, 8 x 8 a thread in registers, the next tiles loading meanwhile "
              "(GPU; on a CPU as tiled)",
              SMP_LAUNCH_AS(matmul_tiled, .cuda = "matmul_register", .geometry = register_geometry)),
     .scratch = scratch},
    {0},
};

const smp_stage smp_stage_matmul = {
    .name = "matmul",
    .help = "the matrix product with a second picture or a file",
    .about =
        "Every channel's plane is a matrix of height x width; side=right makes out = in x with, side=left out = with x "
        "in. `with` is a result (@name) or a file (relative to the pipe file's folder), a NumPy array for instance, "
        "with as many channels as the input or one for all of them.\n"
        "Values are fractions of full scale: with 8 bits, 255 is 1. So a product with the identity changes nothing, "
        "and a float array holds the matrix as it is written. The output has the input's format: sums outside 0..1 are "
        "clamped in integers; `depth float` before keeps them.\n"
        "A sample is one chain of fused multiply-adds in f32, the inner index ascending, on every device: the error is "
        "at most n 6e-8 |L| |R| for n products. NaN in either gives NaN. Under `light linear` `with` stays as it is.",
    .example = "matmul with=@input",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, params, variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD | SMP_TRAIT_PIXELS,
    SMP_ALSO({"gemm sgemm dot mm matrixmultiply", "matmul with=@name"}),
};
