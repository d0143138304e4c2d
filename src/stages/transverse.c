/* transverse: the transpose about the other diagonal. */
#include "stages/shared/geometry/transpose_family.h"
#include "stages/stage.h"

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    smp_transpose_plan(SMP_ORIENT_TRANSVERSE, in, work);
    return SMP_OK;
}

const smp_stage smp_stage_transverse = {
    .name = "transverse",
    .help = "mirror about the diagonal from top right to bottom left",
    .about =
        "out(x, y) = in(w-1-y, h-1-x) for an input of w x h pixels: transpose and half a turn in one. Twice is the "
        "identity, byte for byte.",
    .example = "transverse",
    .domain = SMP_IMAGE,
    .access = SMP_WHOLE,
    .plan = plan,
    .variants = smp_transpose_variants,
};
