/* gate: shut where a sound is soft. */
#include <math.h>

#include "stages/shared/sound/dynamics.h"

typedef struct params {
    double threshold, ratio, range, attack, release;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(threshold, DB, -100, 0, "-50dB", "level below which the sound is turned down", SMP_P_MAIN),
    SMP_PARAM_FLOAT(ratio, NONE, 1, 1000, "10", "1 dB below the threshold becomes so many dB", SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(range, DB, 0, 100, "60dB", "how far it turns down at most", SMP_P_POSITIVE),
    SMP_PARAM_FLOAT(attack, S, 0.0001, 0.5, "5ms", "time in which it opens, before a sound begins", 0),
    SMP_PARAM_FLOAT(release, S, 0.0001, 10, "100ms", "time in which it falls by 10 dB after a sound ends", 0),
    {0},
};

/* The kernels' gain is what the gate adds to its range: 0 where it is shut, -range where it is open. */
static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int32_t least = -(int32_t)floor(p->range * SMP_LIMIT_DB + 0.5);
    const smp_limit k = {.ceiling = p->threshold - p->range / (p->ratio - 1),
                         .slope = 1 - p->ratio,
                         .least = least < 0 ? least : -1,
                         .base = least < 0 ? least : -1,
                         .sign = -1};
    return smp_dynamics_plan(&k, p->attack, "attack", true, 10 / p->release, in, work, err);
}

const smp_stage smp_stage_gate = {
    .name = "gate",
    .help = "turn down what is soft: noise between words, say",
    .about =
        "Where no channel's peak reaches the threshold, the sound is turned down: by `ratio` - 1 dB for each dB below "
        "it, at most by `range`. It opens over the attack, along a smooth curve, before a sound begins, so that "
        "nothing of its beginning is lost, and closes by 10 dB in each release, on a straight line in dB. Above the "
        "threshold samples stay as they are. Nothing is delayed. `silence` tells where a sound is soft, and `trim` "
        "cuts it out. Gains are whole numbers of 2^-16 dB, so that all devices give the same bytes.",
    .example = "gate -10dB range=20dB attack=0.1ms release=0.1ms",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_dynamics_variants),
    SMP_ALSO({"agate noisegate noise-gate", "gate -50dB"}, {"expander", "gate -50dB ratio=2"}),
};
