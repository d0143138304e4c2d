/* deskew: turn a scanned page so that its lines are level. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "reduce/brightness.h"
#include "stages/shared/geometry/skew.h"
#include "stages/shared/geometry/warping.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/samples/fill.h"

typedef struct params {
    double limit, angle; /* angle NaN: auto */
    int size;
    smp_matrix fill;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(limit, DEG, 0.5, 45, "15deg", "no larger angle is looked for", SMP_P_MAIN),
    SMP_PARAM_FLOAT(angle, DEG, -45, 45, "auto",
                    "by which the lines are turned, clockwise, where that is known; auto: is found", SMP_P_AUTO),
    SMP_PARAM_ENUM(size, "keep",
                   "keep: the input's size; fit: as large as the turned page; inside: the largest of the input's ratio "
                   "that is full",
                   0, "keep", "fit", "inside"),
    SMP_PARAM_MATRIX(fill, FRACTION, 0, 1, "[1]",
                     "of corners that come in: one value for all colours, or one a channel", SMP_P_LEVEL),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    return smp_check_fill_row(&((const params *)given)->fill, err);
}

static bool needs_prepass(const void *given)
{
    return isnan(((const params *)given)->angle);
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    static const double identity[] = {1, 0, 0, 0, 1, 0};
    const params *p = given;
    size_t numbers;
    double angle = p->angle;
    if (work->prepass.found)
        memcpy(&angle, work->prepass.found, sizeof angle);
    if (!isnan(angle)) {
        const smp_warp_params turn = {.angle = -angle,
                                      .scale = 1,
                                      .matrix = {2, 3, identity},
                                      .fill = p->fill,
                                      .size = p->size,
                                      .filter = SMP_WARP_BILINEAR,
                                      .edge = SMP_CONSTANT};
        SMP_TRY(smp_warp_plan(&turn, in, work, err));
        work->effect.already = work->effect.none;
        return SMP_OK;
    }
    if (in->width > INT32_MAX || in->height > INT32_MAX ||
        !smp_mul_size((size_t)smp_brightness_groups(in->width) * sizeof(uint16_t), (size_t)in->height, &numbers))
        return smp_fail(err, SMP_E_PIPE, "the picture is too large to be looked at");
    work->prepass.wanted = true;
    work->access = SMP_ADJUST;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = numbers;
    work->ops = 4;
    return SMP_OK;
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = given;
    double angle;
    SMP_TRY(smp_skew_find(result, in->width, in->height, p->limit, &angle, err));
    SMP_NEED(measurements->found = smp_alloc(sizeof angle), "an angle", sizeof angle, err);
    memcpy(measurements->found, &angle, sizeof angle);
    measurements->found_size = sizeof angle;
    return smp_measurements_add(measurements, "angle", -1, angle, err);
}

static void naive_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(smp_brightness_groups(io->in.width) * io->out.rows, SMP_BLOCK_THREADS, SMP_BLOCK_THREADS, grid);
}

static void tiled_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(smp_brightness_groups(io->in.width) * SMP_BRIGHTNESS_GROUP * io->out.rows, SMP_BLOCK_THREADS,
                  SMP_BLOCK_THREADS, grid);
}

static const smp_variant reducers[] = {
    {SMP_RUNG("naive", "pixel by pixel; on GPUs four pixels a thread",
              SMP_LAUNCH(brightness_naive, .geometry = naive_geometry))},
    {SMP_RUNG("tiled", "bytes in vectors; on GPUs a pixel a lane, added by shuffles",
              SMP_LAUNCH(brightness_tiled, .geometry = tiled_geometry))},
    {0},
};

const smp_stage smp_stage_deskew = {
    .name = "deskew",
    .help = "turn a scanned page so that its lines of text are level",
    .about =
        "Looks at the picture with four neighbouring pixels of a row as one, divides it into ink and paper (Otsu), and "
        "finds the angle at which sums along rows differ most from row to row (Leptonica's skew search): every half "
        "degree up to limit, then every 0.05 degrees round the best. Then it turns as `warp` does, bilinear, about the "
        "middle. Light text on a dark ground is found too. The picture is read twice. Photographs have no such lines: "
        "`warp 5` turns by an angle that you know.",
    .example = "deskew angle=3deg",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, params, smp_warp_variants),
    .traits = SMP_TRAIT_NEIGHBOURHOOD,
    .check = check,
    .reduction = SMP_REDUCTION(.prepass = needs_prepass, .finish = finish, .reducers = reducers),
    SMP_ALSO({"straighten_page", "deskew"}),
};
