/* fir: a filter by its taps. */
#include <math.h>

#include "stages/shared/sound/filtering.h"

typedef struct params {
    smp_matrix taps;
    double gain;
} params;

static const smp_param table[] = {
    SMP_PARAM_MATRIX(taps, NONE, 0, 0, NULL, "the impulse response, as in [0.25 0.5 0.25], or \"taps.txt\"",
                     SMP_P_MAIN | SMP_P_REQUIRED),
    SMP_PARAM_FLOAT(gain, DB, -200, 200, "0dB", "level of all taps", 0),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    const int count = p->taps.rows * p->taps.cols;
    if (p->taps.rows != 1 && p->taps.cols != 1)
        return smp_fail(err, SMP_E_PIPE, "taps are a list, not a matrix of %d x %d", p->taps.rows, p->taps.cols);
    if (count > SMP_FIR_MOST)
        return smp_fail(err, SMP_E_PIPE, "%d taps; at most %d are possible", count, SMP_FIR_MOST);
    for (int i = 0; i < count; i++)
        if (!isfinite(p->taps.values[i] * pow(10, p->gain / 20)))
            return smp_fail(err, SMP_E_PIPE, "tap %d is not a finite number", i + 1);
    return SMP_OK;
}

static smp_code plan(const void *params_, const smp_shape *, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    const int count = p->taps.rows * p->taps.cols;
    double taps[SMP_FIR_MOST];
    for (int i = 0; i < count; i++)
        taps[i] = p->taps.values[i] * pow(10, p->gain / 20);
    return smp_filter_plan(taps, count, work, err);
}

const smp_stage smp_stage_fir = {
    .name = "fir",
    .help = "filter a sound with a given impulse response",
    .about = "Every channel's convolution with the taps: numpy.convolve(x, taps, 'same'). The middle of the taps lies "
             "on the frame itself, so that a symmetric filter delays nothing; the length is kept; outside the sound "
             "is silence. f32 with fused operations, taps in blocks of 256 and in them every 32nd together; more than "
             "300 taps go through Fourier transforms of 4096 frames in fixed blocks of 2048 (kernels/audio/fir.h).",
    .example = "fir [0.25 0.5 0.25]",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_filter_variants),
    .check = check,
    SMP_ALSO({"firfilter afir lfilter", "fir [0.25 0.5 0.25]"}),
};
