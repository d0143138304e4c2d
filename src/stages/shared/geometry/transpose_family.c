/* Shared by stages that turn and mirror: one set of kernels, whose parameters say which way. */
#include "stages/shared/geometry/transpose_family.h"
#include "base/checked.h"
#include "stages/launch.h"
#include "stages/shared/launch_shapes.h"

enum { TRANSPOSE_GRID_X = INT32_MAX, VECTOR = 16 /* bytes of an access */ };

/* columns x rows blocks: GPUs count far in x, and to SMP_GRID_MOST in y and z. */
static void set_blocks(int64_t columns, int64_t rows, smp_grid *grid)
{
    int64_t y = smp_min_i64(rows, SMP_GRID_MOST);
    grid->grid[0] = (unsigned)smp_clamp_i64(columns, 1, TRANSPOSE_GRID_X);
    grid->grid[1] = (unsigned)smp_max_i64(y, 1);
    grid->grid[2] = (unsigned)smp_clamp_i64((rows + SMP_GRID_MOST - 1) / SMP_GRID_MOST, 1, SMP_GRID_MOST);
}

static int64_t pixel_bytes(const smp_io *io)
{
    return smp_sample_size(io->in.format) * io->in.channels;
}

/* A thread a sample of the input. */
static void naive_geometry(const smp_io *io, const void *params, smp_grid *grid)
{
    const smp_transpose_part part = smp_transpose_part_of(io, ((const smp_orientation *)params)->orientation);
    smp_io input_order = *io;
    input_order.out.width = part.columns;
    input_order.out.rows = part.rows;
    smp_geometry_samples(&input_order, params, grid);
}

static void square_tiles(const smp_io *io, int pad, smp_grid *grid)
{
    int64_t px = pixel_bytes(io);
    *grid = (smp_grid){.block = {SMP_TRANSPOSE_SIDE, SMP_TRANSPOSE_ROWS, 1},
                       .shared_bytes = (unsigned)(SMP_TRANSPOSE_SIDE * (SMP_TRANSPOSE_SIDE + pad) * px)};
    set_blocks((io->out.width + SMP_TRANSPOSE_SIDE - 1) / SMP_TRANSPOSE_SIDE,
               (io->out.rows + SMP_TRANSPOSE_SIDE - 1) / SMP_TRANSPOSE_SIDE, grid);
}

static void tiled_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    square_tiles(io, 0, grid);
}

static void padded_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    square_tiles(io, 1, grid);
}

/* [channels]; which of them each format has depends on the pixel's size. */
static const char *const swapping[] = {NULL,
                                       "transpose_swizzled_1",
                                       "transpose_swizzled_2",
                                       "transpose_swizzled_3",
                                       "transpose_swizzled_4",
                                       NULL,
                                       "transpose_swizzled_6",
                                       NULL,
                                       "transpose_swizzled_8"};
static const char *const reversing[] = {NULL,
                                        "transpose_reversed_1",
                                        "transpose_reversed_2",
                                        "transpose_reversed_3",
                                        "transpose_reversed_4",
                                        NULL,
                                        "transpose_reversed_6",
                                        NULL,
                                        "transpose_reversed_8"};

/* Threads over the 16-byte vectors of a row, and over rows. */
static void row_geometry(const smp_io *io, int64_t size, smp_grid *grid)
{
    int64_t vectors = (size + VECTOR - 1) / VECTOR, width = 1;
    while (width < vectors && width < SMP_TRANSPOSE_THREADS)
        width *= 2;
    int64_t height = SMP_TRANSPOSE_THREADS / width;
    *grid = (smp_grid){.block = {(unsigned)width, (unsigned)height, 1}};
    set_blocks((vectors + width - 1) / width, (io->out.rows + height - 1) / height, grid);
}

/* Null for GPUs, too, whose blocks cannot hold the largest tiles (64 KiB before compute capability 8.0). */
static const char *swizzled(const smp_io *io, const void *params, smp_grid *grid)
{
    const int32_t how = ((const smp_orientation *)params)->orientation;
    const int64_t px = pixel_bytes(io);
    const smp_transpose_shape shape = smp_transpose_shape_of(px);
    const bool swap = how & SMP_ORIENT_SWAP, rows = !(how & (SMP_ORIENT_SWAP | SMP_ORIENT_MIRROR_X));
    const smp_grid known = *grid;
    if (io->in.format != io->out.format || !smp_rows_aligned(io) || (!rows && !shape.side))
        return NULL;
    if (!swap) {
        row_geometry(io, io->out.width * px, grid);
        return rows ? "transpose_rows" : reversing[io->in.channels];
    }
    const int64_t across = (int64_t)shape.side * shape.across, down = (int64_t)shape.side * shape.down;
    const smp_transpose_span columns = smp_transpose_columns(io, how, SMP_TRANSPOSE_VECTOR_PIXELS(px), across);
    *grid =
        (smp_grid){.block = {(unsigned)shape.threads, 1, 1}, .shared_bytes = (unsigned)smp_transpose_shared(px, shape)};
    set_blocks((io->out.width + down - 1) / down, columns.tiles, grid);
    return smp_grid_fits(grid, &known) ? swapping[io->in.channels] : NULL;
}

#define VARIANTS(unit, of_a_transpose)                                                                                 \
    {.name = "naive",                                                                                                  \
     .help = unit " by " unit of_a_transpose,                                                                          \
     .launches = {SMP_LAUNCH(transpose_naive, .geometry = naive_geometry)}},                                           \
        {.name = "tiled",                                                                                              \
         .help = "square tiles that use whole cache lines on both sides; on GPUs a tile's columns lie in one bank",    \
         .launches = {SMP_LAUNCH(transpose_tiled, .geometry = tiled_geometry)},                                        \
         .band = SMP_TRANSPOSE_TILE},                                                                                  \
        {.name = "padded",                                                                                             \
         .help = "tiles with a " unit " more a row, so that a column lies in all banks (GPU; on a CPU as tiled)",      \
         .launches = {SMP_LAUNCH_AS(transpose_tiled, .cuda = "transpose_padded", .geometry = padded_geometry)},        \
         .band = SMP_TRANSPOSE_TILE},                                                                                  \
        {.name = "swizzled",                                                                                           \
         .help =                                                                                                       \
             "16 bytes an access on both sides, cells transposed in registers, words of a tile spread over all "       \
             "banks by XOR: no padding, no conflicts (GPU; " unit "s of other sizes as padded, on a CPU as tiled)",    \
         .launches = {SMP_LAUNCH_AS(transpose_tiled, .decide = swizzled)},                                             \
         .band = SMP_TRANSPOSE_TILE},                                                                                  \
    {                                                                                                                  \
        0                                                                                                              \
    }

const smp_variant smp_transpose_variants[] = {
    VARIANTS("pixel", "; one side of a transpose touches a cache line for every sample")};
const smp_variant smp_reverse_variants[] = {VARIANTS("frame", "")};

void smp_transpose_plan(int32_t orientation, const smp_shape *in, smp_node_plan *work)
{
    const smp_orientation turn = {.orientation = orientation};
    if (orientation & SMP_ORIENT_SWAP) {
        work->out.width = in->height;
        work->out.height = in->width;
        work->change.swaps_axes = true;
    }
    work->effect.none = orientation == SMP_ORIENT_NONE;
    work->rows.whole = smp_transpose_moves_rows(orientation);
    work->values.exactness = SMP_MOVE;
    smp_plan_kernel(work, &turn, sizeof turn);
}
