/* What order_statistics.h declares. */
#include "stages/shared/order_statistics.h"

#include <math.h>

#include "stages/shared/launch_shapes.h"
#include "stages/shared/window_plan.h"

void smp_rank_plan(const smp_rank_params *p, double percentile, smp_node_plan *work)
{
    const int32_t reach = (int32_t)(p->size / 2);
    smp_rank r = {
        .window = {.size = (int32_t)p->size, .edge = p->edge, .fill = (float)p->fill, .alpha = 1},
        .shape = {.rx = reach, .ry = reach, .shape = p->shape, .edge = p->edge, .fill = (float)p->fill},
    };
    for (int32_t dy = -reach; dy <= reach; dy++)
        r.count += 2 * smp_morph_chord(&r.shape, dy) + 1;
    r.rank = (int32_t)fmin(r.count - 1, floor(r.count * percentile / 100));
    work->nothing = p->size == 1;
    work->exactness = SMP_INTEGER;
    work->ops = p->size == 3 ? 38 : p->size == 5 ? 198 : 2. * r.count * 8;
    smp_window_plan(&r, sizeof r, work);
}

static size_t bytes(const smp_io *io, const void *kernel)
{
    return smp_rank_scratch(kernel, io->in.channels);
}

static const char *naive(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_geometry_samples(io, kernel, grid);
    return smp_rank_network(kernel) ? "median_naive" : "rank_naive";
}

static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const smp_tiles shape = {SMP_RANK_ACROSS, SMP_RANK_DOWN, 32, 8};
    const smp_rank *r = kernel;
    if (smp_rank_network(r)) {
        smp_grid_sample_tiles(io, &smp_window_tiles, grid);
        return r->window.size == 3 ? "median_tiled3" : "median_tiled5";
    }
    smp_grid_sample_tiles(io, &shape, grid);
    grid->shared_bytes = smp_rank_shared(r, io->in.channels);
    return grid->shared_bytes ? "rank_tiled" : NULL;
}

static const char *private(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const smp_tiles shape = {SMP_RANK_LANES, SMP_RANK_ROWS, SMP_RANK_LANES, 1};
    if (smp_rank_network(kernel) || io->in.format != SMP_U8 || io->out.format != SMP_U8)
        return NULL;
    smp_grid_sample_tiles(io, &shape, grid);
    return "rank_private";
}

const smp_variant smp_rank_variants[] = {
    {.name = "naive",
     .help = "every sample of every window anew",
     .launches = {SMP_LAUNCH_AS(rank_naive, .decide = naive)}},
    {.name = "tiled",
     .help = "networks for medians of 3 and 5; CPU: histograms of bytes, else bit by bit; GPU: a tile in shared memory",
     .launches = {SMP_LAUNCH_AS(rank_tiled, .decide = tiled)},
     .scratch = bytes},
    {.name = "private",
     .help = "GPU, bytes: a histogram a lane that moves down with the rows, each in a bank of its own",
     .launches = {SMP_LAUNCH_AS(rank_tiled, .decide = private)},
     .scratch = bytes},
    {0},
};
