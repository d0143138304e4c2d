/* srgb_encode: linear light to sRGB-encoded values; the planner inserts it where `light linear` ends. */
#include "stages/shared/tone.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)params, (void)by, (void)err;
    return smp_tone_plan(SMP_TONE_CURVE_ENCODED, 0, in, work);
}

const smp_stage smp_stage_srgb_encode = {
    .name = "srgb_encode",
    .help = "encode linear light as sRGB",
    .about = "With s = in / white: 12.92 s up to 0.0031308, else 1.055 s^(1/2.4) - 0.055 (IEC 61966-2-1), times white. "
             "Undoes srgb_decode: every 8- and 16-bit value comes back. Values below 0 are mirrored, above 1 the "
             "formula goes "
             "on; alpha stays. Relative error at most 1e-6.",
    .example = "srgb_encode",
    .domain = SMP_IMAGE,
    .internal = true,
    .role = SMP_ROLE_ENCODED,
    .access = SMP_POINT,
    .keeps_alpha = true,
    .plan = plan,
    .variants = smp_tone_curve_variants,
};
