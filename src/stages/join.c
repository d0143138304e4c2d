/* join: a second picture beside this one, or below it. */
#include "geometry/join.h"

#include "base/checked.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/samples/fill.h"
#include "stages/stage.h"

enum { RIGHT, BELOW, LEFT, ABOVE };

typedef struct params {
    smp_operand by;
    int side, align;
    int64_t gap;
    smp_matrix fill;
    bool fit;
} params;

static const char *const sides[] = {"right", "below", "left", "above", NULL};
static const char *const aligns[] = {"start", "centre", "end", NULL};

static const smp_param table[] = {
    SMP_PARAM_ROW(by, OPERAND, FRACTION, 0, 0, NULL, "the other picture: @name or \"file\"; any size", NULL,
                  SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE | SMP_P_ANYSIZE),
    SMP_PARAM_ROW(side, ENUM, NONE, 0, 0, "right", "where the other picture lies, seen from this one", sides, 0),
    SMP_PARAM_INT(gap, PX, 0, 1e6, "0", "between the two", 0),
    SMP_PARAM_ROW(align, ENUM, NONE, 0, 0, "start", "where the smaller one lies: start is the top or the left", aligns,
                  0),
    SMP_PARAM_MATRIX(fill, FRACTION, 0, 1, "[0]",
                     "of gap and ground: one value for all colours, or one a channel; alpha is 1 unless it is given",
                     SMP_P_LEVEL),
    SMP_PARAM_BOOL(fit, "no", "yes: the other picture is resized so that their sides that meet are as long", 0),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    return smp_check_fill_row(&((const params *)given)->fill, err);
}

static smp_code check_channels(const smp_shape *in, const smp_shape *by, smp_error *err)
{
    const int colours = in->channels - in->alpha, others = by->channels - by->alpha;
    if (by->kind != SMP_IMAGE)
        return smp_fail(err, SMP_E_PIPE, "a sound cannot lie beside a picture");
    if (by->alpha && !in->alpha)
        return smp_fail(err, SMP_E_PIPE, "the second picture has alpha, and this one has none"),
               smp_hint(err, "`alpha opaque` before this stage, or `alpha flatten` on the second picture");
    if (others == 1 || others == colours)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "a picture of %d colours cannot lie beside one of %d", others, colours);
    return colours == 1 ? smp_hint(err, "write `color rgb` before it")
                        : smp_hint(err, "the second needs as many colours as the first, or one for all");
}

/* *whole: every value is a whole code value. */
static smp_code plan_fill(const params *p, const smp_shape *in, bool linear, smp_join *join, bool *whole,
                          smp_error *err)
{
    const int colours = in->channels - in->alpha, values = p->fill.cols;
    const float white = smp_white(in->format);
    SMP_TRY(smp_check_fill(&p->fill, in, err));
    *whole = !linear;
    for (int c = 0; c < in->channels; c++) {
        const bool left_out = values == 1 ? c >= colours : c >= values;
        join->fill[c] = (float)((left_out ? 1 : p->fill.values[values == 1 ? 0 : c]) * (double)white);
        if (in->format != SMP_F32 && *whole)
            join->fill[c] = smp_round_to(join->fill[c], white);
    }
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_join join = {.opaque = smp_white(in->format)};
    bool whole = true;
    if (!by)
        return smp_fail(err, SMP_E_PIPE, "join needs a second picture");
    const bool across = p->side == RIGHT || p->side == LEFT, before = p->side == LEFT || p->side == ABOVE;
    const int64_t ours = across ? in->height : in->width, theirs = across ? by->height : by->width;
    if (p->fit && by->kind == SMP_IMAGE && theirs != ours) {
        work->second.size = (smp_size_params){across ? INT64_MIN : ours, across ? ours : INT64_MIN, SMP_FIT_INSIDE};
        return SMP_OK;
    }
    smp_code code = check_channels(in, by, err);
    code = code ? code : plan_fill(p, in, work->values.linear, &join, &whole, err);
    if (code)
        return code;
    const int64_t side = smp_max_i64(ours, theirs), along = across ? in->width : in->height,
                  by_along = across ? by->width : by->height;
    const int64_t lies[2] = {before ? by_along + p->gap : 0, before ? 0 : along + p->gap};
    const int64_t shift[2] = {(side - ours) * p->align / 2, (side - theirs) * p->align / 2};
    int64_t both;
    if (!smp_add_i64(along, by_along, &both) || !smp_add_i64(both, p->gap, &both) || both > INT32_MAX)
        return smp_fail(err, SMP_E_LIMIT, "the pictures together would be larger than can be counted");
    join.x = across ? lies[0] : shift[0];
    join.y = across ? shift[0] : lies[0];
    join.by_x = across ? lies[1] : shift[1];
    join.by_y = across ? shift[1] : lies[1];
    join.scale = (float)((double)smp_white(in->format) / (double)smp_white(by->format));
    join.colours = by->channels - by->alpha;
    work->out.width = across ? both : side;
    work->out.height = across ? side : both;
    work->rows.add = -join.y;
    work->values.exactness = in->format == by->format && whole ? SMP_INTEGER : SMP_REAL;
    smp_plan_kernel(work, &join, sizeof join);
    return SMP_OK;
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(join_naive))},
    {SMP_RUNG("tiled", "CPU: a run is one copy; GPU: 16 bytes a thread",
              SMP_LAUNCH(join_tiled, .geometry = smp_geometry_packs))},
    {0},
};

const smp_stage smp_stage_join = {
    .name = "join",
    .help = "lay a second picture beside this one, or below it",
    .about = "The result is as high (side=right, left) or as wide (below, above) as the larger of the two; the smaller "
             "one lies at the top or left, in the middle or at the end, on a ground of fill. Samples move. A gray "
             "second picture serves every channel of a coloured one; other depths are scaled; a second picture without "
             "alpha is opaque. The second picture is kept whole in memory.",
    .example = "join by=@input side=below gap=3",
    SMP_PLANNED(SMP_IMAGE, SMP_STENCIL, table, params, variants),
    .check = check,
    SMP_ALSO({"append splice stitch hconcat hstack beside", "join by=@name"},
             {"vconcat vstack", "join by=@name side=below"}),
};
