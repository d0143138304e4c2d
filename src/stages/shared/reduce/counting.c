/* Shared by stages that count: see counting.h. */
#include "stages/shared/reduce/counting.h"

#include <math.h>
#include <stdio.h>

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
    const smp_io pixels = smp_grid_over(io, io->out.width, io->out.rows, 1);
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

/* Uses as many copies as leave room for a second block on the SM: 7/16 of what one may have is less than half of what
 * an SM has, whatever the device. Blocks are as wide as there are copies. */
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

/* Chunks are asked for of float samples alone. */
static size_t count_scratch(const smp_io *io, const void *params)
{
    return io->in.format == SMP_F32 ? smp_stats_scratch(io, params) : smp_histogram_scratch(io, params);
}

const smp_variant smp_count_variants[] = {
    {SMP_RUNG("naive", "one increment in memory a sample",
              SMP_LAUNCH(stats_naive, .geometry = smp_geometry_chunk_naive),
              SMP_LAUNCH(histogram_naive, .geometry = smp_geometry_count_each, .counts = true))},
    {SMP_RUNG("tiled", "several small tables, added up at the end; on GPUs one a block in shared memory",
              SMP_LAUNCH(stats_tiled, .geometry = smp_geometry_chunk_tree),
              SMP_LAUNCH(histogram_tiled, .geometry = smp_geometry_count_tiled, .counts = true)),
     .scratch = count_scratch},
    {SMP_RUNG("private", "on GPUs a table for each bank of shared memory, so that lanes never wait for each other",
              SMP_LAUNCH_AS(stats_tiled, .cuda = "stats_shuffle", .geometry = smp_geometry_chunk_shuffle),
              SMP_LAUNCH_AS(histogram_tiled, .counts = true, .decide = smp_count_private)),
     .scratch = count_scratch},
    {0},
};

const smp_variant smp_count_both_variants[] = {
    {SMP_RUNG("naive", "one increment in memory a sample",
              SMP_LAUNCH(stats_naive, .geometry = smp_geometry_chunk_naive),
              SMP_LAUNCH(histogram_naive, .geometry = smp_geometry_count_each, .counts = true),
              SMP_LAUNCH_OVER(SECOND, OUT, histogram_naive, .geometry = smp_geometry_count_each, .counts = true,
                              .once = true))},
    {SMP_RUNG("tiled", "several small tables, added up at the end; on GPUs one a block in shared memory",
              SMP_LAUNCH(stats_tiled, .geometry = smp_geometry_chunk_tree),
              SMP_LAUNCH(histogram_tiled, .geometry = smp_geometry_count_tiled, .counts = true),
              SMP_LAUNCH_OVER(SECOND, OUT, histogram_tiled, .geometry = smp_geometry_count_tiled, .counts = true,
                              .once = true)),
     .scratch = count_scratch},
    {SMP_RUNG(
         "private", "on GPUs a table for each bank of shared memory, so that lanes never wait for each other",
         SMP_LAUNCH_AS(stats_tiled, .cuda = "stats_shuffle", .geometry = smp_geometry_chunk_shuffle),
         SMP_LAUNCH_AS(histogram_tiled, .counts = true, .decide = smp_count_private),
         SMP_LAUNCH_OVER_AS(SECOND, OUT, histogram_tiled, .decide = smp_count_private, .counts = true, .once = true)),
     .scratch = count_scratch},
    {0},
};

enum { COUNTS_ALIGN = 64 /* bytes */ };

void smp_count_luma(const smp_shape *in, smp_histogram_params *k)
{
    static const float rec601[3] = {0.299f, 0.587f, 0.114f};
    const int colours = in->channels - in->alpha;
    k->colours = colours > 1 ? colours : 0;
    for (int c = 0; c < k->colours; c++)
        k->weights[c] = colours == 3 ? rec601[c] : 1.f / (float)colours;
}

void smp_count_ask(const smp_shape *in, smp_node_plan *work)
{
    const smp_histogram_params *k = (const smp_histogram_params *)(const void *)work->kernel.bytes;
    const size_t counts = (size_t)smp_histogram_planes(k, in->channels) * (size_t)(k->bins + 1) * sizeof(uint64_t);
    work->reduction.kind = SMP_RESULT_COUNTS;
    work->reduction.counts_at = 0;
    if (in->format == SMP_F32) {
        work->reduction.kind = SMP_RESULT_CHUNKS_COUNTS;
        work->reduction.counts_at = (smp_chunk_bytes(in) + COUNTS_ALIGN - 1) / COUNTS_ALIGN * COUNTS_ALIGN;
    }
    work->reduction.size = work->reduction.counts_at + counts;
}

void smp_count_ask_second(const smp_shape *by, smp_node_plan *work)
{
    const smp_histogram_params *k = (const smp_histogram_params *)(const void *)work->kernel.bytes;
    work->reduction.second_at = (work->reduction.size + COUNTS_ALIGN - 1) / COUNTS_ALIGN * COUNTS_ALIGN;
    work->reduction.size = work->reduction.second_at +
                           (size_t)smp_histogram_planes(k, by->channels) * (size_t)(k->bins + 1) * sizeof(uint64_t);
}

const uint64_t *smp_count_result(const smp_node_plan *work, const void *result)
{
    return (const uint64_t *)(const void *)((const char *)result + work->reduction.counts_at);
}

void smp_extent_add(smp_extent *extent, const smp_histogram_params *k, const smp_stats_chunk *all, uint64_t nonfinite,
                    uint64_t nan)
{
    const double bin = 1 / (double)k->scale, low = (double)k->low, high = low + k->bins * bin;
    if (all->count) {
        const bool first = !(extent->least <= extent->most);
        extent->least = first ? (double)all->min : fmin(extent->least, (double)all->min);
        extent->most = first ? (double)all->max : fmax(extent->most, (double)all->max);
    }
    extent->infinite |= nonfinite > nan;
    extent->below |= extent->infinite || (all->count && (double)all->min < low - bin);
    extent->above |= extent->infinite || (all->count && (double)all->max > high + bin);
}

smp_extent smp_count_extent(const smp_shape *in, const smp_node_plan *work, const void *result, int first, int last)
{
    const smp_histogram_params *k = (const smp_histogram_params *)(const void *)work->kernel.bytes;
    const uint64_t *counts = smp_count_result(work, result), samples = (uint64_t)(in->width * in->height);
    smp_extent extent = {.least = 1, .most = 0};
    for (int c = first; c < last && work->reduction.kind == SMP_RESULT_CHUNKS_COUNTS; c++) {
        const smp_stats_chunk all = smp_chunks_fold(result, in, c);
        const uint64_t other = samples - (uint64_t)all.count;
        smp_extent_add(&extent, k, &all, other, k->colours ? other : counts[smp_histogram_slot(k->bins, c, k->bins)]);
    }
    return extent;
}

void smp_count_outside(const smp_extent *extent, const smp_histogram_params *k, smp_node_plan *work)
{
    work->reduction.outside[0] = '\0';
    if (!extent)
        return;
    const double low = (double)k->low, high = low + k->bins / (double)k->scale;
    snprintf(work->reduction.outside, sizeof work->reduction.outside,
             "this stage tells samples from %g to %g apart, but its input goes from %.6g to %.6g%s", low, high,
             extent->least, extent->most, extent->infinite ? ", and some are infinite" : "");
}
