/* gamma: brightens or darkens the middle tones. */
#include "stages/shared/samples/tone.h"

typedef struct gamma_params {
    double g;
} gamma_params;

static const smp_param table[] = {
    {"g", offsetof(gamma_params, g), SMP_T_FLOAT, SMP_UNIT_NONE, 0.01, 100, NULL,
     "above 1 brightens, below 1 darkens, 1 changes nothing", NULL, SMP_P_MAIN | SMP_P_REQUIRED},
    {0},
};

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const gamma_params *p = params;
    static const double least = 1.8;
    work->effect.none = p->g == 1;
    if (in->kind == SMP_IMAGE && in->format == SMP_F32 && in->curve == 1 && p->g >= least) { /* who encodes by hand */
        work->out.curve = SMP_CURVE_SRGB;
        work->change.makes_srgb = true;
    }
    return smp_tone_plan(SMP_TONE_CURVE_POWER, 1 / p->g, in, work);
}

const smp_stage smp_stage_gamma = {
    .name = "gamma",
    .help = "power curve: brighten (above 1) or darken (below 1) the middle tones",
    .about =
        "out = white * (in / white)^(1/g), as ImageMagick's -gamma and GIMP's levels: black and white stay, g above "
        "1 brightens. Values below 0 are mirrored, alpha stays. Relative error at most 4e-7 for g from 0.25 on. To "
        "do arithmetic in linear light, use `light linear` rather than two of these.",
    .example = "gamma 1.8",
    SMP_PLANNED(SMP_IMAGE, SMP_POINT, table, gamma_params, smp_tone_curve_variants),
    .traits = SMP_TRAIT_KEEPS_ALPHA,
    SMP_ALSO({"pow power gammaval", "gamma {1/2.2}"}),
};
