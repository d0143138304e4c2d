/* orient: shows a picture of a given EXIF orientation upright. The planner inserts it behind the input. */
#include "stages/shared/geometry/transpose_family.h"
#include "stages/stage.h"

static const smp_param table[] = {
    {"orientation", offsetof(smp_orient_params, orientation), SMP_T_INT, SMP_UNIT_NONE, 1, 8, NULL,
     "as EXIF counts: 1 upright, 6 needs a quarter turn clockwise, 8 one the other way", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const smp_orient_params *p = params;
    smp_transpose_plan(smp_orientation_of_exif(p->orientation), in, work);
    return SMP_OK;
}

const smp_stage smp_stage_orient = {
    .name = "orient",
    .help = "apply an EXIF orientation",
    .about = "1 as it is, 2 flip horizontal, 3 rotate 180, 4 flip vertical, 5 transpose, 6 rotate 90, 7 transverse, "
             "8 rotate 270 (TIFF 6.0, tag 274).",
    .example = "orient 6",
    .domain = SMP_IMAGE,
    .traits = SMP_TRAIT_INTERNAL,
    .role = SMP_ROLE_ORIENT,
    .access = SMP_STENCIL, /* of reach 0 for orientations 1 and 2; the others need the whole picture */
    SMP_PARAMS(table, smp_orient_params),
    .plan = plan,
    .variants = smp_transpose_variants,
    SMP_ALSO({"autorotate auto_rotate auto-orient autoorient auto_orient exif_transpose",
              "nothing: every picture is turned as its EXIF says, by itself"}),
};
