/* mix: a second sound laid on this one. */
#include <math.h>

#include "stages/shared/sound/mixing.h"

enum { LONGEST, FIRST };
enum { SUM, BESIDE };

typedef struct params {
    smp_operand by;
    double at, gain;
    int length, how;
    bool fit;
} params;

static const smp_param table[] = {
    {"by", offsetof(params, by), SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 0, NULL,
     "the sound that is laid on this one: @name or \"file\"; any length", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE | SMP_P_SOUND},
    SMP_PARAM_FLOAT(at, S, 0, 1e6, "0s", "where it begins", 0),
    SMP_PARAM_FLOAT(gain, DB, -200, 60, "0dB", "of the second", 0),
    SMP_PARAM_ENUM(length, "longest", "longest: until both have ended; first: as long as this one", 0, "longest",
                   "first"),
    SMP_PARAM_ENUM(
        how, "sum",
        "sum: samples add up; beside: its channels follow this one's, as left and right do of two mono sounds", 0,
        "sum", "beside"),
    SMP_MIX_FIT(params),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_mix_request ask = {.gain = pow(10, p->gain / 20), .longest = p->length == LONGEST, .beside = p->how == BESIDE};
    if (p->fit && smp_mix_fits(in, by, ask.beside, work))
        return SMP_OK;
    SMP_TRY(smp_mix_frames(p->at, in, &ask.at, err));
    return smp_mix_plan(&ask, in, by, work, err);
}

const smp_stage smp_stage_mix = {
    .name = "mix",
    .help = "lay a second sound of any length on this one",
    .about =
        "Samples add up where both sounds are: out = fma(gain, b, a), in f32. Beyond its ends a sound is silent. "
        "A second sound of one channel serves every channel. With how=beside nothing adds up: two mono sounds make a "
        "stereo one. With fit=yes a second sound of another rate is resampled, and one of more channels mixed down or "
        "doubled, as `resample` and `remix` do. Nothing is made quieter to avoid clipping: `limit` or "
        "`normalize` behind it do. Both stream.",
    .example = "mix by=@input at=1ms gain=-6dB",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_mix_variants),
    SMP_ALSO({"amix", "mix by=\"voice.wav\" fit=yes"}, {"amerge merge", "mix by=\"right.wav\" how=beside"},
             {"echo aecho", "mix by=@input at=0.3s gain=-6dB"}),
};
