/* The plan and the variants of taps that swing: see modulating.h. */
#include "stages/shared/sound/modulating.h"

#include <math.h>

#include "base/checked.h"

const char *const smp_swing_names[] = {"sine", "triangle", NULL};

/* A part of a turn as 32 bits that go round. */
static uint32_t turns(double part)
{
    return (uint32_t)(int64_t)floor((part - floor(part)) * 0x1p32 + 0.5);
}

smp_code smp_modulated_plan(const smp_swinging *taps, int count, smp_swing shape, double dry, const smp_shape *in,
                            smp_node_plan *work, smp_error *err)
{
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    smp_modulated *k = SMP_PLAN_KERNEL(work, smp_modulated);
    *k = (smp_modulated){.dry = (float)dry, .taps = count};
    double most = fabs(dry);
    for (int i = 0; i < count; i++) {
        const smp_swinging *t = &taps[i];
        const double delay = t->delay * in->rate, swing = t->swing * in->rate;
        k->tap[i] = (smp_modulated_tap){.start = turns(t->phase),
                                        .step = turns(t->rate / in->rate),
                                        .spread = turns(t->spread),
                                        .shape = (int32_t)shape,
                                        .still = swing == 0 && delay == floor(delay),
                                        .whole = (int32_t)floor(delay),
                                        .part = (float)(delay - floor(delay)),
                                        .swing = (float)swing,
                                        .gain = (float)t->gain,
                                        .dip = (float)t->dip};
        work->rows.up = smp_max_i64(work->rows.up, smp_tap_reach(&k->tap[i]));
        work->rows.down = smp_max_i64(work->rows.down, !k->tap[i].still && delay < 1);
        most += fabs(t->gain);
    }
    work->rows.up = smp_min_i64(work->rows.up, in->height);
    work->values.clips = most > 1 + 1e-6;
    work->ops = 40. * count;
    return SMP_OK;
}

const smp_variant smp_modulated_variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(modulated_naive))},
    {SMP_RUNG("tiled", "CPU: where a block's frames read is worked out in vectors (GPU: as naive)",
              SMP_LAUNCH_AS(modulated_tiled, .cuda = "modulated_naive"))},
    {0},
};
