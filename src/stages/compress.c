/* compress: less difference between loud and soft. */
#include <math.h>

#include "stages/shared/sound/dynamics.h"

typedef struct params {
    double threshold, ratio, knee, attack, release, makeup;
    int64_t key;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(threshold, DB, -100, 0, "-20dB", "level above which the sound is turned down", SMP_P_MAIN),
    SMP_PARAM_FLOAT(ratio, NONE, 1, 1000, "4", "dB above the threshold that become 1 dB", 0),
    SMP_PARAM_FLOAT(knee, DB, 0, 60, "6dB", "levels round the threshold over which the ratio sets in", 0),
    SMP_PARAM_FLOAT(attack, S, 0.0001, 0.5, "5ms", "time in which the level falls after a loud moment begins", 0),
    SMP_PARAM_FLOAT(release, S, 0.0001, 10, "100ms", "time in which the level rises again by 10 dB", 0),
    SMP_PARAM_FLOAT(makeup, DB, -60, 60, "0dB", "gain of the result", 0),
    SMP_PARAM_INT(
        key, NONE, 0, SMP_MAX_CHANNELS - 1, "0",
        "so many of the last channels say the level, and are left out: a voice that `mix how=beside` put there", 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    if (p->key >= in->channels)
        return smp_fail(err, SMP_E_PIPE, "key takes the last %lld of %d channels, and none is left", (long long)p->key,
                        in->channels),
               smp_hint(err, "write `mix by=\"voice.wav\" how=beside length=first` in front");
    const smp_limit k = {.ceiling = p->threshold,
                         .knee = p->knee,
                         .slope = 1 / p->ratio - 1,
                         .least = -SMP_DYNAMICS_MOST * SMP_LIMIT_DB,
                         .base = (int32_t)floor(p->makeup * SMP_LIMIT_DB + 0.5),
                         .sign = 1,
                         .key = p->key ? in->channels - (int32_t)p->key : 0};
    work->out.channels = in->channels - (int32_t)p->key;
    return smp_dynamics_plan(&k, p->attack, "attack", false, 10 / p->release, in, work, err);
}

const smp_stage smp_stage_compress = {
    .name = "compress",
    .help = "turn down what is loud, so that loud and soft differ less",
    .about =
        "Of what a peak passes the threshold by, `ratio` dB become 1 dB; within `knee` / 2 of the threshold the curve "
        "bends from one slope to the other. All channels get the same gain, by the loudest of them. The gain falls "
        "over the attack, along a smooth curve, after a loud moment begins, so that its first instant passes, and "
        "rises again by 10 dB in each release, on a straight line in dB. It turns down by 60 dB at most. Nothing is "
        "delayed. What passes full scale is left to `limit`, which belongs behind a `makeup`. Gains are whole numbers "
        "of 2^-16 dB, so that all devices give the same bytes.\n"
        "With `key` other channels say the level than those that are turned down, so that music makes room for a "
        "voice of one channel: `mix by=\"voice.wav\" how=beside length=first`, then `compress -40dB ratio=4 key=1 "
        "attack=50ms release=500ms`, then `mix by=\"voice.wav\"`.",
    .example = "compress -30dB ratio=3 attack=0.3ms release=0.1ms makeup=6dB",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_dynamics_variants),
    SMP_ALSO({"compressor acompressor drc", "compress -20dB ratio=4"},
             {"duck ducking sidechain sidechaincompress", "compress -30dB ratio=4 key=1"}),
};
