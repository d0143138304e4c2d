/* append: a second sound behind this one. */
#include "base/checked.h"
#include "stages/shared/mixing.h"

typedef struct params {
    smp_operand by;
    double gap;
} params;

static const smp_param table[] = {
    {"by", offsetof(params, by), SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 0, NULL,
     "the sound that follows: @name or \"file\"; any length", NULL, SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE},
    {"gap", offsetof(params, gap), SMP_T_FLOAT, SMP_UNIT_S, 0, 1e6, "0s", "silence between the two", NULL, 0},
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    int64_t gap, at;
    smp_code code = smp_mix_frames(p->gap, in, &gap, err);
    if (!code && !smp_add_i64(in->height, gap, &at))
        code = smp_fail(err, SMP_E_LIMIT, "the sound would be too long");
    if (!code)
        code = smp_mix_plan(at, 1, true, in, by, work, err);
    work->clips = false;
    work->exactness = SMP_MOVE;
    work->ops = 0;
    return code;
}

const smp_stage smp_stage_append = {
    .name = "append",
    .help = "put a second sound behind this one",
    .about = "Samples are copied; for pictures: `join`. A second sound of one channel serves every channel. Several "
             "follow each other as `append by=\"b.wav\"`, `append by=\"c.wav\"`. A file streams; a sound that comes "
             "from the same input is kept until this one has ended.",
    .example = "append by=@input gap=1ms",
    .domain = SMP_AUDIO,
    .access = SMP_STENCIL,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .variants = smp_mix_variants,
    .aliases = (const smp_alias[]){{"concat concatenate splice", "append by=\"next.wav\""}, {0}},
};
