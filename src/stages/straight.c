/* straight: premultiplied colour divided by alpha; the planner inserts it after stages that mix pixels. */
#include "stages/shared/samples/elementwise.h"

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    work->effect.none = !in->alpha;
    work->values.clips = true; /* colour above alpha */
    work->ops = 2;
    return SMP_OK;
}

SMP_PIXEL_VARIANTS(straight);

const smp_stage smp_stage_straight = {
    .name = "straight",
    .help = "divide colour by alpha",
    .about =
        "colour = colour * white / alpha, 0 where alpha is 0; alpha stays. Undoes premultiply: 8- and 16-bit colour "
        "comes back exactly where alpha is above 0.",
    .example = "straight",
    .domain = SMP_IMAGE,
    .traits = SMP_TRAIT_INTERNAL | SMP_TRAIT_KEEPS_ALPHA,
    .role = SMP_ROLE_STRAIGHT,
    .access = SMP_POINT,
    .plan = plan,
    .variants = smp_straight_variants,
};
