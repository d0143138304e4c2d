/* srgb_encode: linear light to sRGB-encoded values; the planner inserts it where `light linear` ends. */
#include "stages/shared/samples/tone.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const smp_light_params *p = params;
    if (p->curve > 0)
        return smp_tone_plan(SMP_TONE_CURVE_POWER, 1 / p->curve, in, work);
    return smp_tone_plan(SMP_TONE_CURVE_ENCODED, 0, in, work);
}

const smp_stage smp_stage_srgb_encode = {
    .name = "srgb_encode",
    .help = "encode linear light as sRGB",
    .about = "With s = in / white: 12.92 s up to 0.0031308, else 1.055 s^(1/2.4) - 0.055 (IEC 61966-2-1), times white. "
             "Undoes srgb_decode: every 8- and 16-bit value comes back. Values below 0 are mirrored, above 1 the "
             "formula goes on; alpha stays. Relative error at most 1e-6. With a curve: the power 1/curve instead.",
    .example = "srgb_encode",
    SMP_LIGHT_STAGE,
    .role = SMP_ROLE_ENCODED,
    .plan = plan,
};
