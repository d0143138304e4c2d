/* Shared by stages that reduce to chunks: see reduction_chunks.h. */
#include "stages/shared/reduce/reduction_chunks.h"

#include "base/checked.h"
#include "stages/shared/launch_shapes.h"

/* Chunks of the launch, of every channel by itself when apart, `threads` threads each. */
static void chunk_grid(const smp_io *io, bool apart, int threads, int block, smp_grid *grid)
{
    const int64_t rows = smp_chunk_rows(io->in.width);
    const int64_t chunks = smp_chunks_across(io->in.width) * ((io->out.rows + rows - 1) / rows);
    const int64_t blocks = (chunks * (apart ? io->in.channels : 1) * threads + block - 1) / block;
    *grid = (smp_grid){.grid = {(unsigned)blocks, 1, 1}, .block = {(unsigned)block, 1, 1}};
}

void smp_geometry_chunk_naive(const smp_io *io, const void *, smp_grid *grid)
{
    chunk_grid(io, true, 1, SMP_STATS_NAIVE, grid);
}

void smp_geometry_chunk_tree(const smp_io *io, const void *, smp_grid *grid)
{
    chunk_grid(io, true, SMP_LANES, SMP_STATS_THREADS, grid);
}

void smp_geometry_chunk_shuffle(const smp_io *io, const void *, smp_grid *grid)
{
    const int64_t rows = smp_chunk_rows(io->in.width);
    const int64_t across =
        smp_chunks_across(io->in.width) * (io->in.channels > SMP_STATS_TOGETHER ? io->in.channels : 1);
    const int64_t down = smp_min_i64((io->out.rows + rows - 1) / rows, smp_grid_most(grid));
    *grid = (smp_grid){.grid = {(unsigned)across, (unsigned)down, 1}, .block = {SMP_STATS_SHUFFLE, 1, 1}};
}

static size_t chunk_scratch(const smp_io *io, const void *)
{
    return (size_t)SMP_CHUNK * (size_t)io->in.channels * sizeof(float);
}

const smp_variant smp_chunk_variants[] = {
    {SMP_RUNG("naive", "sample by sample, lane sums in memory",
              SMP_LAUNCH(stats_naive, .geometry = smp_geometry_chunk_naive))},
    {SMP_RUNG("interleaved", "on GPUs a tree in shared memory with growing strides: bank conflicts",
              SMP_LAUNCH_AS(stats_tiled, .cuda = "stats_interleaved", .geometry = smp_geometry_chunk_tree)),
     .scratch = chunk_scratch},
    {SMP_RUNG("tiled",
              "one accumulator for each position of a block of samples; on GPUs a tree over neighbours: no conflicts",
              SMP_LAUNCH(stats_tiled, .geometry = smp_geometry_chunk_tree)),
     .scratch = chunk_scratch},
    {SMP_RUNG("shuffle", "on GPUs lanes add through registers, 16-byte loads: no shared memory",
              SMP_LAUNCH_AS(stats_tiled, .cuda = "stats_shuffle", .geometry = smp_geometry_chunk_shuffle)),
     .scratch = chunk_scratch},
    {0},
};

size_t smp_chunk_bytes(const smp_shape *shape)
{
    return (size_t)smp_chunk_count(shape->width, shape->height) * (size_t)shape->channels * sizeof(smp_stats_chunk);
}

/* Folds the chunks of one channel as a binary tree over their numbers: subtree k of the stack holds 2^k chunks, as the
 * digits of a binary counter. */
smp_stats_chunk smp_chunks_fold(const smp_stats_chunk *chunks, const smp_shape *shape, int channel)
{
    const int64_t count = smp_chunk_count(shape->width, shape->height), channels = shape->channels;
    smp_stats_chunk stack[64];
    int depth = 0;
    for (int64_t i = 0; i < count; i++) {
        smp_stats_chunk tree = chunks[i * channels + channel];
        for (int64_t rest = i; rest & 1; rest >>= 1)
            tree = smp_stats_join(stack[--depth], tree);
        stack[depth++] = tree;
    }
    smp_stats_chunk all = stack[--depth];
    while (depth > 0)
        all = smp_stats_join(stack[--depth], all);
    return all;
}
