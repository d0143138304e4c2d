/* Two sounds of any lengths in one: see mixing.h. */
#include "stages/shared/sound/mixing.h"

#include <math.h>

#include "audio/mix.h"
#include "base/checked.h"

static smp_code check_fit(const smp_mix_request *ask, const smp_shape *in, const smp_shape *by, smp_error *err)
{
    if (!by || by->kind != SMP_AUDIO)
        return smp_fail(err, SMP_E_PIPE, "the second is not a sound");
    if (in->rate != by->rate)
        return smp_fail(err, SMP_E_PIPE, "the two must have the same sample rate: %.10g Hz and by=%.10g Hz", in->rate,
                        by->rate),
               smp_hint(err,
                        "fit=yes brings the second to %.10g Hz; `resample %.10gHz` in front of the stage the first",
                        in->rate, by->rate);
    if (ask->beside && in->channels + by->channels > SMP_MAX_CHANNELS)
        return smp_fail(err, SMP_E_PIPE, "the two have %d channels, more than %d", in->channels + by->channels,
                        SMP_MAX_CHANNELS);
    if (ask->beside || by->channels == 1 || by->channels == in->channels)
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "the channels do not match: %d and by=%d", in->channels, by->channels);
    if (in->channels == 1)
        return smp_hint(err, "fit=yes makes the second mono; `remix stereo` in front of the stage the first stereo");
    if (in->channels == 2)
        return smp_hint(err, "fit=yes makes the second stereo");
    return smp_hint(err, "the second needs as many channels as the first, or one for all: see remix");
}

bool smp_mix_fits(const smp_shape *in, const smp_shape *by, bool beside, smp_node_plan *work)
{
    smp_second_wish *wish = &work->second;
    if (!by || by->kind != SMP_AUDIO)
        return false;
    wish->rate = by->rate != in->rate ? in->rate : 0;
    if (!beside && by->channels != 1 && by->channels != in->channels && in->channels <= 2)
        wish->channels = in->channels;
    return wish->rate > 0 || wish->channels;
}

smp_code smp_mix_frames(double seconds, const smp_shape *in, int64_t *frames, smp_error *err)
{
    const double wanted = floor(seconds * in->rate + 0.5);
    *frames = 0;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    if (wanted > 1e15)
        return smp_fail(err, SMP_E_PIPE, "%.6g s is too long", seconds);
    *frames = (int64_t)wanted;
    return SMP_OK;
}

smp_code smp_mix_plan(const smp_mix_request *ask, const smp_shape *in, const smp_shape *by, smp_node_plan *work,
                      smp_error *err)
{
    SMP_TRY(check_fit(ask, in, by, err));
    int64_t end;
    if (!smp_add_i64(ask->at, by->height, &end))
        return smp_fail(err, SMP_E_LIMIT, "the sound would be too long");
    smp_mix *k = SMP_PLAN_KERNEL(work, smp_mix);
    *k = (smp_mix){.at = ask->at,
                   .gain = (float)ask->gain,
                   .shared = !ask->beside && by->channels == 1 && in->channels > 1,
                   .beside = ask->beside ? in->channels : 0,
                   .fade = ask->fade,
                   .rate = ask->fade ? 1. / (double)ask->fade : 0};
    work->access = SMP_STENCIL;
    work->variants = smp_mix_variants;
    work->rows.second_own = true;
    work->rows.second_add = -ask->at;
    work->out.channels = in->channels + (ask->beside ? by->channels : 0);
    work->out.height = ask->longest ? smp_max_i64(in->height, end) : in->height;
    work->values.clips = true;
    work->ops = 2;
    return SMP_OK;
}

const smp_variant smp_mix_variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(mix_naive))},
    {SMP_RUNG("tiled", "CPU: ranges in which the same sounds are, in vectors (GPU: as naive)",
              SMP_LAUNCH_AS(mix_tiled, .cuda = "mix_naive"))},
    {0},
};
