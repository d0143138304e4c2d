/* pad: a border round a picture, or silence before and after a sound. */
#include "geometry/pad.h"

#include <math.h>

#include "base/checked.h"
#include "stages/shared/geometry/anchor.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/samples/fill.h"
#include "stages/stage.h"

enum { CENTRE = 4 }; /* of the words of smp_anchors without auto */

enum { MOST_REFLECTED = 4096 }; /* rows: a border that mirrors more rows keeps the whole picture */

typedef struct params {
    int64_t all, left, right, top, bottom;
    int64_t width, height; /* INT64_MIN: auto */
    double aspect;         /* NaN: auto */
    int anchor, edge;
    smp_matrix fill;
    double start, end, length; /* length NaN: auto */
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(all, PX, 0, 1e6, "0", "border on all four sides", SMP_P_MAIN),
    SMP_PARAM_INT(left, PX, 0, 1e6, "0", "border on the left", SMP_P_OF_WIDTH),
    SMP_PARAM_INT(right, PX, 0, 1e6, "0", "border on the right", SMP_P_OF_WIDTH),
    SMP_PARAM_INT(top, PX, 0, 1e6, "0", "border at the top", SMP_P_OF_HEIGHT),
    SMP_PARAM_INT(bottom, PX, 0, 1e6, "0", "border at the bottom", SMP_P_OF_HEIGHT),
    SMP_PARAM_INT(width, PX, 1, 1e6, "auto", "instead of borders: at least so wide in the end",
                  SMP_P_AUTO | SMP_P_OF_WIDTH),
    SMP_PARAM_INT(height, PX, 1, 1e6, "auto", "instead of borders: at least so high in the end",
                  SMP_P_AUTO | SMP_P_OF_HEIGHT),
    SMP_PARAM_FLOAT(aspect, NONE, 0.001, 1000, "auto",
                    "instead of width and height: the smallest size of this ratio, as in {16/9}", SMP_P_AUTO),
    SMP_PARAM_ROW(anchor, ENUM, NONE, 0, 0, "centre", "with width, height or aspect: where the picture lies",
                  smp_anchors + 1, 0),
    SMP_PARAM_ROW(edge, ENUM, NONE, 0, 0, "constant", "what the border is", smp_edge_names, 0),
    SMP_PARAM_MATRIX(fill, FRACTION, 0, 1, "[0]",
                     "with edge=constant: one value for all colours, or one a channel; alpha is 1 unless it is given",
                     SMP_P_LEVEL),
    SMP_PARAM_FLOAT(start, S, 0, 1e6, "0s", "sound: silence before it", 0),
    SMP_PARAM_FLOAT(end, S, 0, 1e6, "0s", "sound: silence after it", 0),
    SMP_PARAM_FLOAT(length, S, 0, 1e6, "auto", "sound: silence after it until it has this length", SMP_P_AUTO),
    {0},
};

static bool given(int64_t v)
{
    return v != INT64_MIN;
}
static bool has_sides(const params *p)
{
    return p->left || p->right || p->top || p->bottom;
}
static bool has_size(const params *p)
{
    return given(p->width) || given(p->height);
}
static bool has_times(const params *p)
{
    return p->start > 0 || p->end > 0 || !isnan(p->length);
}

static smp_code check(const void *params_, smp_error *err)
{
    const params *p = params_;
    const int ways = (p->all > 0) + has_sides(p) + has_size(p) + !isnan(p->aspect);
    if (ways > 1)
        return smp_fail(err, SMP_E_PIPE,
                        "the border is given twice: say one number, or sides, or width and height, or aspect");
    if (ways && has_times(p))
        return smp_fail(err, SMP_E_PIPE, "start, end and length are for sounds, borders for pictures");
    if (p->anchor != CENTRE && (p->all || has_sides(p)))
        return smp_fail(err, SMP_E_PIPE, "the borders say where the picture lies: leave out anchor");
    if (p->end > 0 && !isnan(p->length))
        return smp_fail(err, SMP_E_PIPE, "the silence after the sound is given twice: say end, or length");
    return smp_check_fill_row(&p->fill, err);
}

static int64_t nearest(double v)
{
    return smp_max_i64(1, (int64_t)floor(v + 0.5));
}

/* The fill's code values. *plain: they are the same premultiplied, and in linear light. */
static smp_code plan_fill(const params *p, const smp_shape *in, bool linear, smp_pad *pad, bool *plain, smp_error *err)
{
    const int colours = in->channels - in->alpha, values = p->fill.cols;
    const float white = smp_white(in->format);
    *plain = true;
    if (p->edge != SMP_CONSTANT)
        return SMP_OK;
    SMP_TRY(smp_check_fill(&p->fill, in, err));
    for (int c = 0; c < in->channels; c++) {
        const bool left_out = values == 1 ? c >= colours : c >= values;
        const double v = left_out ? 1 : p->fill.values[values == 1 ? 0 : c];
        pad->fill[c] = (float)(v * (double)white);
        if (in->format != SMP_F32 && !linear) /* integers stay integers */
            pad->fill[c] = smp_round_to(pad->fill[c], white);
        *plain = *plain && (v == 0 || v == 1);
    }
    if (in->alpha && pad->fill[in->channels - 1] < white)
        for (int c = 0; c < in->channels; c++)
            *plain = *plain && pad->fill[c] == 0;
    return SMP_OK;
}

