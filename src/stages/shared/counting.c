/* What stages share that count: see counting.h. */
#include "stages/shared/counting.h"

#include "base/checked.h"
#include "stages/launch.h"
#include "stages/shared/launch_shapes.h"

enum {
    UNITS = 128,                /* SMs, and */
    SHARED = 48 * 1024,         /* bytes a block, where the device does not say */
    COUNTER = sizeof(uint32_t), /* bytes */
    WORD = 16                   /* bytes a load */
};

static int64_t or_else(unsigned given, int64_t otherwise)
{
    return given ? (int64_t)given : otherwise;
}

/* Blocks for n items of which a thread takes one at a time, at most `resident`; the histogram's parts share them, and
 * have a counter more each, for what is not theirs. */
static void share_out(int64_t n, int threads, int64_t resident, int64_t counters, int64_t shared, smp_grid *grid)
{
    const int64_t fit = shared / COUNTER, parts = counters <= fit ? 1 : (counters + fit - 2) / (fit - 1);
    const int64_t blocks = smp_clamp_i64((n + threads - 1) / threads, 1, smp_max_i64(1, resident / parts));
    *grid = (smp_grid){
        .grid = {(unsigned)blocks, (unsigned)parts, 1},
        .block = {1, (unsigned)threads, 1},
        .shared_bytes = (unsigned)((smp_histogram_part((int32_t)counters, (int32_t)parts) + (parts > 1)) * COUNTER),
    };
}

void smp_geometry_count_each(const smp_io *io, const void *params, smp_grid *grid)
{
    smp_io pixels = *io;
    pixels.out.channels = 1;
    smp_geometry_samples(&pixels, params, grid);
}

void smp_geometry_count_tiled(const smp_io *io, const void *params, smp_grid *grid)
{
    const int64_t units = or_else(grid->units, UNITS), shared = or_else(grid->shared_most, SHARED);
    const int64_t counters = smp_histogram_counters(params, io->in.format, io->in.channels);
    const int64_t fit =
        smp_clamp_i64(2 * shared / (counters * COUNTER), 1, SMP_HISTOGRAM_TILED_BLOCKS); /* about as many an SM */
    share_out(io->in.width * io->out.rows, SMP_HISTOGRAM_TILED, units * fit, counters, shared, grid);
    grid->block[0] = SMP_HISTOGRAM_TILED;
    grid->block[1] = 1;
}

static int threads_of(const smp_io *io)
{
    return io->in.channels == 3 ? SMP_HISTOGRAM_THREES : SMP_HISTOGRAM_THREADS;
}

/* As many copies as leave room for a second block on the SM: 7/16 of what one may have is less than half of what an SM
 * has, whatever the device. Blocks are as wide as there are copies. */
static void private_grid(const smp_io *io, const void *params, smp_grid *grid)
{
    const int64_t units = or_else(grid->units, UNITS), shared = or_else(grid->shared_most, SHARED);
    const int64_t counters = smp_histogram_counters(params, io->in.format, io->in.channels);
    const int64_t pixel = io->in.channels * smp_sample_size(io->in.format);
    const int64_t room = shared * 7 / 16 / (counters * COUNTER), resident = room > 0 ? SMP_HISTOGRAM_BLOCKS : 1;
    const int threads = threads_of(io);
    int64_t copies = 1;
    while (copies * 2 <= room && copies < SMP_HISTOGRAM_COPIES)
        copies *= 2;
    share_out((io->in.width * pixel + WORD - 1) / WORD * io->out.rows, threads, units * resident, counters, INT64_MAX,
              grid);
    grid->block[0] = (unsigned)copies;
    grid->block[1] = (unsigned)(threads / copies);
    grid->shared_bytes *= (unsigned)copies;
}

/* Parts of the histogram, where one of several copies does not fit. */
static void parts_grid(const smp_io *io, const void *params, smp_grid *grid)
{
    const int64_t units = or_else(grid->units, UNITS), shared = or_else(grid->shared_most, SHARED);
    const int64_t counters = smp_histogram_counters(params, io->in.format, io->in.channels);
    const int64_t pixel = io->in.channels * smp_sample_size(io->in.format);
    share_out((io->in.width * pixel + WORD - 1) / WORD * io->out.rows, threads_of(io), units, counters, shared, grid);
}

const char *smp_count_private(const smp_io *io, const void *params, smp_grid *grid)
{
    static const char *const each[] = {"histogram_private_1", "histogram_private_2", "histogram_private_3",
                                       "histogram_private_4"};
    const smp_histogram_params *p = params;
    const int channels = io->in.channels;
    const int most = io->in.format == SMP_F32 ? 1 : 4; /* the others are too rare for kernels of their own */
    const smp_grid known = *grid;
    private_grid(io, params, grid);
    if (!smp_grid_fits(grid, &known)) {
        *grid = known;
        parts_grid(io, params, grid);
        return "histogram_parts";
    }
    return channels <= most && !p->colours ? each[channels - 1] : "histogram_private_any";
}

const smp_variant smp_count_variants[] = {
    {.name = "naive",
     .help = "one increment in memory a sample",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(histogram_naive), "histogram_naive", smp_geometry_count_each, false}}},
    {.name = "tiled",
     .help = "several small tables, added up at the end; on GPUs one a block in shared memory",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(histogram_tiled), "histogram_tiled", smp_geometry_count_tiled, false}},
     .scratch = smp_histogram_scratch},
    {.name = "private",
     .help = "on GPUs a table for each bank of shared memory, so that lanes never wait for each other",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(histogram_tiled), .decide = smp_count_private}},
     .scratch = smp_histogram_scratch},
    {0},
};
