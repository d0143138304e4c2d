/* The plan and the variants of limit, compress and gate: see dynamics.h. */
#include "stages/shared/sound/dynamics.h"

#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/launch.h"
#include "stages/shared/launch_shapes.h"

/* The smoothing's weights: a squared sine whose sum is 2^16. */
static smp_code make_table(int ahead, smp_node_plan *work, smp_error *err)
{
    const double pi = 3.14159265358979323846;
    work->table.size = ((size_t)ahead + 1) * sizeof(int32_t);
    int32_t *to = work->table.data = smp_alloc(work->table.size), rest = 65536;
    double sum = 0;
    SMP_NEED(to, "the curve of a gain", work->table.size, err);
    for (int k = 0; k <= ahead; k++)
        sum += pow(sin(pi * (k + 1) / (ahead + 2)), 2);
    for (int k = 0; k <= ahead; k++) {
        to[k] = (int32_t)floor(pow(sin(pi * (k + 1) / (ahead + 2)), 2) / sum * 65536 + 0.5);
        rest -= to[k];
    }
    to[(ahead + 1) / 2] += rest;
    return SMP_OK;
}

smp_code smp_dynamics_plan(const smp_limit *given, double ahead, const char *name, bool early, double rate,
                           const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    enum { MOST = 65536 /* frames */ };
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    const double frames = floor(ahead * in->rate + 0.5),
                 rise = fmin(-(double)given->least, floor(rate / in->rate * SMP_LIMIT_DB + 0.5));
    if (frames > MOST) {
        const bool vowel = name[0] == 'a';
        smp_fail(err, SMP_E_PIPE, "%s %s of %.6g s has %.0f frames at %.6g Hz; at most %d are possible",
                 vowel ? "an" : "a", name, ahead, frames, in->rate, MOST);
        return smp_hint(err, "give %s %s of %.4gms", vowel ? "an" : "a", name, MOST / in->rate * 1000 * 0.999);
    }
    smp_limit *k = SMP_PLAN_KERNEL(work, smp_limit);
    *k = *given;
    k->ahead = (int32_t)fmax(1, frames);
    k->window = early ? k->ahead : 0;
    k->rise = (int32_t)fmax(1, rise);
    k->back = (-k->least + k->rise - 1) / k->rise;
    k->bend = k->knee > 0 ? 1 / (2 * k->knee) : 0;
    work->rows.up = smp_min_i64((int64_t)k->ahead + k->back + SMP_PEAK_TAPS, in->height);
    work->rows.down = smp_min_i64((int64_t)k->ahead + SMP_LIMIT_BEHIND, in->height);
    work->rows.unit = SMP_BIQUAD_SEGMENT;
    work->ops = 2. * k->ahead;
    return make_table(k->ahead, work, err);
}

static void release_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    enum { WARP = 32 };
    const int64_t segments = (io->second.rows + 2 * ((const smp_limit *)kernel)->ahead) / SMP_LIMIT_SEGMENT + 1;
    smp_grid_line(segments, WARP, WARP, grid);
}

static void frames_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(io->out.rows, SMP_LIMIT_TILE, SMP_LIMIT_TILE, grid);
}

static void tiled_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    frames_geometry(io, kernel, grid);
    grid->shared_bytes = (2 * SMP_LIMIT_TILE + 3 * (unsigned)((const smp_limit *)kernel)->ahead) * 4;
}

/* The first launch says whether the second one's shared memory fits. */
static const char *release_if_tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_grid known = *grid;
    tiled_geometry(io, kernel, grid);
    const bool fits = smp_grid_fits(grid, &known);
    release_geometry(io, kernel, grid);
    return fits ? "limit_release" : NULL;
}

static size_t naive_scratch(const smp_io *io, const void *kernel)
{
    return smp_limit_naive_scratch(kernel, io->out.rows);
}

static size_t scratch(const smp_io *, const void *kernel)
{
    return smp_limit_scratch(kernel);
}

const smp_variant smp_dynamics_variants[3] = {
    {SMP_RUNG("naive", "step after step over all frames; on GPUs every frame takes its minima from device memory",
              {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(limit_naive)},
              {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "limit_release", .geometry = release_geometry},
              {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "limit_naive", .geometry = frames_geometry}),
     .scratch = naive_scratch, .band = SMP_BIQUAD_SEGMENT},
    {SMP_RUNG("tiled",
              "chunks in cache, minima of windows that double; on GPUs gains in shared memory, each minimum made once",
              {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(limit_tiled)},
              {.from = SMP_IN, .to = SMP_SCRATCH, .decide = release_if_tiled},
              {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "limit_tiled", .geometry = tiled_geometry}),
     .scratch = scratch, .band = SMP_BIQUAD_SEGMENT},
    {0},
};
