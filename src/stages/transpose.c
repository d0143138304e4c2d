/* transpose: rows become columns. */
#include "stages/shared/geometry/transpose_family.h"
#include "stages/stage.h"

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    smp_transpose_plan(SMP_ORIENT_TRANSPOSE, in, work);
    return SMP_OK;
}

const smp_stage smp_stage_transpose = {
    .name = "transpose",
    .help = "swap rows and columns: mirror about the main diagonal",
    .about = "out(x, y) = in(y, x): the first row becomes the first column. Twice is the identity, byte for byte.",
    .example = "transpose",
    .domain = SMP_IMAGE,
    .access = SMP_WHOLE,
    .plan = plan,
    .variants = smp_transpose_variants,
};
