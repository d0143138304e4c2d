/* rotate: quarter turns. */
#include <stdio.h>
#include <string.h>

#include "stages/shared/transpose_family.h"
#include "stages/stage.h"

typedef struct rotate_params {
    int quarters; /* clockwise, less one */
} rotate_params;

static const char *const angles[] = {"90", "180", "270", NULL};

static const smp_param table[] = {
    {"angle", offsetof(rotate_params, quarters), SMP_T_ENUM, SMP_UNIT_DEG, 0, 0, NULL, "degrees clockwise", angles,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by, (void)err;
    static const int32_t turns[] = {SMP_ORIENT_90, SMP_ORIENT_180, SMP_ORIENT_270};
    const rotate_params *p = params;
    smp_transpose_plan(turns[p->quarters], in, work);
    return SMP_OK;
}

static bool instead(const char *value, char *text, size_t size)
{
    const bool left = !strcmp(value, "left") || !strcmp(value, "ccw"),
               right = !strcmp(value, "right") || !strcmp(value, "cw");
    snprintf(text, size, "%s",
             left    ? "write 270"
             : right ? "write 90"
                     : "turns are by 90 degrees, which move samples; no stage turns by other angles");
    return true;
}

const smp_stage smp_stage_rotate = {
    .name = "rotate",
    .help = "turn by 90, 180 or 270 degrees clockwise",
    .about = "For an input of w x h pixels: 90 is out(x, y) = in(y, h-1-x), 180 is in(w-1-x, h-1-y), 270 is "
             "in(w-1-y, x). Samples move and do not change: four times 90 is the identity, byte for byte.",
    .example = "rotate 90",
    .domain = SMP_IMAGE,
    .access = SMP_WHOLE,
    .params = table,
    .params_size = sizeof(rotate_params),
    .plan = plan,
    .variants = smp_transpose_variants,
    .instead = instead,
    .aliases = (const smp_alias[]){{"rot90", "rotate 90"},
                                   {"rot180", "rotate 180"},
                                   {"rot270", "rotate 270"},
                                   {"rotate90", "rotate 90"},
                                   {"rotate180", "rotate 180"},
                                   {"rotate270", "rotate 270"},
                                   {"rot", "rotate 90"},
                                   {"turn", "rotate 90"},
                                   {0}},
};
