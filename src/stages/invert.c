/* invert: the negative of a picture. */
#include "stages/shared/samples/elementwise.h"

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    work->values.exactness = SMP_INTEGER;
    work->ops = 1;
    return SMP_ELEMENTWISE_PLAN(work, invert, .white = smp_white(in->format));
}

SMP_ELEMENTWISE_VARIANTS(invert, tables);
const smp_stage smp_stage_invert = {
    .name = "invert",
    .help = "negative: full scale minus every sample",
    .about = "out = white - in on every channel but alpha; white is 255, 65535 or 1.",
    .example = "invert",
    .domain = SMP_IMAGE, /* of a sound, it would be the sound around 1 */
    .access = SMP_POINT,
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    .plan = plan,
    .variants = smp_invert_variants,
    SMP_ALSO({"negate negative not bitwise_not", "invert"}),
};
