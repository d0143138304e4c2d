/* Transforms of pictures: plans, launches and grids. See fourier_pictures.h. */
#include "stages/shared/fourier/fourier_pictures.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/fourier/fourier.h"
#include "stages/shared/launch_shapes.h"

int64_t smp_fourier_above(int64_t n)
{
    smp_fft f;
    while (n <= SMP_FFT_MOST && !smp_fourier_plan(n, &f))
        n++;
    return n <= SMP_FFT_MOST ? n : 0;
}

/* Splits the passes of columns between two launches, so that the larger of the two parts is as small as possible. Short
 * columns are not split. */
static void split_columns(smp_fourier *k)
{
    enum { SHORT = 512 };
    const smp_fft *f = &k->down;
    k->early = 1;
    if (f->n <= SHORT)
        return;
    for (int32_t done = 1, best = f->n, i = 0; i < f->passes; i++) {
        done *= f->radix[i];
        const int32_t larger = done > f->n / done ? done : f->n / done;
        if (larger < best)
            best = larger, k->early = done, k->early_passes = i + 1;
    }
}

smp_code smp_fourier_prepare(smp_fourier *k, int64_t width, int64_t height, bool real, bool squares,
                             smp_node_plan *work, smp_error *err)
{
    k->width = (int32_t)width, k->height = (int32_t)height;
    k->halves = real && width % 2 == 0;
    k->bins = (int32_t)(real ? width / 2 + 1 : width);
    if (width > SMP_FFT_MOST || height > SMP_FFT_MOST || !smp_fourier_plan(k->halves ? width / 2 : width, &k->across) ||
        !smp_fourier_plan(height, &k->down))
        return smp_fail(err, SMP_E_PIPE, "%lld x %lld pixels have no fast transform", (long long)width,
                        (long long)height);
    split_columns(k);
    const int64_t lines = 2 * SMP_FOURIER_BLOCKS * smp_fourier_longest(k), row = (int64_t)k->channels * k->bins;
    work->between = (smp_shape){.kind = SMP_IMAGE,
                                .width = 2 * (int64_t)k->bins,
                                .height = height + (lines + row - 1) / row,
                                .channels = k->channels,
                                .format = SMP_F32};
    work->kernel.size = sizeof *k;
    k->down_at = smp_fourier_floats(&k->across, k->halves);
    k->squares_at = k->down_at + smp_fourier_floats(&k->down, false);
    const int64_t floats = k->squares_at + (squares ? k->bins + height : 0);
    work->table.size = (size_t)smp_max_i64(floats, 1) * sizeof(float);
    float *table = work->table.data = smp_alloc(work->table.size);
    SMP_NEED(table, "the table of a transform", work->table.size, err);
    table[0] = 0;
    smp_fourier_fill(&k->across, k->halves, table);
    smp_fourier_fill(&k->down, false, table + k->down_at);
    for (int64_t i = 0; squares && i < k->bins + height; i++) {
        const int64_t down = i - k->bins, n = down < 0 ? width : height, f = down < 0 ? i : smp_min_i64(down, n - down);
        const double cycles = (double)f / (double)n;
        table[k->squares_at + i] = (float)(cycles * cycles);
    }
    work->ops = 5 * (log2((double)width) + log2((double)height)) / 2;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the CPU */

static size_t scratch(const smp_io *, const void *kernel)
{
    enum { MOST_LANES = 16 };
    const int64_t n = smp_fourier_longest(kernel);
    return (size_t)(MOST_LANES * (6 * n + 16) + 2 * n) * sizeof(float);
}

static int64_t rows_of(const smp_io *, const void *kernel)
{
    return ((const smp_fourier *)kernel)->height;
}
static int64_t lines_of(const smp_io *io, const void *kernel)
{
    return rows_of(io, kernel) * ((const smp_fourier *)kernel)->channels;
}
static int64_t row_groups_of(const smp_io *io, const void *kernel)
{
    return (rows_of(io, kernel) + SMP_FOURIER_GROUP - 1) / SMP_FOURIER_GROUP;
}
static int64_t columns_of(const smp_io *, const void *kernel)
{
    const smp_fourier *k = kernel;
    return (int64_t)k->bins * k->channels;
}
static int64_t column_groups_of(const smp_io *, const void *kernel)
{
    const smp_fourier *k = kernel;
    return (k->bins + SMP_FOURIER_GROUP - 1) / SMP_FOURIER_GROUP * (int64_t)k->channels;
}

/* ------------------------------------------------------------------------------------------------ GPUs */

typedef struct rung {
    int memory;  /* SMP_FOURIER_PLAIN .. */
    int copies;  /* of a line's memory */
    int numbers; /* that a thread has, at most; 0: any */
} rung;

static const rung tiled = {SMP_FOURIER_PLAIN, 2, 0}, padded = {SMP_FOURIER_PADDED, 2, 0},
                  swizzled = {SMP_FOURIER_SWIZZLED, 2, 0}, registers = {SMP_FOURIER_PADDED, 1, SMP_FOURIER_REGISTERS};

/* Threads for a line of n. */
static int64_t threads_of(const rung *r, int64_t n)
{
    enum { WARP = 32, MOST = 256, NUMBERS = 4 };
    const int64_t each = r->numbers ? r->numbers : NUMBERS, threads = (n + each * WARP - 1) / (each * WARP) * WARP;
    return r->numbers ? threads : smp_min_i64(threads, MOST);
}

/* Block and shared memory for lines of n, `most` of them if they fit two blocks of an SM. false: not one fits. */
static bool block_of(const rung *r, int64_t n, int64_t most, const smp_grid *known, smp_grid *grid)
{
    enum { HALF_AN_SM = 110 * 1024, FEW = 4 };
    const int64_t threads = threads_of(r, n);
    const int64_t bytes = r->copies * smp_fourier_numbers(r->memory, n) * (int64_t)(2 * sizeof(float));
    if (threads > SMP_FOURIER_THREADS || (known->shared_most && bytes > known->shared_most))
        return false;
    const int64_t all = known->shared_most ? known->shared_most : HALF_AN_SM;
    int64_t lines = most;
    while (lines > 1 && (lines * threads > SMP_FOURIER_THREADS || lines * bytes > all ||
                         (lines > FEW && lines * bytes > HALF_AN_SM)))
        lines /= 2;
    grid->block[0] = (unsigned)threads;
    grid->block[1] = (unsigned)lines;
    grid->block[2] = 1;
    grid->shared_bytes = (unsigned)(lines * bytes);
    return true;
}

/* Grids of blocks of rows and of columns; false where a line does not fit. */
static bool rows_grid(const rung *r, const smp_fourier *k, int64_t rows, smp_grid *grid)
{
    enum { LINES = 2 };
    const smp_grid known = *grid;
    smp_grid block = {.units = 0};
    if (!block_of(r, k->down.n, 1, &known, &block) || !block_of(r, k->across.n, LINES, &known, &block))
        return false;
    smp_grid_striding_line(rows * k->channels, block.block[1], 1, grid);
    for (int i = 0; i < 3; i++)
        grid->block[i] = block.block[i];
    grid->shared_bytes = block.shared_bytes;
    return true;
}
static bool columns_grid(const rung *r, const smp_fourier *k, smp_grid *grid)
{
    enum { LINES = 8 };
    const smp_grid known = *grid;
    smp_grid block = {.units = 0};
    if (!block_of(r, k->down.n, LINES, &known, &block))
        return false;
    const int64_t groups = ((int64_t)k->bins + block.block[1] - 1) / block.block[1];
    smp_grid_striding_line(groups * k->channels, 1, 1, grid);
    for (int i = 0; i < 3; i++)
        grid->block[i] = block.block[i];
    grid->shared_bytes = block.shared_bytes;
    return true;
}

static void take_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_io pixels = *io;
    pixels.out = io->in;
    smp_geometry_pixels(&pixels, kernel, grid);
}

