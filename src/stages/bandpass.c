/* bandpass: keeps what lies between two frequencies. */
#include "stages/shared/sound/filtering.h"

typedef struct params {
    smp_filter_params filter;
    double low, high;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(low, HZ, 0, 1e8, NULL, "lower end of the band, where half the amplitude is left (-6 dB)",
                    SMP_P_REQUIRED | SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(high, HZ, 0, 1e8, NULL, "its upper end", SMP_P_REQUIRED | SMP_P_POSITIVE),
    SMP_FILTER_ROWS(params),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    return p->high > p->low
               ? SMP_OK
               : smp_fail(err, SMP_E_PIPE, "the band ends at %.6g Hz, below its beginning at %.6g Hz", p->high, p->low);
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    return smp_band_plan(&p->filter, p->low, p->high, in, work, err);
}

const smp_stage smp_stage_bandpass = {
    .name = "bandpass",
    .help = "keep what lies between two frequencies",
    .about = "A linear-phase FIR filter: a windowed sinc. At either end half the amplitude is left, within 0.1 dB; the "
             "slope from pass band to stop band is `transition` wide, half of it on either side. With Kaiser's window "
             "of 80 dB what is stopped stays below -80 dB and what passes ripples less than 0.002 dB. The delay is "
             "made up for, the length kept; outside the sound is silence. `eq bandpass freq=1kHz` is the short filter "
             "that equalizers of other programs have.",
    .example = "bandpass low=2kHz high=6kHz taps=63",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_filter_variants),
    .check = check,
    SMP_ALSO({"bp bandfilter sinc", "bandpass low=300Hz high=3400Hz"}),
};
