/* gaussian: blur by a bell of standard deviation sigma. */
#include "gaussian.h"

#include <string.h>

#include "base/alloc.h"
#include "stages/bell_weights.h"
#include "stages/banded_matrices.h"
#include "stages/stencil_grid.h"

typedef struct gaussian_params {
    double sigma, truncate, fill;
    int edge, arithmetic;
} gaussian_params;

enum { IN_FLOAT, IN_FIXED };

static const smp_param params[] = {
    {"sigma", offsetof(gaussian_params, sigma), SMP_T_FLOAT, SMP_UNIT_PX, 0, SMP_BELL_MAX_SIGMA, NULL,
     "standard deviation of the bell; 0 changes nothing", NULL, SMP_P_MAIN | SMP_P_REQUIRED},
    {"edge", offsetof(gaussian_params, edge), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "clamp", "what lies outside the picture",
     smp_edge_names, 0},
    {"truncate", offsetof(gaussian_params, truncate), SMP_T_FLOAT, SMP_UNIT_NONE, 2, 10, "4",
     "radius in standard deviations: ceil(truncate * sigma) px", NULL, 0},
    {"fill", offsetof(gaussian_params, fill), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 1, "0",
     "the value outside with edge=constant", NULL, 0},
    {"arithmetic", offsetof(gaussian_params, arithmetic), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "float",
     "float, rounded once at the end; or fixed: whole numbers, quicker on GPUs, for 8-bit pictures without alpha",
     (const char *const[]){"float", "fixed", NULL}, 0},
    {0},
};

/* Other samples than whole code values of 8 bits would lose by arithmetic=fixed: 16 bits, and colour that was multiplied
 * by alpha. An error says so; the float definition in its place would leave users guessing which one they got. (Light is
 * the planner's: smp_node_plan.codes.) */
static smp_code check_fixed(const smp_shape *in, smp_error *err)
{
    if (in->format != SMP_U8) {
        smp_fail(err, SMP_E_PIPE, "arithmetic=fixed is for pictures of 8 bits, and this one has %s",
                 in->format == SMP_U16 ? "16" : "floats");
        return smp_hint(err, "leave out arithmetic=fixed, or put `depth 8bit` before");
    }
    if (in->alpha) {
        smp_fail(err, SMP_E_PIPE, "arithmetic=fixed is for pictures without alpha: colour is multiplied by it, and 8 bits "
                                  "are too few for the product");
        return smp_hint(err, "leave out arithmetic=fixed");
    }
    return SMP_OK;
}

/* What tensor cores multiply by, where a kernel is for them. */
static smp_code plan_matrices(const smp_bell *bell, int channels, smp_node_plan *work, smp_error *err)
{
    const int banded = bell->whole ? smp_banded_steps(bell->radius, channels) : 0;
    const int steps = bell->fixed ? smp_fixed_steps(bell, channels) : banded;
    const size_t size = (size_t)(bell->fixed ? smp_fixed_words(steps) : smp_banded_words(steps)) * sizeof(uint32_t);
    if (!steps || work->nothing)
        return SMP_OK;
    work->table = smp_alloc(size);
    if (!work->table)
        return smp_fail_memory(err, "filter weights", size);
    work->table_size = size;
    (bell->fixed ? smp_fixed_matrices : smp_banded_matrices)(bell, channels, steps, work->table);
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const gaussian_params *p = given;
    smp_bell bell;
    (void)by;
    if (p->sigma <= 0) {
        work->nothing = true;
        return SMP_OK;
    }
    const bool fixed = p->arithmetic == IN_FIXED;
    smp_code code = fixed ? check_fixed(in, err) : SMP_OK;
    if (!code)
        code = fixed ? smp_bell_plan_fixed(p->sigma, p->truncate, p->edge, p->fill, &bell, work, err)
                     : smp_bell_plan(p->sigma, p->truncate, p->edge, p->fill, in->format == SMP_U8, &bell, work, err);
    if (!code)
        code = plan_matrices(&bell, in->channels, work, err);
    if (code)
        return code;
    memcpy(work->kernel, &bell, sizeof bell);
    work->kernel_size = sizeof bell;
    work->family = fixed ? SMP_FAMILY_OTHER : SMP_FAMILY_BELL;
    work->exactness = fixed ? SMP_INTEGER : SMP_REAL;
    work->codes = fixed;
    return SMP_OK;
}