#define DECISIONS(rung)                                                                                                \
    static const char *rung##_rows(const smp_io *io, const void *kernel, smp_grid *grid)                               \
    {                                                                                                                  \
        (void)io;                                                                                                      \
        const smp_fourier *k = kernel;                                                                                 \
        return rows_grid(&(rung), k, k->height, grid) ? "fourier_rows_" RUNG_##rung : NULL;                            \
    }                                                                                                                  \
    static const char *rung##_columns(const smp_io *io, const void *kernel, smp_grid *grid)                            \
    {                                                                                                                  \
        (void)io;                                                                                                      \
        return columns_grid(&(rung), kernel, grid) ? "fourier_columns_" RUNG_##rung : NULL;                            \
    }                                                                                                                  \
    static const char *rung##_back(const smp_io *io, const void *kernel, smp_grid *grid)                               \
    {                                                                                                                  \
        return rows_grid(&(rung), kernel, io->out.rows, grid) ? "fourier_back_" RUNG_##rung : NULL;                    \
    }                                                                                                                  \
    static const char *rung##_inverse(const smp_io *io, const void *kernel, smp_grid *grid)                            \
    {                                                                                                                  \
        return rows_grid(&(rung), kernel, io->out.rows, grid) ? "fourier_inverse_" RUNG_##rung : NULL;                 \
    }                                                                                                                  \
    static const char *rung##_take(const smp_io *io, const void *kernel, smp_grid *grid)                               \
    {                                                                                                                  \
        smp_grid known = *grid;                                                                                        \
        take_geometry(io, kernel, grid);                                                                               \
        return rows_grid(&(rung), kernel, 1, &known) ? "fourier_take" : NULL;                                          \
    }
