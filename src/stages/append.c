/* append: a second sound behind this one. */
#include "base/checked.h"
#include "stages/shared/sound/mixing.h"

typedef struct params {
    smp_operand by;
    double gap, crossfade;
    bool fit;
} params;

static const smp_param table[] = {
    SMP_PARAM_ROW(by, OPERAND, FRACTION, 0, 0, NULL, "the sound that follows: @name or \"file\"; any length", NULL,
                  SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE | SMP_P_SOUND),
    SMP_PARAM_FLOAT(gap, S, 0, 1e6, "0s", "silence between the two", 0),
    SMP_PARAM_FLOAT(crossfade, S, 0, 1e6, "0s",
                    "time over which this one goes and the second comes; both must be as long", 0),
    SMP_MIX_FIT(params),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    return p->gap > 0 && p->crossfade > 0
               ? smp_fail(err, SMP_E_PIPE, "gap and crossfade exclude each other: one parts them, one joins them")
               : SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_mix_request ask = {.gain = 1, .longest = true};
    int64_t gap;
    if (p->fit && smp_mix_fits(in, by, false, work))
        return SMP_OK;
    smp_code code = smp_mix_frames(p->gap, in, &gap, err);
    code = code ? code : smp_mix_frames(p->crossfade, in, &ask.fade, err);
    if (!code && by && ask.fade > smp_min_i64(in->height, by->height))
        code = smp_fail(err, SMP_E_PIPE, "a crossfade of %.6g s is longer than the %s sound", p->crossfade,
                        ask.fade > in->height ? "first" : "second");
    if (!code && !smp_add_i64(in->height, gap - ask.fade, &ask.at))
        code = smp_fail(err, SMP_E_LIMIT, "the sound would be too long");
    code = code ? code : smp_mix_plan(&ask, in, by, work, err);
    work->values.clips = false;
    if (ask.fade)
        return code;
    work->values.exactness = SMP_MOVE;
    work->ops = 0;
    return code;
}

const smp_stage smp_stage_append = {
    .name = "append",
    .help = "put a second sound behind this one",
    .about = "Samples are copied, but where a crossfade takes t of the second and 1 - t of the first, t rising evenly. "
             "For pictures: `join`. A second sound of one channel serves every channel. Several follow each other as "
             "`append by=\"b.wav\"`, `append by=\"c.wav\"`. A file streams; a sound that comes from the same input is "
             "kept until this one has ended.",
    .example = "append by=@input gap=1ms",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_mix_variants),
    .check = check,
    SMP_ALSO({"concat concatenate", "append by=\"next.wav\""}, {"splice", "append by=\"next.wav\" crossfade=10ms"},
             {"acrossfade crossfade", "append by=\"next.wav\" crossfade=2s"}),
};