static size_t scratch(const smp_io *io, const void *kernel)
{
    const smp_bell *bell = kernel;
    return smp_bell_scratch(bell->radius, io->in.channels);
}

static const char *fused(const smp_io *io, const void *kernel)
{
#define WARP(R)                                                                                                        \
    {                                                                                                                  \
        "gaussian_warp" #R "_1", NULL, "gaussian_warp" #R "_3", "gaussian_warp" #R "_4"                                \
    }
    static const char *const warp[SMP_BELL_WARP_RADIUS][SMP_BELL_CHANNELS] = {
        WARP(1), WARP(2),  WARP(3),  WARP(4),  WARP(5),  WARP(6),  WARP(7), WARP(8),
        WARP(9), WARP(10), WARP(11), WARP(12), WARP(13), WARP(14), WARP(15), WARP(16)};
#undef WARP
    static const char *const fixed[SMP_BANDED_STEPS + 1] = {NULL, "gaussian_fixed_warp1", "gaussian_fixed_warp2",
                                                            "gaussian_fixed_warp3"};
#define BANDED(R)                                                                                                      \
    {                                                                                                                  \
        "gaussian_banded" #R "_1", "gaussian_banded" #R "_2", "gaussian_banded" #R "_3"                                \
    }
    static const char *const banded[SMP_BANDED_RADIUS + 1][SMP_BANDED_STEPS] = {
        [4] = BANDED(4), [5] = BANDED(5),   [6] = BANDED(6),  [7] = BANDED(7),
        [8] = BANDED(8), [10] = BANDED(10), [12] = BANDED(12)};
#undef BANDED
    const smp_bell *bell = kernel;
    if (bell->fixed)
        return fixed[smp_fixed_warp(bell, io)];
    int radius = smp_banded_warp(bell, io);
    if (radius)
        return banded[radius][smp_banded_steps(bell->radius, io->in.channels) - 1];
    radius = smp_bell_warp(bell, io);
    return radius ? warp[radius - 1][io->in.channels - 1] : NULL;
}
/* By the arithmetic alone. */
static const char *rows_of(const void *kernel, const char *name)
{
    return ((const smp_bell *)kernel)->fixed ? "gaussian_fixed_rows" : name;
}
static const char *columns_of(const void *kernel, const char *name)
{
    return ((const smp_bell *)kernel)->fixed ? "gaussian_fixed_columns" : name;
}
static const char *naive_rows(const smp_io *io, const void *kernel)
{
    (void)io;
    return rows_of(kernel, "gaussian_rows");
}
static const char *naive_columns(const smp_io *io, const void *kernel)
{
    (void)io;
    return columns_of(kernel, "gaussian_columns");
}
static const char *tiled_rows(const smp_io *io, const void *kernel)
{
    (void)io;
    return rows_of(kernel, "gaussian_rows_tiled");
}
static const char *tiled_columns(const smp_io *io, const void *kernel)
{
    (void)io;
    return columns_of(kernel, "gaussian_columns_tiled");
}

