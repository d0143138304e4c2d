/* premultiply: colour times alpha; the planner inserts it before stages that mix pixels. */
#include "stages/shared/samples/elementwise.h"

static smp_code plan(const void *, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    work->effect.none = !in->alpha;
    work->ops = 2;
    return SMP_OK;
}

SMP_PIXEL_VARIANTS(premultiply);

const smp_stage smp_stage_premultiply = {
    .name = "premultiply",
    .help = "multiply colour by alpha",
    .about =
        "colour = colour * alpha / white; alpha stays. Mixing neighbours then weighs each colour by how much of it "
        "is seen, and hidden colour cannot bleed out (Porter and Duff, Compositing Digital Images, 1984).",
    .example = "premultiply",
    .domain = SMP_IMAGE,
    .traits = SMP_TRAIT_INTERNAL | SMP_TRAIT_KEEPS_ALPHA,
    .role = SMP_ROLE_PREMULTIPLY,
    .access = SMP_POINT,
    .plan = plan,
    .variants = smp_premultiply_variants,
};