#define RUNG_tiled     "tiled"
#define RUNG_padded    "padded"
#define RUNG_swizzled  "swizzled"
#define RUNG_registers "register"
DECISIONS(tiled)
DECISIONS(padded)
DECISIONS(swizzled)
DECISIONS(registers)

/* naive: a line a block, which has memory for it below the spectra. */
static void naive_grid(int64_t lines, smp_grid *grid)
{
    smp_grid_striding_line(lines, 1, SMP_BLOCK_THREADS / 4, grid);
    grid->grid[0] = (unsigned)smp_min_i64(grid->grid[0], SMP_FOURIER_BLOCKS);
}
static void naive_rows(const smp_io *io, const void *kernel, smp_grid *grid)
{
    naive_grid(lines_of(io, kernel), grid);
}
static void naive_columns(const smp_io *io, const void *kernel, smp_grid *grid)
{
    naive_grid(columns_of(io, kernel), grid);
}
static void naive_back(const smp_io *io, const void *kernel, smp_grid *grid)
{
    naive_grid(io->out.rows * ((const smp_fourier *)kernel)->channels, grid);
}

/* ------------------------------------------------------------------------------------------------ split */

/* Blocks of rows. */
static bool split_rows_grid(const smp_fourier *k, int64_t rows, smp_grid *grid)
{
    enum { WARP = 32, BLOCK = 256 };
    const int64_t n = k->across.n, least = (n + SMP_FOURIER_KEPT - 1) / SMP_FOURIER_KEPT;
    const int64_t threads = (least + WARP - 1) / WARP * WARP, lines = smp_max_i64(1, BLOCK / threads);
    const int64_t bytes = lines * smp_fourier_numbers(SMP_FOURIER_PADDED, n) * (int64_t)(2 * sizeof(float));
    if (threads > SMP_FOURIER_THREADS || (grid->shared_most && bytes > grid->shared_most))
        return false;
    smp_grid_striding_line(rows * k->channels, lines, 1, grid);
    grid->block[0] = (unsigned)threads;
    grid->block[1] = (unsigned)lines;
    grid->block[2] = 1;
    grid->shared_bytes = (unsigned)bytes;
    return true;
}

/* Blocks of columns for one of the two launches: 32 columns, 256 bytes of a row, while threads and memory suffice. */
static void split_columns_grid(const smp_fourier *k, bool late, smp_grid *grid)
{
    enum { WIDE = 32, MEMORY = 72 * 1024 };
    const int64_t most = smp_grid_most(grid), all = grid->shared_most ? grid->shared_most : MEMORY;
    const int64_t depth = late ? k->height / k->early : k->early, parts = k->height / depth;
    const int64_t threads = (depth + SMP_FOURIER_KEPT - 1) / SMP_FOURIER_KEPT;
    int64_t across = WIDE;
    while (across > 1 && (threads * across > SMP_FOURIER_TILE_THREADS || across / 2 >= k->bins ||
                          depth * across * (int64_t)(2 * sizeof(float)) > smp_min_i64(all, MEMORY)))
        across /= 2;
    *grid = (smp_grid){
        .grid = {(unsigned)((k->bins + across - 1) / across * k->channels), (unsigned)smp_min_i64(parts, most), 1},
        .block = {(unsigned)across, (unsigned)threads, 1},
        .shared_bytes = (unsigned)(depth * across * (int64_t)(2 * sizeof(float)))};
}

/* Whether a launch over the spectra, which makes what is shown, writes the whole output: then the last launch over
 * columns does it. Strips of it come from the spectra. */
static bool whole_output(const smp_view *out)
{
    return out->rows == out->height;
}

