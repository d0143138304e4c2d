/* tint: middle tones take a colour. */
#include "elementwise/tint.h"

#include "stages/shared/samples/elementwise.h"
#include "stages/shared/samples/fill.h"

typedef struct params {
    smp_matrix color;
    double amount;
} params;

static const smp_param table[] = {
    SMP_PARAM_MATRIX(color, FRACTION, 0, 1, NULL, "the colour, as orange, #f80",
                     SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_LEVEL),
    SMP_PARAM_FLOAT(amount, FRACTION, 0, 10, "100%", "how much of it", 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    static const double luma[3] = {.2126, .7152, .0722};
    const params *p = given;
    const int colours = in->channels - in->alpha, count = p->color.rows * p->color.cols;
    const double white = (double)smp_white(in->format);
    if (colours != 3 || (count != 1 && count != 3))
        return smp_fail_color("color", &p->color, in, err);
    smp_tint *k = SMP_PLAN_KERNEL(work, smp_tint);
    double own = 0;
    for (int c = 0; c < 3; c++)
        own += luma[c] * p->color.values[count == 1 ? 0 : c];
    k->white = (float)white;
    for (int c = 0; c < 3; c++)
        k->by[c] = (float)(4 * p->amount * (p->color.values[count == 1 ? 0 : c] - own) / white);
    work->values.clips = true;
    work->ops = 4;
    work->effect.none = count == 1 || p->amount == 0;
    return SMP_OK;
}

SMP_ELEMENTWISE_VARIANTS(tint, packs);

const smp_stage smp_stage_tint = {
    .name = "tint",
    .help = "give the middle tones a colour; black and white stay",
    .about = "out = v + 4 v (1 - v) amount (c - Y), of fractions of full scale, with c the channel of the colour and "
             "Y = 0.2126 R + 0.7152 G + 0.0722 B of it: a middle gray becomes the colour as bright as that gray. A "
             "gray picture gets three channels by `color rgb` first.",
    .example = "tint orange amount=50%",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_tint_variants),
    .traits = SMP_TRAIT_ENCODED | SMP_TRAIT_KEEPS_ALPHA,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("@C $A", "color=@C amount=$A")),
                       .aliases = SMP_ALIASES({"colorize colourize tone toning photo_filter", "tint orange"})),
};
