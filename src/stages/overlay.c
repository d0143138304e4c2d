/* overlay: a picture of any size laid on this one. */
#include "elementwise/overlay.h"
#include "stages/shared/geometry/anchor.h"
#include "stages/shared/samples/elementwise.h"

typedef struct params {
    smp_operand by;
    int64_t x, y, size; /* INT64_MIN: auto */
    int anchor;
    double opacity;
    bool color;
} params;

static const smp_param table[] = {
    {"by", offsetof(params, by), SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 0, NULL,
     "the picture that is laid on: @name or \"file\"; any size", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE | SMP_P_ANYSIZE},
    SMP_PARAM_INT(x, PX, -1e6, 1e6, "auto", "to the right of where anchor puts it; negative: to the left",
                  SMP_P_AUTO | SMP_P_OF_WIDTH),
    SMP_PARAM_INT(y, PX, -1e6, 1e6, "auto", "down from there; negative: up", SMP_P_AUTO | SMP_P_OF_HEIGHT),
    {"anchor", offsetof(params, anchor), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "auto",
     "which corner, side or middle of the two meet; auto: top-left with x or y, else centre", smp_anchors, 0},
    SMP_PARAM_INT(size, PX, 1, 1e6, "auto",
                  "the width that the second picture gets, its height as its ratio says: 20% of this one's, or pixels; "
                  "auto: as it is",
                  SMP_P_AUTO | SMP_P_OF_WIDTH),
    SMP_PARAM_FLOAT(opacity, FRACTION, 0, 1, "100%", "0% leaves the picture as it is", 0),
    SMP_PARAM_BOOL(color, "no", "yes: a gray picture gets colours where the second one has some", 0),
    {0},
};

/* A gray picture that gets the colours of the second one. */
static bool gets_colors(const params *p, const smp_shape *in, const smp_shape *by)
{
    return p->color && in->channels - in->alpha == 1 && by->channels - by->alpha == 3;
}

static smp_code check_channels(const params *p, const smp_shape *in, const smp_shape *by, smp_error *err)
{
    const int colours = in->channels - in->alpha, others = by->channels - by->alpha;
    if (by->kind != SMP_IMAGE)
        return smp_fail(err, SMP_E_PIPE, "a sound cannot be laid on a picture");
    if (others == 1 || others == colours || gets_colors(p, in, by))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "a picture of %d colours cannot be laid on one of %d", others, colours);
    return colours == 1 ? smp_hint(err, "color=yes makes this one colour, as 'color rgb' before it does")
                        : smp_hint(err, "the second needs as many colours as the first, or one for all");
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const bool has_x = p->x != INT64_MIN, has_y = p->y != INT64_MIN, moved = has_x || has_y;
    smp_overlay *k = SMP_PLAN_KERNEL(work, smp_overlay);
    if (!by)
        return smp_fail(err, SMP_E_PIPE, "overlay needs a second picture");
    if (by->kind == SMP_IMAGE && p->size != INT64_MIN && by->width != p->size) {
        work->second.size = (smp_size_params){.width = p->size, .height = INT64_MIN};
        return SMP_OK;
    }
    *k = (smp_overlay){
        .at = {smp_anchored_x(p->anchor, moved, in->width, by->width) + (has_x ? p->x : 0),
               smp_anchored_y(p->anchor, moved, in->height, by->height) + (has_y ? p->y : 0)},
        .kind = in->alpha,
        .shared = by->channels - by->alpha == 1,
        .opacity = (float)p->opacity,
        .scale = (float)((double)smp_white(in->format) / (double)smp_white(by->format)),
    };
    if (!by->alpha && p->opacity == 1 && in->format == by->format)
        work->values.exactness = SMP_INTEGER;
    work->ops = in->alpha ? 8 : 4;
    if (gets_colors(p, in, by))
        work->out.channels = 3 + in->alpha;
    work->effect.none = p->opacity == 0 || k->at.x >= in->width || k->at.y >= in->height || k->at.x + by->width <= 0 ||
                        k->at.y + by->height <= 0;
    return check_channels(p, in, by, err);
}

SMP_PIXEL_VARIANTS(overlay);

const smp_stage smp_stage_overlay = {
    .name = "overlay",
    .help = "lays a picture of any size on this one: a logo, a stamp, a watermark",
    .about = "The second picture lies where anchor, x and y put it; what hangs over is cut off. size brings it to a "
             "width first, as `resize` does: 20% looks alike on pictures of any size. Porter and Duff's "
             "over, on straight alpha: with ab = alpha of the second (1 without) times opacity, aa the first's, ra = "
             "ab + aa (1 - ab), colour = (cb ab + ca aa (1 - ab)) / ra, alpha = ra. A first picture without alpha has "
             "aa = 1 and gets none. A gray picture on a coloured one serves every channel, a coloured one on a gray "
             "one needs color=yes; other depths are scaled. The second picture is kept whole in memory. For the blend "
             "mode of that name: `blend by=@name mode=overlay`.",
    .example = "overlay by=@input x=8 y=8 opacity=50%",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_overlay_variants),
    SMP_ALSO({"watermark", "overlay by=\"logo.png\" size=20% anchor=bottom-right opacity=50%"},
             {"composite merge over alpha_composite", "overlay by=@name"},
             {"logo", "overlay by=\"logo.png\" anchor=bottom-right"}, {"stamp", "overlay by=\"stamp.png\" x=10 y=10"}),
};