static const char *split_rows(const smp_io *, const void *kernel, smp_grid *grid)
{
    const smp_fourier *k = kernel;
    return split_rows_grid(k, k->height, grid) ? "fourier_rows_split" : NULL;
}
static const char *split_back(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return split_rows_grid(kernel, io->out.rows, grid) ? "fourier_back_split" : NULL;
}
static const char *split_inverse(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return split_rows_grid(kernel, io->out.rows, grid) ? "fourier_inverse_split" : NULL;
}
static const char *split_take(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_grid known = *grid;
    take_geometry(io, kernel, grid);
    return split_rows_grid(kernel, 1, &known) ? "fourier_take" : NULL;
}
static const char *split_early(const smp_io *, const void *kernel, smp_grid *grid)
{
    split_columns_grid(kernel, false, grid);
    return ((const smp_fourier *)kernel)->early > 1 ? "fourier_early_split" : SMP_NO_KERNEL;
}
static const char *split_early_again(const smp_io *, const void *kernel, smp_grid *grid)
{
    split_columns_grid(kernel, false, grid);
    return ((const smp_fourier *)kernel)->early > 1 ? "fourier_early_again_split" : SMP_NO_KERNEL;
}
#define LATE(name, kernel_name)                                                                                        \
    static const char *name(const smp_io *, const void *kernel, smp_grid *grid)                                        \
    {                                                                                                                  \
        split_columns_grid(kernel, true, grid);                                                                        \
        return kernel_name;                                                                                            \
    }
LATE(split_late, "fourier_late_split")
LATE(split_late_again, "fourier_late_again_split")
LATE(split_filtered, "fourier_late_filtered_split")
static const char *split_late_of_strips(const smp_io *io, const void *kernel, smp_grid *grid)
{
    split_columns_grid(kernel, true, grid);
    return whole_output(&io->in) ? SMP_NO_KERNEL : "fourier_late_split";
}
static const char *split_shown(const smp_io *io, const void *kernel, smp_grid *grid)
{
    split_columns_grid(kernel, true, grid);
    return whole_output(&io->out) ? "fourier_late_shown_split" : SMP_NO_KERNEL;
}
static const char *split_spectrum(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_geometry_pixels(io, kernel, grid);
    grid->strips.across = (uint32_t)((const smp_fourier *)kernel)->early;
    return whole_output(&io->out) ? SMP_NO_KERNEL : "fourier_spectrum";
}

/* ------------------------------------------------------------------------------------------------ variants */

#define TAKE     .from = SMP_IN, .to = SMP_SCRATCH, .cpu = SMP_CPU(fourier_take), .items = rows_of, .once = true
#define ROWS_ONE .from = SMP_IN, .to = SMP_SCRATCH, .cpu = SMP_CPU(fourier_rows_one), .items = lines_of, .once = true
#define ROWS_LANES                                                                                                     \
    .from = SMP_IN, .to = SMP_SCRATCH, .cpu = SMP_CPU(fourier_rows_lanes), .items = row_groups_of, .once = true
#define COLUMNS_ONE                                                                                                    \
    .from = SMP_SCRATCH, .to = SMP_SCRATCH, .cpu = SMP_CPU(fourier_columns_one), .items = columns_of, .once = true
#define COLUMNS_LANES                                                                                                  \
    .from = SMP_SCRATCH, .to = SMP_SCRATCH, .cpu = SMP_CPU(fourier_columns_lanes), .items = column_groups_of,          \
    .once = true
#define IN_SCRATCH    .from = SMP_SCRATCH, .to = SMP_SCRATCH, .once = true
#define SPECTRUM_BY   .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(fourier_spectrum)
#define SPECTRUM      SPECTRUM_BY, .cuda = "fourier_spectrum", .geometry = smp_geometry_pixels
#define BACK_ONE      .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(fourier_back_one)
#define BACK_LANES    .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(fourier_back_lanes)
#define INVERSE_ONE   .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(fourier_inverse_one)
#define INVERSE_LANES .from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(fourier_inverse_lanes)

#define NAIVE_HELP    "line by line; on GPUs in global memory between passes"
#define TILED_HELP    "lines side by side in vectors; on GPUs in shared memory: strides of 4, 16, .. meet one bank"
#define PADDED_HELP   "on GPUs with an unused number after every sixteen: a pass meets more banks"
#define SWIZZLED_HELP "on GPUs with indices XORed instead of unused numbers"
#define REGISTER_HELP "as padded, but numbers are in registers between loads and stores: half the shared memory"

