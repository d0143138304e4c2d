/* flip: mirror left and right, or top and bottom. */
#include "stages/shared/geometry/transpose_family.h"
#include "stages/stage.h"

typedef struct flip_params {
    int direction;
} flip_params;

static const char *const directions[] = {"horizontal", "vertical", NULL};

static const smp_param table[] = {
    {"direction", offsetof(flip_params, direction), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, NULL,
     "horizontal swaps left and right, vertical top and bottom", directions, SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const flip_params *p = params;
    smp_transpose_plan(p->direction == 0 ? SMP_ORIENT_HORIZONTAL : SMP_ORIENT_VERTICAL, in, work);
    return SMP_OK;
}

const smp_stage smp_stage_flip = {
    .name = "flip",
    .help = "mirror: swap left and right (horizontal) or top and bottom (vertical)",
    .about = "horizontal is out(x, y) = in(w-1-x, y), vertical is in(x, h-1-y), for an input of w x h pixels. "
             "horizontal streams; vertical needs the whole picture first. "
             "`flip random` is `flip horizontal probability=50%`: each file has a draw of its own.",
    .example = "flip horizontal",
    .domain = SMP_IMAGE,
    .access = SMP_STENCIL, /* of reach 0: a row needs its own input row, but not the same pixel */
    SMP_PARAMS(table, flip_params),
    .plan = plan,
    .variants = smp_transpose_variants,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("random", "direction=horizontal probability=50%")),
                       .aliases = SMP_ALIASES({"hflip fliph flop mirror fliplr", "flip horizontal"},
                                              {"vflip flipv flipud", "flip vertical"})),
};
