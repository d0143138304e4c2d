/* reverse: a sound backwards. A sound is one pixel wide, so this is a picture turned upside down. */
#include "stages/shared/geometry/transpose_family.h"

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    smp_transpose_plan(SMP_ORIENT_VERTICAL, in, work);
    return SMP_OK;
}

const smp_stage smp_stage_reverse = {
    .name = "reverse",
    .help = "play a sound backwards: the last frame comes first",
    .about = "Needs the whole sound first. Twice is the identity.",
    .example = "reverse",
    .domain = SMP_AUDIO,
    .access = SMP_STENCIL,
    .plan = plan,
    .variants = smp_reverse_variants,
    SMP_ALSO({"areverse backwards", "reverse"}),
};
