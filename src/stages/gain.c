/* gain: louder or softer by so many dB. */
#include <math.h>

#include "stages/shared/sound/gain_offset.h"

typedef struct params {
    double gain;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(gain, DB, -200, 200, NULL, "change of level: 6dB doubles, -6dB halves, nearly",
                    SMP_P_MAIN | SMP_P_REQUIRED),
    {0},
};

static smp_code plan(const void *params_, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *)
{
    const params *p = params_;
    work->effect.none = p->gain == 0;
    work->values.clips = p->gain > 0;
    smp_gain_offset_plan(pow(10, p->gain / 20), work);
    return SMP_OK;
}

const smp_stage smp_stage_gain = {
    .name = "gain",
    .help = "make a sound louder or softer",
    .about =
        "out = in * 10^(gain / 20), in f32: values beyond full scale stay until they are written as integers, where "
        "they are clamped and counted.",
    .example = "gain -6dB",
    SMP_PLANNED(SMP_AUDIO, SMP_POINT, table, params, smp_gain_offset_variants),
    SMP_ALSO({"vol volume", "gain -6dB"}, {"amplify", "gain 6dB"}),
};
