/* limit: a ceiling that no sample passes, without clicks. */
#include "stages/shared/sound/dynamics.h"

enum { SAMPLE, TRUE_PEAK };

typedef struct params {
    double ceiling, lookahead, release;
    int peak;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(ceiling, DB, -60, 0, "-1dB", "level that nothing passes", SMP_P_MAIN),
    SMP_PARAM_FLOAT(lookahead, S, 0.0001, 0.1, "5ms", "time in which the level falls before a peak", 0),
    SMP_PARAM_FLOAT(release, NONE, 1, 100000, "100", "how fast the level rises again, dB a second", 0),
    SMP_PARAM_ENUM(peak, "sample", "sample: of the samples; true: of the values between them too", 0, "sample", "true"),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    enum { TWICE = 96000, NONE = 192000 /* Hz */ };
    const params *p = given;
    const smp_limit k = {.ceiling = p->ceiling,
                         .slope = -1,
                         .least = -SMP_DYNAMICS_MOST * SMP_LIMIT_DB,
                         .sign = 1,
                         .phases = p->peak == SAMPLE || in->rate >= NONE ? 0
                                   : in->rate < TWICE                    ? SMP_PEAK_PHASES
                                                                         : SMP_PEAK_PHASES / 2};
    return smp_dynamics_plan(&k, p->lookahead, "lookahead", true, p->release, in, work, err);
}

const smp_stage smp_stage_limit = {
    .name = "limit",
    .help = "keep a sound below a ceiling",
    .about = "Where a peak passes the ceiling, the level of all channels falls before it, over the lookahead, along a "
             "smooth curve, and rises again by `release` dB a second. No sample passes the ceiling by more than 2e-6 "
             "of it; with peak=true no value between samples by more than 0.3 dB (oversampled as for `loudness`). It "
             "turns down by 60 dB at most, and samples that are not finite stay. Nothing is delayed. Gains are whole "
             "numbers of 2^-16 dB, so that all devices give the same bytes.",
    .example = "limit -6dB lookahead=0.1ms release=100000",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_dynamics_variants),
    SMP_ALSO({"limiter alimiter brickwall maximizer", "limit -1dB"}),
};
