/* gaussian: blur by a gaussian of standard deviation sigma. */
#include "gaussian/gaussian.h"

#include "base/alloc.h"
#include "stages/shared/stencil/gaussian_plan.h"
#include "stages/shared/stencil/warp_strip_launch.h"
#include "stages/shared/stencil/window_plan.h"

typedef struct params {
    double sigma, truncate, fill;
    int edge;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(sigma, PX, 0, SMP_GAUSSIAN_MAX_SIGMA, NULL, "standard deviation of the gaussian; 0 changes nothing",
                    SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_WINDOW_EDGE(params),
    SMP_PARAM_FLOAT(truncate, NONE, 2, 10, "4", "radius in standard deviations: floor(truncate * sigma + 0.5) px", 0),
    SMP_WINDOW_FILL(params),
    {0},
};

/* Plans the matrices for tensor cores, if a kernel uses them. */
static smp_code plan_matrices(const smp_gaussian *gaussian, int channels, smp_node_plan *work, smp_error *err)
{
    const int steps = gaussian->whole ? smp_banded_steps(gaussian->radius, channels) : 0;
    const size_t size = (size_t)smp_banded_words(steps) * sizeof(uint32_t);
    if (!steps)
        return SMP_OK;
    work->table.data = smp_alloc(size);
    SMP_NEED(work->table.data, "filter weights", size, err);
    work->table.size = size;
    smp_banded_matrices(gaussian, channels, steps, work->table.data);
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_gaussian gaussian;
    smp_code code =
        smp_gaussian_plan(p->sigma, p->truncate, p->edge, p->fill, in->format == SMP_U8, &gaussian, work, err);
    if (!code && !work->effect.none)
        code = plan_matrices(&gaussian, in->channels, work, err);
    if (code || work->effect.none)
        return code;
    smp_plan_kernel(work, &gaussian, sizeof gaussian);
    return SMP_OK;
}

static size_t scratch(const smp_io *io, const void *kernel)
{
    const smp_gaussian *gaussian = kernel;
    return smp_gaussian_scratch(gaussian->radius, io->in.channels);
}

/* For bytes, a kernel of the next radius serves as well: its outer taps have weight 0. */
static int kernel_radius(const smp_gaussian *gaussian, const smp_io *io)
{
    const int radius = smp_gaussian_warp(gaussian, io);
    return io->in.format == SMP_U8 && io->out.format == SMP_U8 && radius > 4 && radius < 8 ? 8 : radius;
}

static const char *warp(const smp_io *io, const void *kernel, smp_grid *grid)
{
#define WARP(R) "gaussian_warp" #R "_1", NULL, "gaussian_warp" #R "_3", "gaussian_warp" #R "_4"
    static const char *const names[SMP_GAUSSIAN_WARP_RADIUS][SMP_GAUSSIAN_CHANNELS] = {
        {WARP(1)}, {WARP(2)},  {WARP(3)},  {WARP(4)},  {WARP(5)},  {WARP(6)},  {WARP(7)},  {WARP(8)},
        {WARP(9)}, {WARP(10)}, {WARP(11)}, {WARP(12)}, {WARP(13)}, {WARP(14)}, {WARP(15)}, {WARP(16)}};
#undef WARP
    const int radius = kernel_radius(kernel, io);
    if (!radius)
        return NULL;
    smp_gaussian_warp_grid(io, radius, grid);
    return names[radius - 1][io->in.channels - 1];
}

static const char *mma(const smp_io *io, const void *kernel, smp_grid *grid)
{
#define BANDED(R) "gaussian_banded" #R "_1", "gaussian_banded" #R "_2", "gaussian_banded" #R "_3"
    static const char *const names[SMP_BANDED_RADIUS + 1][SMP_BANDED_STEPS] = {
        [4] = {BANDED(4)}, [5] = {BANDED(5)},   [6] = {BANDED(6)},  [7] = {BANDED(7)},
        [8] = {BANDED(8)}, [10] = {BANDED(10)}, [12] = {BANDED(12)}};
#undef BANDED
    static const smp_bands bands = {.most = SMP_BANDED_TALL, .warps = SMP_BANDED_BUSY, .uneven = true};
    const smp_gaussian *gaussian = kernel;
    const int radius = smp_banded_warp(gaussian, io);
    if (!radius)
        return NULL;
    smp_strip_grid(io, SMP_BANDED_ACROSS, &bands, grid);
    return names[radius][smp_banded_steps(gaussian->radius, io->in.channels) - 1];
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "row pass into an f32 picture, column pass out of it",
              {.from = SMP_IN, .to = SMP_SCRATCH, .cpu = SMP_CPU(gaussian_rows), .cuda = "gaussian_rows"},
              {.from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(gaussian_columns), .cuda = "gaussian_columns"})},
    {.name = "tiled",
     .help = "CPU: both passes in one walk, rows between them stay in cache; GPU: two launches over tiles with a halo",
     .launches =
         {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(gaussian_tiled)},
          {.from = SMP_IN, .to = SMP_SCRATCH, .cuda = "gaussian_rows_tiled", .tiles = SMP_GAUSSIAN_ROW_TILES},
          {.from = SMP_SCRATCH, .to = SMP_OUT, .cuda = "gaussian_columns_tiled", .tiles = SMP_GAUSSIAN_COLUMN_TILES}},
     .scratch = scratch,
     .band = 16},
    {SMP_RUNG("warp",
              "GPU: both passes in one kernel, a warp walks down a strip with its sums in registers; radii above 16 px "
              "(above 3 between float and 8 bits), two channels, 16 bits to or from float, a fill outside, and CPU as "
              "tiled",
              SMP_LAUNCH_AS(gaussian_tiled, .decide = warp)),
     .scratch = scratch, .band = 16},
    {SMP_RUNG("mma",
              "GPU, 8 bits, 4 to 12 px (10 with four channels): as warp, the row pass on tensor cores; others as warp, "
              "CPU as tiled",
              SMP_LAUNCH_AS(gaussian_tiled, .decide = mma)),
     .scratch = scratch, .band = 16},
    {0},
};

const smp_stage smp_stage_gaussian = {
    .name = "gaussian",
    .help = "blur by a gaussian of standard deviation sigma",
    .about =
        "Separable: m[x] = w0*p[x] + sum of w[k]*(p[x-k] + p[x+k]) along rows, then s[y] = sum of w[|i|]*m[y+i] "
        "along columns, in f32, rounded once at the end. w[k] = exp(-k^2 / (2 sigma^2)), normalised in double to "
        "sum 1, for k up to floor(truncate * sigma + 0.5): the samples of scipy.ndimage.gaussian_filter and OpenCV's "
        "GaussianBlur at every sigma, also below 0.7 px, where they blur less than sigma says. Of 8-bit pictures, "
        "up to 12 px of radius, the row weights are whole 65536ths that move no result by more than 0.01, so that "
        "the row pass is exact.\n"
        "Alpha is blurred like a colour; colour is premultiplied. edge=constant: both passes see `fill` outside.",
    .example = "gaussian 2px edge=mirror",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("0x$S", "sigma=$S"),
                                          {.values = "$Rx$S", .say = "write $Spx, the sigma"}),
                       .aliases = SMP_ALIASES(
                           {"blur gblur gaussblur gaussian_blur gaussianblur gaussian_filter gauss", "gaussian"})),
};
