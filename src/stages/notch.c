/* notch: removes narrow bands, as those of mains hum. */
#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/sound/filtering.h"

typedef struct params {
    double frequency, width, attenuation;
    int64_t harmonics;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(frequency, HZ, 0, 1e8, NULL, "middle of the first band",
                    SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_POSITIVE),
    SMP_PARAM_INT(harmonics, NONE, 1, 100, "1", "bands: at the frequency, twice, three times, ...", 0),
    SMP_PARAM_FLOAT(width, HZ, 0, 1e8, "10Hz", "of a band, between the points where half the amplitude is left",
                    SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(attenuation, DB, 30, 120, "40dB", "in the middle of a band", 0),
    {0},
};

/* Designs a filter that passes everything but the bands. taps: the sum, `count` of them, from smp_alloc. */
static double *design(const params *p, double rate, int count)
{
    const smp_filter_params filter = {.window = SMP_WINDOW_KAISER, .attenuation = p->attenuation};
    double *taps = smp_alloc_array((size_t)count, sizeof *taps);
    if (taps)
        taps[(count - 1) / 2] = 1;
    for (int64_t h = 1; taps && h <= p->harmonics; h++) {
        const double middle = p->frequency * (double)h;
        if (middle + p->width >= rate / 2)
            break;
        double *band = smp_band_taps(&filter, middle - p->width / 2, middle + p->width / 2, rate, count);
        for (int i = 0; band && i < count; i++)
            taps[i] -= band[i];
        if (!band) {
            smp_free(taps);
            taps = NULL;
        }
        smp_free(band);
    }
    return taps;
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    return p->width < p->frequency
               ? SMP_OK
               : smp_fail(err, SMP_E_PIPE, "a band %.6g Hz wide does not fit round %.6g Hz", p->width, p->frequency);
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a frequency needs");
    if (p->frequency + p->width >= in->rate / 2) {
        work->effect.none = true;
        return SMP_OK;
    }
    const double wanted = ceil(smp_kaiser_taps(p->attenuation, p->width / in->rate));
    if (!(wanted <= SMP_FIR_MOST)) {
        smp_fail(err, SMP_E_PIPE, "a band of %.4g Hz at a rate of %.6g Hz takes %.0f taps; at most %d are possible",
                 p->width, in->rate, wanted, SMP_FIR_MOST);
        return smp_hint(err, "make it wider: width=%.4gHz", p->width * wanted / SMP_FIR_MOST * 1.01);
    }
    const int count = (int)smp_max_i64(3, (int64_t)wanted | 1);
    double *taps = design(p, in->rate, count);
    SMP_NEED(taps, "a filter", (uint64_t)count * sizeof *taps, err);
    smp_code code = smp_filter_plan(taps, count, work, err);
    smp_free(taps);
    return code;
}

const smp_stage smp_stage_notch = {
    .name = "notch",
    .help = "remove narrow bands from a sound, as those of mains hum",
    .about = "One linear-phase FIR filter for all bands: an impulse less a band pass (a sinc under Kaiser's window) "
             "for each. The slopes are as wide as the band. Harmonics above half the rate are left out. Narrow bands "
             "take long filters: 10 Hz at 48 kHz 12,700 taps.",
    .example = "notch 3kHz width=800Hz",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_filter_variants),
    .check = check,
    SMP_ALSO({"bandstop bandreject", "notch 50Hz"}, {"dehum humremove", "notch 50Hz harmonics=6"}),
};
