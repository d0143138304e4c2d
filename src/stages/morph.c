/* morph: what two passes of grey morphology make. */
#include "stages/shared/stencil/morphology.h"

typedef struct params {
    smp_morph_params window;
    int op;
} params;

static const char *const ops[] = {"open", "close", "tophat", "blackhat", "gradient", "inner", "outer", NULL};

static const smp_param table[] = {
    {"op", offsetof(params, op), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, NULL,
     "open removes small bright parts, close small dark ones; tophat, blackhat: what they remove; gradient: outlines, "
     "inner and outer half of them",
     ops, SMP_P_MAIN | SMP_P_REQUIRED},
    SMP_MORPH_TABLE(0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = given;
    smp_morph_plan(&p->window, SMP_MORPH_OPEN + p->op, work);
    return SMP_OK;
}

const smp_stage smp_stage_morph = {
    .name = "morph",
    .help = "open, close, top-hat and other operations of two morphological passes",
    .about =
        "open = dilate(erode), close = erode(dilate), tophat = in - open, blackhat = close - in, gradient = dilate "
        "- erode, inner = in - erode, outer = dilate - in (cv2.morphologyEx). Each pass has the edge on its own "
        "input. A difference below 0, which edge=zero and constant can make at the border, is 0. Where a difference is "
        "taken, alpha stays." SMP_MORPH_ABOUT,
    .example = "morph close size=5px shape=disk",
    SMP_MORPH_STAGE,
    SMP_PARAMS(table, params),
    .plan = plan,
    .variants = smp_morph_two_passes,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("@O $S", "op=@O size=$S"),
                                          SMP_MEANS("@O $Wx$H", "op=@O width=$W height=$H")),
                       .aliases = SMP_ALIASES(
                           {"open opening morphologyex morphology", "morph open size=3"},
                           {"close closing", "morph close size=3"}, {"tophat white_tophat", "morph tophat size=9"},
                           {"black_tophat bottomhat", "morph blackhat size=9"},
                           {"rolling_ball rollingball subtract_background", "morph tophat size=51 shape=disk"})),
};
