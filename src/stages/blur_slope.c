/* blur_slope: what a mix to one channel, a blur, sobel's magnitude and operations on single samples make, in one
 * kernel; the planner takes it for them on a GPU. */
#include "blur_slope.h"

#include <string.h>

#include "mix.h"
#include "stages/bell_weights.h"
#include "stages/stencil_grid.h"

typedef struct params {
    double sigma;
    bool negative;
} params;

static const smp_param table[] = {
    {"sigma", offsetof(params, sigma), SMP_T_FLOAT, SMP_UNIT_PX, 0.1, 2, NULL, "standard deviation of the blur", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {"negative", offsetof(params, negative), SMP_T_BOOL, SMP_UNIT_NONE, 0, 0, "no", "dark edges on white", NULL, 0},
    {0},
};

static void set_plan(smp_node_plan *work, const smp_blur_slope *p, int channels)
{
    memcpy(work->kernel, p, sizeof *p);
    work->kernel_size = sizeof *p;
    work->access = SMP_STENCIL;
    work->reach_up = work->reach_down = p->bell.radius + 1;
    work->out.channels = 1;
    work->ops = (channels == 3 ? 6 : 0) + 2. * (4 * p->bell.radius + 2) + 12 + 4. * p->map.count;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by;
    const params *p = given;
    smp_blur_slope k = {.weight = {0.2126f, 0.7152f, 0.0722f}};
    if (in->alpha || (in->channels != 1 && in->channels != 3))
        return smp_fail(err, SMP_E_PIPE, "works on pictures of one channel or three, without alpha");
    smp_code code = smp_bell_plan(p->sigma, 4, SMP_CLAMP, 0, in->format == SMP_U8, &k.bell, work, err);
    if (code)
        return code;
    if (p->negative)
        k.map.op[k.map.count++] = (smp_map_op){.kind = SMP_MAP_NEGATIVE, .white = smp_white(in->format)};
    set_plan(work, &k, in->channels);
    work->clips = true;
    return SMP_OK;
}

/* Three channels to one, weights alone. */
static bool mixes_to_one(const smp_join_step *step)
{
    const smp_mix *mix = (const smp_mix *)(const void *)step->work->kernel;
    return step->work->family == SMP_FAMILY_MIX && mix->rows == 1 && mix->cols == 3 && !mix->keep_alpha &&
           mix->constant[0] == 0.f && step->in->channels == 3;
}

/* Results that the last operation keeps within full scale. */
static bool stays_inside(const smp_map *map, float white)
{
    const smp_map_op *last = map->count ? &map->op[map->count - 1] : NULL;
    return last && (last->kind == SMP_MAP_STEP || (last->kind == SMP_MAP_LINE && last->c == white));
}

/* [mix] blur sobel [operations], from bytes to bytes. */
static int stands_for(const smp_join_step *steps, int count, smp_node_plan *work)
{
    smp_blur_slope k = {.weight = {0}};
    const int mixes = count > 0 && mixes_to_one(&steps[0]), blur = mixes, edges = mixes + 1;
    if (count <= edges || steps[blur].work->family != SMP_FAMILY_BELL ||
        steps[edges].work->family != SMP_FAMILY_GRADIENT)
        return 0;
    const smp_gradient *gradient = (const smp_gradient *)(const void *)steps[edges].work->kernel;
    const smp_shape *in = steps[0].in;
    int taken = edges + 1;
    memcpy(&k.bell, steps[blur].work->kernel, sizeof k.bell);
    if (mixes)
        memcpy(k.weight, ((const smp_mix *)(const void *)steps[0].work->kernel)->weight[0], sizeof k.weight);
    if (count > taken && steps[taken].work->family == SMP_FAMILY_MAP)
        memcpy(&k.map, steps[taken++].work->kernel, sizeof k.map);
    else if (count > taken && steps[taken].work->map.kind != SMP_MAP_NONE)
        k.map.op[k.map.count++] = steps[taken++].work->map;
    if (gradient->output != SMP_GRADIENT_MAGNITUDE || gradient->edge != SMP_CLAMP || steps[0].from != SMP_U8 ||
        steps[taken - 1].to != SMP_U8 || in->format != SMP_U8 || in->alpha || in->channels != (mixes ? 3 : 1) ||
        in->width > 1 << 29 || !smp_blur_slope_fits(&k, in->channels))
        return 0;
    work->out = *steps[taken - 1].out;
    set_plan(work, &k, in->channels);
    work->clips = !stays_inside(&k.map, smp_white(in->format));
    return taken;
}

static const char *warp(const smp_io *io, const void *kernel)
{
#define WARP(R)                                                                                                        \
    {                                                                                                                  \
        "blur_slope_warp" #R "_1", "blur_slope_warp" #R "_3"                                                           \
    }
    static const char *const names[SMP_BLUR_SLOPE_RADIUS][2] = {WARP(1), WARP(2), WARP(3), WARP(4),
                                                                WARP(5), WARP(6), WARP(7), WARP(8)};
#undef WARP
    const smp_blur_slope *p = kernel;
    return smp_blur_slope_warp(p, io) ? names[p->bell.radius - 1][io->in.channels == 3] : "blur_slope_naive";
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "every blurred sample anew, nine times",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(blur_slope_naive), .cuda = "blur_slope_naive"}}},
    {.name = "warp",
     .help = "GPU: one warp marches down a strip, u8 in and out; else, and on CPUs, as naive",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(blur_slope_naive),
                   .cuda = "blur_slope_naive",
                   .choose = warp,
                   .geometry = smp_geometry_blur_slope}}},
    {0},
};

const smp_stage smp_stage_blur_slope = {
    .name = "blur_slope",
    .help = "edges of a blurred picture in one kernel",
    .about = "What gray, gaussian and sobel make one after the other with their defaults, sample for sample; then "
             "operations on single samples. The planner takes it for such chains on GPUs, where it moves 4 bytes a "
             "pixel instead of 28.",
    .example = "blur_slope 1px",
    .domain = SMP_IMAGE,
    .internal = true,
    .access = SMP_STENCIL,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .variants = variants,
    .stands_for = stands_for,
};
