/* highpass: removes what lies below a frequency. */
#include <math.h>

#include "stages/shared/sound/filtering.h"

typedef struct params {
    smp_filter_params filter;
    double cutoff;
} params;

static const smp_param table[] = {
    {"cutoff", offsetof(params, cutoff), SMP_T_FLOAT, SMP_UNIT_HZ, 0, 1e8, NULL,
     "where half the amplitude is left (-6 dB)", NULL, SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_POSITIVE},
    SMP_FILTER_ROWS(params),
    {0},
};

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by;
    const params *p = params_;
    return smp_band_plan(&p->filter, p->cutoff, (double)INFINITY, in, work, err);
}

const smp_stage smp_stage_highpass = {
    .name = "highpass",
    .help = "remove what lies below a frequency",
    .about = "A linear-phase FIR filter: a windowed sinc. The cutoff is where half the amplitude is left, within 0.1 "
             "dB; the slope from pass band to stop band is `transition` wide, half of it on either side. With Kaiser's "
             "window of 80 dB what is stopped stays below -80 dB and what passes ripples less than 0.002 dB. The delay "
             "is made up for, the length kept; outside the sound is silence. `eq highpass freq=80Hz` is the short "
             "filter that equalizers of other programs have.",
    .example = "highpass 3kHz taps=63",
    .domain = SMP_AUDIO,
    .access = SMP_STENCIL,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .variants = smp_filter_variants,
    .hints = SMP_HINTS(.aliases = SMP_ALIASES({"hp lowcut basscut rumble", "highpass 80Hz"})),
};
