/* chorus: several voices, each a little late and out of tune. */
#include "stages/shared/sound/modulating.h"

typedef struct params {
    double rate, depth, delay, mix, spread;
    int64_t voices;
    int shape;
} params;

static const smp_param table[] = {
    SMP_SWING_RATE(params, "0.7Hz"),
    SMP_PARAM_INT(voices, NONE, 1, SMP_MODULATED_MOST, "3", "beside the sound itself", 0),
    SMP_PARAM_FLOAT(delay, S, 0, 1, "20ms", "of the first voice at least", 0),
    SMP_PARAM_FLOAT(depth, S, 0, 0.1, "3ms", "by how much each delay swings", 0),
    SMP_PARAM_FLOAT(mix, FRACTION, 0, 1, "50%", "share of the voices in the result", 0),
    SMP_SWING_ROWS(params, "90deg"),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    smp_swinging taps[SMP_MODULATED_MOST];
    const double voices = (double)p->voices;
    for (int64_t k = 0; k < p->voices; k++)
        taps[k] = (smp_swinging){.rate = p->rate * (1 + (double)k / 16),
                                 .phase = (double)k / voices,
                                 .spread = p->spread / 360,
                                 .delay = p->delay * (1 + (double)k / voices),
                                 .swing = p->depth,
                                 .gain = p->mix / voices};
    work->effect.none = p->mix == 0;
    return smp_modulated_plan(taps, (int)p->voices, (smp_swing)p->shape, 1 - p->mix, in, work, err);
}

const smp_stage smp_stage_chorus = {
    .name = "chorus",
    .help = "make several voices of one, each a little late and out of tune",
    .about = "out = (1 - mix) in + mix times the mean of the voices. Voice k = 0 .. n - 1 is late by delay (1 + k / n) "
             "to that and `depth`, swings rate (1 + k / 16) times a second and begins at k / n of a turn. No louder "
             "than the sound itself." SMP_SWING_ABOUT,
    .example = "chorus 50Hz voices=2 delay=1ms depth=2ms",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_modulated_variants),
    .hints = SMP_HINTS(.forms = SMP_FORMS(
                           {.values = "$A $B $C $D $E $F -t",
                            .say = "write rate=$EHz delay=$Cms depth=$Fms voices=1 shape=triangle"},
                           {.values = "$A $B $C $D $E $F -s", .say = "write rate=$EHz delay=$Cms depth=$Fms voices=1"}),
                       .aliases = SMP_ALIASES({"achorus ensemble doubler", "chorus voices=3"})),
};
