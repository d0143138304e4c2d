/* tremolo: the level of a sound swings. */
#include "stages/shared/sound/modulating.h"

typedef struct params {
    double rate, depth, spread;
    int shape;
} params;

static const smp_param table[] = {
    SMP_SWING_RATE(params, "5Hz"),
    SMP_PARAM_FLOAT(depth, FRACTION, 0, 1, "40%", "how much of the level is lost where it is lowest", 0),
    SMP_SWING_ROWS(params, "0deg"),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const smp_swinging tap = {.rate = p->rate, .spread = p->spread / 360, .gain = 1, .dip = p->depth};
    work->effect.none = p->depth == 0;
    return smp_modulated_plan(&tap, 1, (smp_swing)p->shape, 0, in, work, err);
}

const smp_stage smp_stage_tremolo = {
    .name = "tremolo",
    .help = "let the level of a sound swing",
    .about = "out = in (1 - depth u), where u goes from 0 to 1 and back `rate` times a second. With spread=180deg left "
             "and right take turns. The phase depends on the time from the sound's beginning alone.",
    .example = "tremolo 100Hz depth=60% spread=90deg",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_modulated_variants),
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("$R $D", "rate=$R depth=$D")),
                       .aliases = SMP_ALIASES({"apulsator autopan", "tremolo 1Hz depth=80% spread=180deg"})),
};
