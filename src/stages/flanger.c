/* flanger: a sound and itself a little later, by a time that swings. */
#include <math.h>

#include "stages/shared/sound/modulating.h"

typedef struct params {
    double rate, depth, delay, feedback, mix, spread;
    int shape;
} params;

static const smp_param table[] = {
    SMP_SWING_RATE(params, "0.5Hz"),
    SMP_PARAM_FLOAT(depth, S, 0, 0.03, "2ms", "by how much the delay swings", 0),
    SMP_PARAM_FLOAT(delay, S, 0, 0.03, "0ms", "the least delay", 0),
    SMP_PARAM_FLOAT(feedback, FRACTION, -0.9, 0.9, "0%", "how much of an echo is in the next one", 0),
    SMP_PARAM_FLOAT(mix, FRACTION, 0, 1, "71%", "level of the echoes beside the sound", 0),
    SMP_SWING_ROWS(params, "90deg"),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    static const double inaudible = 1e-3;
    const params *p = given;
    smp_swinging taps[SMP_MODULATED_MOST];
    int count = 0;
    double level = 1;
    for (; count < SMP_MODULATED_MOST && (!count || fabs(level) > inaudible); level *= p->feedback, count++)
        taps[count] = (smp_swinging){.rate = p->rate,
                                     .spread = p->spread / 360,
                                     .delay = p->delay * (count + 1),
                                     .swing = p->depth * (count + 1),
                                     .gain = level * p->mix / (1 + p->mix) * (1 - fabs(p->feedback))};
    work->effect.none = p->mix == 0;
    return smp_modulated_plan(taps, count, (smp_swing)p->shape, 1 / (1 + p->mix), in, work, err);
}

const smp_stage smp_stage_flanger = {
    .name = "flanger",
    .help = "mix a sound with itself a little later, by a time that swings",
    .about = "out = (in + mix e) / (1 + mix), where e is the sound d later, and d goes from `delay` to delay + depth "
             "and back `rate` times a second. With feedback f, e is (1 - |f|) times the sum of the sound k d later by "
             "f^(k - 1), k = 1, 2, .. 16 while that is above 0.001. No louder than the sound itself." SMP_SWING_ABOUT,
    .example = "flanger 50Hz depth=2ms feedback=-50%",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_modulated_variants),
    SMP_ALSO({"flange aflanger", "flanger feedback=50%"}),
};
