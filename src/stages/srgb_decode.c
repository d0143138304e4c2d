/* srgb_decode: sRGB-encoded values to linear light; the planner inserts it where `light linear` is in force. */
#include "stages/shared/samples/tone.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const smp_light_params *p = params;
    if (p->curve > 0)
        return smp_tone_plan(SMP_TONE_CURVE_POWER, p->curve, in, work);
    return smp_tone_plan(SMP_TONE_CURVE_LINEAR, 0, in, work);
}

const smp_stage smp_stage_srgb_decode = {
    .name = "srgb_decode",
    .help = "decode sRGB to linear light",
    .about =
        "With s = in / white: s / 12.92 up to 0.04045, else ((s + 0.055) / 1.055)^2.4 (IEC 61966-2-1), times white. "
        "Values below 0 are mirrored, above 1 the formula goes on; alpha stays. Relative error at most 1e-6. With a "
        "curve: its power instead.",
    .example = "srgb_decode",
    SMP_LIGHT_STAGE,
    .role = SMP_ROLE_LINEAR,
    .plan = plan,
};
