/* limit: a ceiling that no sample passes, without clicks. */
#include <math.h>

#include "audio/limit.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "stages/launch.h"
#include "stages/shared/biquads.h"
#include "stages/shared/launch_shapes.h"

enum { SAMPLE, TRUE_PEAK };

typedef struct params {
    double ceiling, lookahead, release;
    int peak;
} params;

static const smp_param table[] = {
    {"ceiling", offsetof(params, ceiling), SMP_T_FLOAT, SMP_UNIT_DB, -60, 0, "-1dB", "level that nothing passes", NULL,
     SMP_P_MAIN},
    {"lookahead", offsetof(params, lookahead), SMP_T_FLOAT, SMP_UNIT_S, 0.0001, 0.1, "5ms",
     "time in which the level falls before a peak", NULL, 0},
    {"release", offsetof(params, release), SMP_T_FLOAT, SMP_UNIT_NONE, 1, 100000, "100",
     "how fast the level rises again, dB a second", NULL, 0},
    {"peak", offsetof(params, peak), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "sample",
     "sample: of the samples; true: of the values between them too", (const char *const[]){"sample", "true", NULL}, 0},
    {0},
};

/* The smoothing's weights: a squared sine whose sum is 2^16. */
static smp_code make_table(int ahead, smp_node_plan *work, smp_error *err)
{
    const double pi = 3.14159265358979323846;
    work->table_size = ((size_t)ahead + 1) * sizeof(int32_t);
    int32_t *to = work->table = smp_alloc(work->table_size), rest = 65536;
    double sum = 0;
    if (!to)
        return smp_fail_memory(err, "a limiter", work->table_size);
    for (int k = 0; k <= ahead; k++)
        sum += pow(sin(pi * (k + 1) / (ahead + 2)), 2);
    for (int k = 0; k <= ahead; k++) {
        to[k] = (int32_t)floor(pow(sin(pi * (k + 1) / (ahead + 2)), 2) / sum * 65536 + 0.5);
        rest -= to[k];
    }
    to[(ahead + 1) / 2] += rest;
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by;
    enum { MOST = 65536 /* frames */, TWICE = 96000, NONE = 192000 /* Hz */ };
    const params *p = given;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    const double ahead = floor(p->lookahead * in->rate + 0.5),
                 rise = fmin(-(double)SMP_LIMIT_LEAST, floor(p->release / in->rate * 65536 + 0.5));
    if (ahead > MOST) {
        smp_fail(err, SMP_E_PIPE, "a lookahead of %.6g s has %.0f frames at %.6g Hz; at most %d are possible",
                 p->lookahead, ahead, in->rate, MOST);
        return smp_hint(err, "give a lookahead of %.4gms", MOST / in->rate * 1000 * 0.999);
    }
    smp_limit *k = (smp_limit *)(void *)work->kernel;
    *k = (smp_limit){.ceiling = p->ceiling,
                     .ahead = (int32_t)fmax(1, ahead),
                     .rise = (int32_t)fmax(1, rise),
                     .phases = p->peak == SAMPLE || in->rate >= NONE ? 0
                               : in->rate < TWICE                    ? SMP_PEAK_PHASES
                                                                     : SMP_PEAK_PHASES / 2};
    k->back = (-SMP_LIMIT_LEAST + k->rise - 1) / k->rise;
    work->kernel_size = sizeof *k;
    work->reach_up = smp_min_i64((int64_t)k->ahead + k->back + SMP_PEAK_TAPS, in->height);
    work->reach_down = smp_min_i64((int64_t)k->ahead + SMP_LIMIT_BEHIND, in->height);
    work->row_unit = SMP_BIQUAD_LEAF;
    work->ops = 2. * k->ahead;
    return make_table(k->ahead, work, err);
}

static void release_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    enum { WARP = 32 };
    const int64_t leaves = (io->second.rows + 2 * ((const smp_limit *)kernel)->ahead) / SMP_LIMIT_LEAF + 1;
    smp_grid_line(leaves, WARP, WARP, grid);
}

static void frames_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    (void)kernel;
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

static size_t scratch(const smp_io *io, const void *kernel)
{
    (void)io;
    return smp_limit_scratch(kernel);
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "step after step over all frames; on GPUs every frame takes its minima from device memory",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(limit_naive)},
                  {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "limit_release", .geometry = release_geometry},
                  {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "limit_naive", .geometry = frames_geometry}},
     .scratch = naive_scratch,
     .band = SMP_BIQUAD_LEAF},
    {.name = "tiled",
     .help = "chunks in cache, minima of windows that double; on GPUs gains in shared memory, each minimum made once",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(limit_tiled)},
                  {.from = SMP_IN, .to = SMP_SCRATCH, .decide = release_if_tiled},
                  {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "limit_tiled", .geometry = tiled_geometry}},
     .scratch = scratch,
     .band = SMP_BIQUAD_LEAF},
    {0},
};

const smp_stage smp_stage_limit = {
    .name = "limit",
    .help = "keep a sound below a ceiling",
    .about =
        "Where a peak passes the ceiling, the level of all channels falls before it, over the lookahead, along a "
        "smooth curve, and rises again by `release` dB a second. No sample passes the ceiling by more than 2e-6 of "
        "it; with peak=true no value between samples by more than 0.3 dB (oversampled as for `loudness`). It turns "
        "down "
        "by 60 dB at most, and samples that are not finite stay. Nothing is delayed. Gains are whole numbers of 2^-16 "
        "dB, so that all devices give the same bytes.",
    .example = "limit -6dB lookahead=0.1ms release=100000",
    .domain = SMP_AUDIO,
    .access = SMP_STENCIL,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .variants = variants,
    .aliases = (const smp_alias[]){{"limiter", "limit -1dB"},
                                   {"alimiter", "limit -1dB"},
                                   {"brickwall", "limit -1dB"},
                                   {"maximizer", "limit -1dB"},
                                   {0}},
};
