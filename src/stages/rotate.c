/* rotate: quarter turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/shared/geometry/transpose_family.h"
#include "stages/stage.h"

typedef struct rotate_params {
    int quarters; /* clockwise */
} rotate_params;

static const char *const angles[] = {"0", "90", "180", "270", NULL};

static const smp_param table[] = {
    {"angle", offsetof(rotate_params, quarters), SMP_T_ENUM, SMP_UNIT_DEG, 0, 0, NULL, "degrees clockwise", angles,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    static const int32_t turns[] = {SMP_ORIENT_NONE, SMP_ORIENT_90, SMP_ORIENT_180, SMP_ORIENT_270};
    const rotate_params *p = params;
    smp_transpose_plan(turns[p->quarters], in, work);
    work->effect.none = work->effect.already = p->quarters == 0;
    return SMP_OK;
}

static bool instead(const char *value, char *text, size_t size)
{
    const bool left = !strcmp(value, "left") || !strcmp(value, "ccw"),
               right = !strcmp(value, "right") || !strcmp(value, "cw");
    char *end;
    const double degrees = strtod(value, &end), quarters = degrees / 90;
    if (left || right) {
        snprintf(text, size, "write %s", left ? "270" : "90");
    } else if (end == value || *end || !(fabs(degrees) <= 1e6)) {
        snprintf(text, size, "turns are by 90 degrees");
    } else if (quarters == floor(quarters)) {
        snprintf(text, size, "write %d", (int)(quarters - 4 * floor(quarters / 4)) * 90);
    } else {
        snprintf(text, size, "turns are by 90 degrees, which move samples; for other angles `warp %.12g`", degrees);
    }
    return true;
}

const smp_stage smp_stage_rotate = {
    .name = "rotate",
    .help = "turn by 90, 180 or 270 degrees clockwise",
    .about = "For an input of w x h pixels: 90 is out(x, y) = in(y, h-1-x), 180 is in(w-1-x, h-1-y), 270 is "
             "in(w-1-y, x); 0 leaves the picture alone. Samples move and do not change: four times 90 is the identity, "
             "byte for byte.",
    .example = "rotate 90",
    SMP_PLANNED(SMP_IMAGE, SMP_WHOLE, table, rotate_params, smp_transpose_variants),
    .hints = SMP_HINTS(.instead = instead,
                       .aliases = SMP_ALIASES({"rot90 rotate90 rot turn", "rotate 90"},
                                              {"rot180 rotate180", "rotate 180"}, {"rot270 rotate270", "rotate 270"})),
};