#define SPLIT_HELP                                                                                                     \
    "as register, sixteen numbers a thread; long columns in two launches, which read and write whole sectors of rows"

#define NAIVE(...)                                                                                                     \
    {                                                                                                                  \
        .name = "naive", .help = NAIVE_HELP, .launches = __VA_ARGS__, .scratch = scratch                               \
    }
#define RUNG(word, text, ...)                                                                                          \
    {                                                                                                                  \
        .name = word, .help = text, .launches = __VA_ARGS__, .scratch = scratch, .band = SMP_FOURIER_GROUP             \
    }

#define FORWARD(word, text, rung)                                                                                      \
    RUNG(word, text, {{ROWS_LANES, .decide = rung##_rows}, {COLUMNS_LANES, .decide = rung##_columns}, {SPECTRUM}})
const smp_variant smp_fourier_forward[] = {
    NAIVE({{ROWS_ONE, .cuda = "fourier_rows_naive", .geometry = naive_rows},
           {COLUMNS_ONE, .cuda = "fourier_columns_naive", .geometry = naive_columns},
           {SPECTRUM}}),
    FORWARD("tiled", TILED_HELP, tiled),
    FORWARD("padded", PADDED_HELP, padded),
    FORWARD("swizzled", SWIZZLED_HELP, swizzled),
    FORWARD("register", REGISTER_HELP, registers),
    RUNG("split", SPLIT_HELP,
         {{ROWS_LANES, .decide = split_rows},
          {COLUMNS_LANES, .decide = split_early},
          {.from = SMP_OUT, .to = SMP_SCRATCH, .once = true, .decide = split_late_of_strips},
          {.from = SMP_SCRATCH, .to = SMP_OUT, .decide = split_shown},
          {SPECTRUM_BY, .decide = split_spectrum}}),
    {0},
};

#define FILTERED(word, text, rung)                                                                                     \
    RUNG(word, text,                                                                                                   \
         {{ROWS_LANES, .decide = rung##_rows},                                                                         \
          {COLUMNS_LANES, .decide = rung##_columns},                                                                   \
          {BACK_LANES, .decide = rung##_back}})
const smp_variant smp_fourier_filtered[] = {
    NAIVE({{ROWS_ONE, .cuda = "fourier_rows_naive", .geometry = naive_rows},
           {COLUMNS_ONE, .cuda = "fourier_columns_naive", .geometry = naive_columns},
           {BACK_ONE, .cuda = "fourier_back_naive", .geometry = naive_back}}),
    FILTERED("tiled", TILED_HELP, tiled),
    FILTERED("padded", PADDED_HELP, padded),
    FILTERED("swizzled", SWIZZLED_HELP, swizzled),
    FILTERED("register", REGISTER_HELP, registers),
    RUNG("split", SPLIT_HELP,
         {{ROWS_LANES, .decide = split_rows},
          {COLUMNS_LANES, .decide = split_early},
          {IN_SCRATCH, .decide = split_filtered},
          {IN_SCRATCH, .decide = split_early_again},
          {IN_SCRATCH, .decide = split_late_again},
          {BACK_LANES, .decide = split_back}}),
    {0},
};

#define INVERSE(word, text, rung)                                                                                      \
    RUNG(word, text,                                                                                                   \
         {{TAKE, .decide = rung##_take},                                                                               \
          {COLUMNS_LANES, .decide = rung##_columns},                                                                   \
          {INVERSE_LANES, .decide = rung##_inverse}})
const smp_variant smp_fourier_inverse[] = {
    NAIVE({{TAKE, .cuda = "fourier_take", .geometry = take_geometry},
           {COLUMNS_ONE, .cuda = "fourier_columns_naive", .geometry = naive_columns},
           {INVERSE_ONE, .cuda = "fourier_inverse_naive", .geometry = naive_back}}),
    INVERSE("tiled", TILED_HELP, tiled),
    INVERSE("padded", PADDED_HELP, padded),
    INVERSE("swizzled", SWIZZLED_HELP, swizzled),
    INVERSE("register", REGISTER_HELP, registers),
    RUNG("split", SPLIT_HELP,
         {{TAKE, .decide = split_take},
          {COLUMNS_LANES, .decide = split_early},
          {IN_SCRATCH, .decide = split_late},
          {INVERSE_LANES, .decide = split_inverse}}),
    {0},
};
