/* lowpass: removes what lies above a frequency. */
#include "stages/shared/sound/filtering.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const smp_cutoff_params *p = params;
    return smp_band_plan(&p->filter, 0, p->cutoff, in, work, err);
}

const smp_stage smp_stage_lowpass = {
    .name = "lowpass",
    .help = "remove what lies above a frequency",
    .about = SMP_CUTOFF_ABOUT("eq lowpass freq=4kHz"),
    .example = "lowpass 4kHz taps=63",
    SMP_CUTOFF_STAGE,
    .plan = plan,
    SMP_ALSO({"lowpas lp hicut treblecut", "lowpass 4kHz"}),
};
