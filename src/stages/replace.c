/* replace: a colour, and what is near it, becomes another. */
#include "stages/shared/samples/near_color.h"

typedef struct params {
    smp_near_params near;
    smp_matrix to;
} params;

static const smp_param table[] = {
    SMP_NEAR_ROWS(params),
    SMP_PARAM_MATRIX(to, FRACTION, 0, 1, NULL, "the colour that takes its place", SMP_P_REQUIRED | SMP_P_LEVEL),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    return smp_near_color_plan(&p->near, false, &p->to, in, work, err);
}

const smp_stage smp_stage_replace = {
    .name = "replace",
    .help = "put one colour in the place of another, and of what is near it",
    .about = SMP_NEAR_ABOUT
    "Within `tolerance` a pixel becomes the other colour; over the next `soft` it is moved towards it by less and "
    "less. Alpha stays.",
    .example = "replace [0.5] to=[1] tolerance=20% soft=10%",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, params, smp_near_color_variants),
    .traits = SMP_TRAIT_ENCODED | SMP_TRAIT_KEEPS_ALPHA,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("@C @D", "color=@C to=@D"),
                                          SMP_MEANS("@C @D $T", "color=@C to=@D tolerance=$T")),
                       .aliases = SMP_ALIASES({"opaque replace_color recolor recolour colorhold swap_color",
                                               "replace white to=red tolerance=10%"})),
};