static smp_code plan_picture(const params *p, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    smp_pad pad = {.edge = p->edge == SMP_ZERO ? SMP_CONSTANT : p->edge};
    const int64_t w = in->width, h = in->height;
    bool plain;
    SMP_TRY(plan_fill(p, in, work->values.linear, &pad, &plain, err));
    if (has_times(p))
        return smp_fail(err, SMP_E_PIPE, "start, end and length are silence for sounds, and this is a picture"),
               smp_hint(err, "say how many pixels, as `pad 10`");
    work->out.width = w + 2 * p->all + p->left + p->right;
    work->out.height = h + 2 * p->all + p->top + p->bottom;
    pad.left = p->all + p->left;
    pad.top = p->all + p->top;
    if (has_size(p) || !isnan(p->aspect)) {
        if (!isnan(p->aspect)) {
            work->out.width = smp_max_i64(w, nearest((double)h * p->aspect));
            work->out.height = smp_max_i64(h, nearest((double)w / p->aspect));
        }
        work->out.width = smp_max_i64(work->out.width, given(p->width) ? p->width : 0);
        work->out.height = smp_max_i64(work->out.height, given(p->height) ? p->height : 0);
        pad.left = smp_anchored_x(p->anchor + 1, false, work->out.width, w);
        pad.top = smp_anchored_y(p->anchor + 1, false, work->out.height, h);
    }
    const int64_t bottom = work->out.height - h - pad.top, reflected = smp_max_i64(pad.top, bottom);
    if (p->edge == SMP_WRAP)
        work->rows.whole = reflected > 0;
    if (p->edge == SMP_REFLECT || p->edge == SMP_MIRROR) {
        work->rows.whole = reflected > MOST_REFLECTED;
        work->rows.up = 2 * bottom; /* the last output row is the input's row `bottom` from its end */
        work->rows.down = 2 * pad.top;
    }
    work->effect.none = work->out.width == w && work->out.height == h;
    work->effect.already = work->effect.none && (has_size(p) || !isnan(p->aspect));
    work->rows.add = -pad.top;
    work->values.exactness = plain ? SMP_MOVE : work->values.linear ? SMP_REAL : SMP_INTEGER;
    smp_plan_kernel(work, &pad, sizeof pad);
    return SMP_OK;
}

static int64_t frames(double seconds, double rate)
{
    return (int64_t)floor(seconds * rate + 0.5);
}

static smp_code plan_sound(const params *p, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    smp_pad pad = {.edge = SMP_CONSTANT};
    if (p->all || has_sides(p) || has_size(p) || !isnan(p->aspect) || p->edge != SMP_CONSTANT)
        return smp_fail(err, SMP_E_PIPE, "borders are for pictures, and this is a sound"),
               smp_hint(err, "say how much silence, as `pad start=1s end=500ms`");
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    pad.top = frames(p->start, in->rate);
    work->out.height = in->height + pad.top + frames(p->end, in->rate);
    if (!isnan(p->length))
        work->out.height = smp_max_i64(work->out.height, frames(p->length, in->rate));
    work->effect.none = work->out.height == in->height;
    work->effect.already = work->effect.none && !isnan(p->length);
    work->rows.add = -pad.top;
    work->values.exactness = SMP_MOVE;
    smp_plan_kernel(work, &pad, sizeof pad);
    return SMP_OK;
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    return in->kind == SMP_AUDIO ? plan_sound(params_, in, work, err) : plan_picture(params_, in, work, err);
}

/* Frames of sound are too short for 16 bytes of one row. */
static const char *tiled(const smp_io *io, const void *kernel, smp_grid *grid)
{
    if (io->out.width == 1) {
        smp_geometry_samples(io, kernel, grid);
        return "pad_naive";
    }
    smp_geometry_packs(io, kernel, grid);
    return "pad_tiled";
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(pad_naive))},
    {SMP_RUNG("tiled", "CPU: runs of pixels, and sound, are one copy; GPU: 16 bytes a thread",
              SMP_LAUNCH_AS(pad_rows, .decide = tiled))},
    {0},
};

const smp_stage smp_stage_pad = {
    .name = "pad",
    .help = "add a border to a picture, or silence to a sound",
    .about = "Pictures: borders of so many pixels, or what is missing to a size or a ratio; anchor puts the picture at "
             "floor((W - w) * a), a = 0, 1/2 or 1. The border is one colour (edge=constant), or made of the picture: "
             "`smempipe help edge`. In `light linear`, fill is a linear value.\n"
             "Sounds: start and end are times of silence, rounded to frames; length adds what is missing at the end.\n"
             "Streams, but for edge=wrap and for mirrored borders of more than 4096 rows.",
    .example = "pad aspect=1 fill=[1]",
    SMP_PLANNED(SMP_BOTH, SMP_STENCIL, table, params, variants),
    .check = check,
    .hints =
        SMP_HINTS(.forms = SMP_FORMS(
                      SMP_FORMS_OF_RATIO, {.values = "$A $B", .means = "start=$A end=$B", .given = SMP_AUDIO},
                      {.values = "$A $B", .say = "write left=$A right=$A top=$B bottom=$B, or the other way round"},
                      {.values = "$Wx$H",
                       .say = "write width=$W height=$H, the size in the end, or left=$W right=$W top=$H bottom=$H"}),
                  .aliases = SMP_ALIASES({"extend embed extent border canvas", "pad"},
                                         {"letterbox", "pad aspect={16/9}"}, {"frame", "pad 10 fill=gray"},
                                         {"delay adelay", "pad start=1s"}, {"apad", "pad end=1s"})),
};
