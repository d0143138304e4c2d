/* loudness: how loud a sound is to the ear, by EBU R 128; the sound passes on. */
#include "stages/shared/loudness.h"

#include <math.h>
#include <stdio.h>

typedef struct params {
    double target;
    const char *name;
} params;

static const double TOLERANCE = 0.1; /* LU: of less nobody is told */

static const smp_param table[] = {
    {"target", offsetof(params, target), SMP_T_FLOAT, SMP_UNIT_DB, -70, 0, "auto",
     "the loudness that it should have, LUFS; a warning tells when it is 0.1 LU off; auto: any", NULL, SMP_P_AUTO},
    {"name", offsetof(params, name), SMP_T_STRING, SMP_UNIT_NONE, 0, 0, NULL, "what reports call these results", NULL,
     0},
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)given, (void)by;
    return smp_loudness_plan(in, work, err);
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_findings *findings, smp_error *err)
{
    const params *p = given;
    smp_loudness_levels levels;
    smp_code code = smp_loudness_levels_of(in, work, result, &levels, err);
    const double off = levels.integrated - p->target;
    if (!code && isfinite(off) && fabs(off) > TOLERANCE)
        snprintf(findings->warning, sizeof findings->warning,
                 "its loudness is %.1f LUFS, %.1f LU %s than the %.1f asked for%s", levels.integrated, fabs(off),
                 off < 0 ? "quieter" : "louder", p->target,
                 off < 0 ? ": where peaks meet a ceiling, lower the loudness or raise the ceiling" : "");
    const struct {
        const char *name;
        double value;
    } found[] = {{"lufs", levels.integrated},
                 {"range", levels.range},
                 {"momentary", levels.momentary},
                 {"shortterm", levels.shortterm},
                 {"true_peak", levels.true_peak}};
    for (size_t i = 0; i < sizeof found / sizeof found[0] && code == SMP_OK; i++)
        code = smp_findings_add(findings, found[i].name, -1, found[i].value, err);
    return code;
}

const smp_stage smp_stage_loudness = {
    .name = "loudness",
    .help = "measure how loud a sound is (EBU R 128)",
    .about =
        "By ITU-R BS.1770-4 and EBU Tech 3341 and 3342: lufs is the integrated loudness of all blocks of 0.4 s that "
        "are "
        "at least -70 LUFS and within 10 LU of their mean; range (LU) says how far blocks of 3 s lie apart; momentary "
        "and shortterm (LUFS) are the loudest 0.4 and 3 s; true_peak (dBTP) is the largest value at or between the "
        "samples, four times as many below 96 kHz, twice as many below 192 kHz. Rear and side speakers count 1.5 dB "
        "more, the one for low frequencies not at all; a mono sound counts once. Silence has no loudness (-inf). "
        "`normalize lufs=-16LUFS` brings a sound to a loudness.",
    .example = "loudness",
    .domain = SMP_AUDIO,
    .access = SMP_REDUCE,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .finish = finish,
    .variants = smp_loudness_variants,
    .aliases = (const smp_alias[]){{"ebur128", "loudness"}, {"r128", "loudness"}, {"lufs", "loudness"}, {0}},
};
