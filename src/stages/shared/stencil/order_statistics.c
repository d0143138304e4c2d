/* See order_statistics.h. */
#include "stages/shared/stencil/order_statistics.h"

#include <math.h>

#include "stages/shared/launch_shapes.h"
#include "stages/shared/stencil/warp_strip_launch.h"
#include "stages/shared/stencil/window_plan.h"

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
    work->effect.none = p->size == 1;
    work->values.exactness = SMP_INTEGER;
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

static const char *warp(const smp_io *io, const void *kernel, smp_grid *grid)
{
    static const char *const names[][4] = {{"median_warp3_1", NULL, "median_warp3_3", "median_warp3_4"},
                                           {"median_warp5_1", NULL, "median_warp5_3", NULL}};
    const smp_rank *r = kernel;
    const smp_bands bands = {.most = SMP_MEDIAN_BAND - r->window.size + 1, .halo = r->window.size - 1};
    if (!smp_rank_warp(r, io))
        return NULL;
    smp_strip_grid(io, SMP_STRIP_BYTES / smp_sample_size(io->in.format), &bands, grid);
    return names[r->window.size / 2 - 1][io->in.channels - 1];
}

const smp_variant smp_rank_variants[] = {
    {SMP_RUNG("naive", "every sample of every window anew", SMP_LAUNCH_AS(rank_naive, .decide = naive))},
    {SMP_RUNG(
         "tiled",
         "networks for medians of 3 and 5; CPU: histograms of bytes, else bit by bit; GPU: a tile in shared memory",
         SMP_LAUNCH_AS(rank_tiled, .decide = tiled)),
     .scratch = bytes},
    {SMP_RUNG("private", "GPU, bytes: a histogram a lane that moves down with the rows, each in a bank of its own",
              SMP_LAUNCH_AS(rank_tiled, .decide = private)),
     .scratch = bytes},
    {.name = "warp",
     .help =
         "GPU, no fill outside: medians of 3 of 8 and 16 bits with 1, 3 or 4 channels, and of 5 of 8 bits with 1 or 3; "
         "one warp walks down a strip, two samples a word. Others and CPU as before",
     .launches = {SMP_LAUNCH_AS(rank_tiled, .decide = warp)},
     .scratch = bytes},
    {0},
};
