/* vibrato: the pitch of a sound swings. */
#include "stages/shared/sound/modulating.h"

typedef struct params {
    double rate, depth, spread;
    int shape;
} params;

static const smp_param table[] = {
    SMP_SWING_RATE(params, "5Hz"),
    SMP_PARAM_FLOAT(depth, S, 0, 0.1, "1ms", "by how much the delay swings", 0),
    SMP_SWING_ROWS(params, "0deg"),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const smp_swinging tap = {.rate = p->rate, .spread = p->spread / 360, .swing = p->depth, .gain = 1};
    work->effect.none = p->depth == 0;
    return smp_modulated_plan(&tap, 1, (smp_swing)p->shape, 0, in, work, err);
}

const smp_stage smp_stage_vibrato = {
    .name = "vibrato",
    .help = "let the pitch of a sound swing",
    .about = "The sound is delayed by a time that goes from 0 to `depth` and back `rate` times a second. So the pitch "
             "swings by pi rate depth either way: 5 Hz and 1 ms are 1.6 %, a quarter of a semitone." SMP_SWING_ABOUT,
    .example = "vibrato 100Hz depth=2ms",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_modulated_variants),
    SMP_ALSO({"wow flutter", "vibrato 1Hz depth=2ms"}),
};
