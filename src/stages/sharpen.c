/* sharpen: unsharp mask. */
#include "gaussian/sharpen.h"

#include "stages/shared/stencil/gaussian_plan.h"
#include "stages/shared/stencil/window_plan.h"

typedef struct params {
    double amount, sigma, threshold, fill;
    int edge;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(amount, NONE, 0, 100, "1", "how much of the difference is added; 0 changes nothing", SMP_P_MAIN),
    SMP_PARAM_FLOAT(sigma, PX, 0, SMP_GAUSSIAN_MAX_SIGMA, "1",
                    "standard deviation of the blur that the difference is taken from", 0),
    SMP_PARAM_FLOAT(threshold, FRACTION, 0, 1, "0", "differences up to this stay as they are", SMP_P_LEVEL),
    SMP_WINDOW_EDGE(params),
    SMP_WINDOW_FILL(params),
    {0},
};

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_sharpen kernel = {.amount = (float)p->amount, .threshold = (float)p->threshold};
    work->effect.none = p->amount <= 0;
    if (work->effect.none)
        return SMP_OK;
    smp_code code = smp_gaussian_plan(p->sigma, 4, p->edge, p->fill, false, &kernel.blur, work, err);
    if (code || work->effect.none)
        return code;
    smp_plan_kernel(work, &kernel, sizeof kernel);
    work->values.clips = true;
    work->ops += 4;
    return SMP_OK;
}

static size_t ring(const smp_io *io, const void *kernel)
{
    return smp_sharpen_ring(kernel, &io->in);
}
static size_t scratch(const smp_io *io, const void *kernel)
{
    return smp_sharpen_scratch(kernel, io->in.channels);
}

static const char *warp(const smp_io *io, const void *kernel, smp_grid *grid)
{
#define WARP(R) "sharpen_warp" #R "_1", NULL, "sharpen_warp" #R "_3", "sharpen_warp" #R "_4"
    static const char *const names[SMP_SHARPEN_WARP_RADIUS][SMP_GAUSSIAN_CHANNELS] = {
        {WARP(1)}, {WARP(2)}, {WARP(3)}, {WARP(4)}, {WARP(5)}, {WARP(6)}, {WARP(7)}, {WARP(8)}};
#undef WARP
    const int radius = smp_sharpen_warp(kernel, io);
    if (!radius)
        return NULL;
    smp_gaussian_warp_grid(io, radius, grid);
    return names[radius - 1][io->in.channels - 1];
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "row pass into a ring (CPU) or an f32 picture (GPU), the rest sample by sample",
              {.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(sharpen_naive)},
              {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "gaussian_rows"},
              {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "sharpen_columns"}),
     .scratch = ring},
    {.name = "tiled",
     .help = "CPU: blur and mask in one walk, rows between the passes stay in cache; GPU: two launches over tiles with "
             "a halo",
     .launches =
         {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(sharpen_tiled)},
          {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "gaussian_rows_tiled", .tiles = SMP_GAUSSIAN_ROW_TILES},
          {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "sharpen_columns_tiled", .tiles = SMP_GAUSSIAN_COLUMN_TILES}},
     .scratch = scratch,
     .band = 16},
    {SMP_RUNG("warp",
              "GPU: blur and mask in one kernel, a warp walks down a strip; radii above 8 px, 16-bit and two-channel "
              "pictures, a fill outside, other formats in than out, and CPU as tiled",
              SMP_LAUNCH_AS(sharpen_tiled, .decide = warp)),
     .scratch = scratch, .band = 16},
    {0},
};

const smp_stage smp_stage_sharpen = {
    .name = "sharpen",
    .help = "unsharp mask: adds what a blur takes away",
    .about = "out = v + amount * (v - blur(v)) where |v - blur(v)| > threshold, else v; blur has a gaussian of "
             "standard deviation sigma, cut at 4 sigma, in f32 and unrounded.\n"
             "Alpha is sharpened like a colour; colour is premultiplied: as if the picture lay on any background.",
    .example = "sharpen 0.8 sigma=1.5px threshold=2%",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("0x$S", "amount=1 sigma=$S"),
                                          SMP_MEANS("0x$S+$A+$T", "amount=$A sigma=$S threshold=$T")),
                       .aliases = SMP_ALIASES({"unsharp usm unsharpmask unsharp_mask", "sharpen"})),
};
