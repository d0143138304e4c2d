/* highpass: removes what lies below a frequency. */
#include <math.h>

#include "stages/shared/sound/filtering.h"

static smp_code plan(const void *params, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const smp_cutoff_params *p = params;
    return smp_band_plan(&p->filter, p->cutoff, (double)INFINITY, in, work, err);
}

const smp_stage smp_stage_highpass = {
    .name = "highpass",
    .help = "remove what lies below a frequency",
    .about = SMP_CUTOFF_ABOUT("eq highpass freq=80Hz"),
    .example = "highpass 3kHz taps=63",
    SMP_CUTOFF_STAGE,
    .plan = plan,
    SMP_ALSO({"hp lowcut basscut rumble", "highpass 80Hz"}),
};
