/* reverb: a sound in a room. */
#include <math.h>

#include "base/alloc.h"
#include "stages/shared/sound/filtering.h"

typedef struct params {
    double time, damping, predelay, width, mix;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(time, S, 0.01, 20, "1.2s", "until what rings is 60 dB lower: 0.3s a room, 1.2s a hall, 5s a church",
                    SMP_P_MAIN),
    SMP_PARAM_FLOAT(damping, FRACTION, 0, 1, "50%", "how much sooner high tones have gone", 0),
    SMP_PARAM_FLOAT(predelay, S, 0, 1, "10ms", "until the room answers", 0),
    SMP_PARAM_FLOAT(width, FRACTION, 0, 1, "100%", "how much the channels' rooms differ", 0),
    SMP_PARAM_FLOAT(mix, FRACTION, 0, 1, "25%", "share of the room in the result", 0),
    {0},
};

/* Number i of noise from -1 to 1: SplitMix64 (Steele, Lea and Flood, 2014). */
static double noise(uint64_t list, uint64_t i)
{
    uint64_t z = (list << 40) + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)(z ^ (z >> 31)) * 0x1p-63;
}

/* What channel `channel` rings like, of energy 1 without the first `before` frames, which are silent. */
static void ring(const params *p, double rate, int channel, double *to, int64_t before, int64_t count)
{
    static const double crossover = 2500, pi = 3.14159265358979323846, own_part = 0.9;
    const double share = 1 - exp(-2 * pi * crossover / rate), fall = pow(10, -3 / (p->time * rate)),
                 soon = pow(10, -3 / (p->time * (1 - own_part * p->damping) * rate));
    double first = 0, low = 0, level = 1, high_level = 1, sum = 0;
    for (int64_t i = before; i < count; i++, level *= fall, high_level *= soon) {
        const uint64_t at = (uint64_t)(i - before);
        const double v = sqrt(1 - p->width) * noise(0, at) + sqrt(p->width) * noise(1 + (uint64_t)channel, at);
        first += share * (v - first);
        low += share * (first - low);
        to[i] = low * level + (v - low) * high_level;
        sum += to[i] * to[i];
    }
    for (int64_t i = before; i < count; i++)
        to[i] *= p->mix / sqrt(sum);
    to[0] += 1 - p->mix;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    const int64_t before = (int64_t)floor(p->predelay * in->rate + 0.5),
                  count = before + (int64_t)ceil(p->time * in->rate) + 1;
    work->effect.none = p->mix == 0;
    if (count > SMP_FIR_LONGEST)
        return smp_fail(err, SMP_E_PIPE,
                        "the room rings for %.6g s, which are %lld frames at %.6g Hz; at most %d are possible", p->time,
                        (long long)count, in->rate, SMP_FIR_LONGEST),
               smp_hint(err, "write %.3gs, or `resample 48kHz` in front",
                        floor((double)(SMP_FIR_LONGEST - before) / in->rate * 100) / 100);
    double *taps = smp_alloc_array((size_t)count * (size_t)in->channels, sizeof *taps);
    SMP_NEED(taps, "a room", (uint64_t)count * (uint64_t)in->channels * sizeof *taps, err);
    for (int c = 0; c < in->channels; c++)
        ring(p, in->rate, c, taps + c * count, before, count);
    const smp_code code = smp_echo_filter_plan(taps, (int)count, in->channels, work, err);
    smp_free(taps);
    return code;
}

const smp_stage smp_stage_reverb = {
    .name = "reverb",
    .help = "let a sound ring as in a room",
    .about =
        "A convolution with noise that falls by 60 dB in `time` (Moorer, About This Reverberation Business, 1979): "
        "(1 - mix) times the sound and mix times the room, whose answer has the energy of the sound. What lies above "
        "2.5 kHz falls 1 / (1 - 0.9 damping) times as fast. Each channel has noise of its own, and shares as much of "
        "a common one as width leaves. Made in double, once, and computed by Fourier transforms in fixed blocks as "
        "long filters are (`fir`). The length stays: `pad end=2s` in front keeps what rings on.",
    .example = "reverb 0.6s predelay=1ms",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, smp_filter_variants),
    .hints = SMP_HINTS(.forms = SMP_FORMS(
                           {.values = "$A $B", .say = "write time=1.2s damping=$B%: sox's first number is no time"},
                           {.values = "$A $B $C", .say = "write time=1.2s damping=$B%: sox's first number is no time"}),
                       .aliases = SMP_ALIASES({"freeverb room hall reverberation", "reverb 1.2s"})),
};
