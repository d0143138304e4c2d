/* guided: a smoothing that keeps the edges of a guide. */

#include "stencil/guided.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/stencil/window_plan.h"

typedef struct params {
    int64_t radius;
    double epsilon, fill;
    smp_operand by;
    int edge;
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(radius, PX, 1, SMP_GUIDED_MOST, "8px", "of the windows: details smaller than that are smoothed",
                  SMP_P_MAIN),
    SMP_PARAM_FLOAT(
        epsilon, FRACTION, 0, 1, "1%",
        "variance of the guide, full scale being 1, from which on a window has an edge: 1% is a deviation of 10%",
        SMP_P_POSITIVE),
    {"by", offsetof(params, by), SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 0, NULL,
     "the guide, @name or \"file\", of the same size; without one the picture itself", NULL,
     SMP_P_PICTURE | SMP_P_WEIGHTS},
    SMP_WINDOW_EDGE(params),
    SMP_WINDOW_FILL(params),
    {0},
};

static smp_code check_guide(const smp_shape *in, const smp_shape *by, smp_error *err)
{
    char first[64], second[64];
    const int colours = in->channels - in->alpha, guides = by->channels - by->alpha;
    smp_shape_text(in, in->format, first, sizeof first);
    smp_shape_text(by, by->format, second, sizeof second);
    if (by->kind != SMP_IMAGE || in->width != by->width || in->height != by->height)
        return smp_fail(err, SMP_E_PIPE, "the two must have the same size: %s and by=%s", first, second);
    if (guides == 1 || guides == colours)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "a guide has one channel or as many as the picture: %s and by=%s", first, second);
    return smp_hint(err, "make it gray first: gray -> @name");
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const double white = (double)smp_white(in->format);
    SMP_TRY(by ? check_guide(in, by, err) : SMP_OK);
    if (in->width > INT64_MAX / 2 / in->channels / (int64_t)sizeof(float))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large to be smoothed");
    const smp_guided k = {.radius = (int32_t)p->radius,
                          .edge = p->edge,
                          .own = !by,
                          .shared = by && by->channels - by->alpha == 1,
                          .fill = (float)p->fill,
                          .scale = by ? (float)(white / (double)smp_white(by->format)) : 1.f,
                          .epsilon = p->epsilon * white * white};
    smp_plan_kernel(work, &k, sizeof k);
    work->between = (smp_shape){
        .kind = SMP_IMAGE, .width = 2 * in->width, .height = in->height, .channels = in->channels, .format = SMP_F32};
    work->values.clips = true;
    work->ops = 12 * (2 * (double)k.radius + 1);
    return SMP_OK;
}

static bool tiles(const smp_io *io, const void *kernel, int64_t width, int channels, smp_grid *grid)
{
    static const smp_tiles shape = {SMP_GUIDED_ACROSS, SMP_GUIDED_DOWN, SMP_GUIDED_ACROSS, SMP_GUIDED_DOWN};
    const smp_io picture = smp_grid_over(io, width, io->out.rows, channels);
    smp_grid_sample_tiles(&picture, &shape, grid);
    grid->shared_bytes = smp_guided_bytes(kernel);
    return grid->shared_bytes <= SMP_GUIDED_SHARED;
}

static const char *fit_tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return tiles(io, kernel, io->in.width, io->in.channels, grid) ? "guided_fit_tiled" : NULL;
}

static const char *apply_tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    return tiles(io, kernel, io->out.width, io->out.channels, grid) ? "guided_apply_tiled" : NULL;
}

static void fit_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_io picture = smp_grid_over(io, io->in.width, io->out.rows, io->out.channels);
    smp_geometry_samples(&picture, kernel, grid);
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "every window from its samples",
     .launches =
         {SMP_LAUNCH_OVER(IN, SCRATCH, guided_fit_naive, .once = true, .geometry = fit_geometry),
          {.from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(guided_apply_naive), .cuda = "guided_apply_naive"}}},
    {.name = "tiled",
     .help = "sums along rows once, on GPUs in shared memory",
     .launches =
         {{.from = SMP_IN, .to = SMP_SCRATCH, .once = true, .cpu = SMP_CPU(guided_fit_tiled), .decide = fit_tiled},
          {.from = SMP_SCRATCH, .to = SMP_OUT, .cpu = SMP_CPU(guided_apply_tiled), .decide = apply_tiled}},
     .scratch = smp_guided_scratch,
     .band = 64},
    {0},
};

const smp_stage smp_stage_guided = {
    .name = "guided",
    .help = "smooth, but keep the edges of the picture or of a guide",
    .about =
        "The guided filter of He, Sun and Tang (2010). In every square of 2 radius + 1 pixels the picture p is drawn "
        "as a straight line of the guide I: a = cov(I, p) / (var(I) + epsilon), b = mean(p) - a mean(I); a sample "
        "becomes mean(a) I + mean(b) over the squares that it lies in. Where the guide varies little against epsilon "
        "that is a mean, where it varies more the edge stays; there are no halos and no reversed gradients as a "
        "bilateral filter makes them. Sums are double, a and b f32.\n"
        "Each colour is guided by itself, or all by a gray guide (a flash picture, a mask's photograph). Alpha stays; "
        "colour is premultiplied. The picture is kept in memory, with two numbers a sample.",
    .example = "guided 2px epsilon=2%",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, params, variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    SMP_ALSO({"guidedfilter", "guided 8px"}, {"guided_filter", "guided 8px"}, {"imguidedfilter", "guided 2px"},
             {"edge_preserving", "guided 8px"}),
};
