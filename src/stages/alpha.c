/* alpha: transparency laid on a colour, dropped, added, taken out or set. */
#include "elementwise/alpha_change.h"
#include "stages/shared/samples/elementwise.h"
#include "stages/shared/samples/operand.h"

typedef struct params {
    int op;
    smp_operand by;
    smp_matrix fill;
    int fit;
} params;

static const char *const ops[] = {"flatten", "drop", "opaque", "extract", "set", NULL};

static const smp_param table[] = {
    {"op", offsetof(params, op), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, NULL,
     "flatten: lay the picture on a colour; drop: leave alpha out, colour as stored; opaque: alpha becomes full scale; "
     "extract: alpha as a gray picture; set: alpha becomes another picture",
     ops, SMP_P_MAIN | SMP_P_REQUIRED},
    {"by", offsetof(params, by), SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 0, NULL,
     "set: the new alpha, a gray picture of the same size: @name or \"file\"", NULL, SMP_P_PICTURE | SMP_P_WEIGHTS},
    SMP_PARAM_MATRIX(fill, FRACTION, 0, 1, "[1]",
                     "flatten: the colour behind, one value or one a colour, of full scale", SMP_P_LEVEL),
    SMP_OPERAND_FIT(params),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    const bool has_by = p->by.is_tap || p->by.file;
    if (p->op == SMP_ALPHA_SET && !has_by)
        return smp_fail(err, SMP_E_PIPE, "'alpha set' needs the picture that becomes alpha"),
               smp_hint(err, "alpha set by=@name, or by=\"mask.png\"");
    if (p->op != SMP_ALPHA_SET && has_by)
        return smp_fail(err, SMP_E_PIPE, "by= is for 'alpha set'; 'alpha %s' takes no second picture", ops[p->op]);
    return SMP_OK;
}

static smp_code check_mask(const smp_shape *in, const smp_shape *by, smp_error *err)
{
    char first[64], second[64];
    smp_shape_text(in, in->format, first, sizeof first);
    smp_shape_text(by, by->format, second, sizeof second);
    if (by->kind != SMP_IMAGE || in->width != by->width || in->height != by->height)
        return smp_fail(err, SMP_E_PIPE, "the two must have the same size: %s and by=%s", first, second),
               smp_hint(err, "fit=stretch or fit=cover brings the second to that size");
    if (by->channels - by->alpha == 1)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "alpha is one channel, and by=%s has %d colours", second, by->channels - by->alpha);
    return smp_hint(err, "make it gray first: gray -> @name");
}

static smp_code colour_behind(const smp_matrix *fill, int colours, double white, float *to, smp_error *err)
{
    const int count = fill->rows * fill->cols;
    if (count != 1 && count != colours)
        return smp_fail(err, SMP_E_PIPE, "fill has %d values, and the picture %d colour%s", count, colours,
                        colours == 1 ? "" : "s");
    for (int c = 0; c < colours; c++)
        to[c] = (float)(fill->values[count == 1 ? 0 : c] * white);
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    smp_alpha_change *k = SMP_PLAN_KERNEL(work, smp_alpha_change);
    *k = (smp_alpha_change){.kind = p->op, .colours = colours, .scale = 1};
    work->ops = 2;
    work->values.exactness = SMP_INTEGER;
    const bool adds = p->op == SMP_ALPHA_OPAQUE || p->op == SMP_ALPHA_SET;
    if (adds && colours == SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_PIPE, "a picture of %d colours has no room for alpha", colours);
    work->effect.none = work->effect.already = !in->alpha && (p->op == SMP_ALPHA_FLATTEN || p->op == SMP_ALPHA_DROP);
    work->out.alpha = adds;
    work->out.channels = p->op == SMP_ALPHA_EXTRACT ? 1 : colours + adds;
    work->values.no_light = p->op == SMP_ALPHA_EXTRACT;
    if (p->op == SMP_ALPHA_FLATTEN && in->alpha) {
        work->values.exactness = SMP_REAL;
        return colour_behind(&p->fill, colours, (double)smp_white(in->format), k->fill, err);
    }
    if (!by || work->effect.none || smp_operand_fits(p->fit, in, by, work))
        return SMP_OK;
    k->scale = (float)((double)smp_white(in->format) / (double)smp_white(by->format));
    work->values.exactness = in->format == by->format ? SMP_INTEGER : SMP_REAL;
    return check_mask(in, by, err);
}

SMP_PIXEL_VARIANTS(alpha_change);

const smp_stage smp_stage_alpha = {
    .name = "alpha",
    .help = "transparency: laid on a colour, dropped, added, taken out or set",
    .about =
        "flatten: out = colour a + fill (1 - a), and alpha is gone; under `light linear` colours mix as light does.\n"
        "drop: the colours as they are stored, hidden ones too. opaque: alpha is full scale, added where there is "
        "none. extract: alpha as a gray picture, full scale where there is none. set: alpha is the second picture, "
        "which has one colour and the same size; other depths are scaled.",
    .example = "alpha flatten",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_alpha_change_variants),
    .check = check,
    .hints = SMP_HINTS(.aliases =
                           SMP_ALIASES({"flatten background", "alpha flatten"}, {"remove_alpha", "alpha drop"},
                                       {"alphaextract", "alpha extract"}, {"alphamerge bandjoin", "alpha set by=@name"},
                                       {"addalpha opaque", "alpha opaque"})),
};