/* Where one kernel does not make both passes. */
static bool in_one(const smp_bell *bell, smp_io whole)
{
    const int banded = smp_banded_warp(bell, &whole);
    return (bell->fixed ? smp_fixed_warp(bell, &whole) : banded ? banded : smp_bell_warp(bell, &whole)) != 0;
}
static const char *rows(const smp_io *io, const void *kernel)
{
    return in_one(kernel, smp_io_of_rows(io)) ? NULL : rows_of(kernel, "gaussian_rows_tiled");
}
static const char *columns(const smp_io *io, const void *kernel)
{
    return in_one(kernel, smp_io_of_columns(io)) ? NULL : columns_of(kernel, "gaussian_columns_tiled");
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "row pass into an f32 picture, column pass out of it",
     .launches = {{.from = SMP_IN,
                   .to = SMP_SCRATCH,
                   .cpu = SMP_CPU(gaussian_rows),
                   .cuda = "gaussian_rows",
                   .choose = naive_rows},
                  {.from = SMP_SCRATCH,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(gaussian_columns),
                   .cuda = "gaussian_columns",
                   .choose = naive_columns}}},
    {.name = "tiled",
     .help = "CPU: both passes in one walk, rows between them stay in cache; GPU: two launches over tiles with a halo "
             "(arithmetic=fixed: as naive)",
     .launches =
         {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(gaussian_tiled)},
          {.from = SMP_IN,
           .to = SMP_SCRATCH,
           .cuda = "gaussian_rows_tiled",
           .choose = tiled_rows,
           .geometry = smp_geometry_bell_rows},
          {.from = SMP_SCRATCH,
           .to = SMP_OUT,
           .cuda = "gaussian_columns_tiled",
           .choose = tiled_columns,
           .geometry = smp_geometry_bell_columns}},
     .scratch = scratch,
     .band = 16},
    {.name = "fused",
     .help = "both passes in one kernel that marches down strips; on GPUs radii above 16 px (above 8 from float to "
             "8 bits), two channels but of 8 bits, 16 bits to or from float and a fill outside run as tiled "
             "(arithmetic=fixed: above 8 px; below on tensor cores); 8 bits from 4 to 12 px have their row pass on "
             "tensor cores",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(gaussian_tiled),
                   .cuda = "gaussian_warp2_1",
                   .choose = fused,
                   .geometry = smp_geometry_bell_warp,
                   .knob = &smp_knob_band},
                  {.from = SMP_IN,
                   .to = SMP_SCRATCH,
                   .cuda = "gaussian_rows_tiled",
                   .choose = rows,
                   .geometry = smp_geometry_bell_rows},
                  {.from = SMP_SCRATCH,
                   .to = SMP_OUT,
                   .cuda = "gaussian_columns_tiled",
                   .choose = columns,
                   .geometry = smp_geometry_bell_columns}},
     .scratch = scratch,
     .band = 16},
    {0},
};

const smp_stage smp_stage_gaussian = {
    .name = "gaussian",
    .help = "blur by a bell of weights with standard deviation sigma",
    .about =
        "Separable: m[x] = w0*p[x] + sum of w[k]*(p[x-k] + p[x+k]) along rows, then s[y] = sum of w[|i|]*m[y+i] along "
        "columns, in f32, rounded once at the end. w[k] = exp(-k^2 / (2 s^2)), normalised in double to sum 1, for k up "
        "to ceil(truncate * sigma); s = sigma as in scipy.ndimage.gaussian_filter. Where sampling (sigma below about "
        "0.7 px) or cutting the tails (truncate below about 3.9) would move the standard deviation of these weights "
        "from sigma by more than 0.1 %, s is chosen so that it is sigma exactly. Of 8-bit pictures, up to 12 px of radius, "
        "the row weights are whole 65536ths that move no result by more than 0.01, so that the row pass is exact.\n"
        "arithmetic=fixed, in whole numbers: w are rounded to 65536ths, w[0] takes what is left over, and those that "
        "round to 0 are dropped; S = (sum of w*p + 128) >> 8 along rows, out = (sum of w*S + 2^23) >> 24 along columns. "
        "About 0.1 % of the samples differ from the float definition, by 1. For 8-bit pictures without alpha, not in "
        "linear light, up to 63 px of radius: else it is an error. It takes and gives whole code values, as if a file "
        "of 8 bits lay before it and after it.\n"
        "Alpha is blurred like a colour; colour is premultiplied. edge=constant: both passes see `fill` outside.",
    .example = "gaussian 2px edge=mirror",
    .domain = SMP_IMAGE,
    .access = SMP_STENCIL,
    .neighbourhood = true,
    .params = params,
    .params_size = sizeof(gaussian_params),
    .plan = plan,
    .variants = variants,
    .aliases = (const smp_alias[]){{"blur", "gaussian"},
                                   {"gblur", "gaussian"},
                                   {"gaussblur", "gaussian"},
                                   {"gaussian_blur", "gaussian"},
                                   {"gaussianblur", "gaussian"},
                                   {"gaussian_filter", "gaussian"},
                                   {"gauss", "gaussian"},
                                   {0}},
};
