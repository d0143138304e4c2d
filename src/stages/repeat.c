/* repeat: a sound again and again. A sound is one pixel wide, so this is pad's border that wraps, below. */
#include "geometry/pad.h"

#include <math.h>

#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

enum { MOST_TIMES = 1000000 };

typedef struct params {
    int64_t times; /* INT64_MIN: auto */
    double length; /* NaN: auto */
} params;

static const smp_param table[] = {
    SMP_PARAM_INT(times, NONE, 1, MOST_TIMES, "auto",
                  "how often it is heard in all: 9 is sox's `repeat 8`; auto: twice, where no length is given",
                  SMP_P_AUTO),
    SMP_PARAM_FLOAT(length, S, 0, 1e6, "auto",
                    "instead of times: how long the result is, which ends the last one early", SMP_P_AUTO),
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    if (p->times == INT64_MIN || isnan(p->length))
        return SMP_OK;
    return smp_fail(err, SMP_E_PIPE, "how long the result is is given twice: say times, or length");
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const smp_pad pad = {.edge = SMP_WRAP};
    const int64_t times = p->times == INT64_MIN ? 2 : p->times;
    if (!isnan(p->length) && !(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    if (isnan(p->length) && in->height > INT64_MAX / MOST_TIMES)
        return smp_fail(err, SMP_E_LIMIT, "%lld times are more frames than can be counted", (long long)times);
    work->out.height = isnan(p->length) ? in->height * times : (int64_t)floor(p->length * in->rate + 0.5);
    if (work->out.height < 1)
        return smp_fail(err, SMP_E_PIPE, "nothing would be left of the sound: length is below half a frame"),
               smp_hint(err, "a length of 1s and more");
    work->effect.none = work->out.height == in->height;
    work->rows.whole = true;
    work->values.exactness = SMP_MOVE;
    smp_plan_kernel(work, &pad, sizeof pad);
    return SMP_OK;
}

static const char *frames(const smp_io *io, const void *kernel, smp_grid *grid)
{
    smp_geometry_samples(io, kernel, grid);
    return "pad_naive";
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH_SAMPLES(pad_naive))},
    {SMP_RUNG("tiled", "CPU: each repetition is one copy; GPU: sample by sample",
              SMP_LAUNCH_AS(pad_rows, .decide = frames))},
    {0},
};

const smp_stage smp_stage_repeat = {
    .name = "repeat",
    .help = "play a sound again and again",
    .about = "Frame n is the input's frame n mod its length. Needs the whole sound first. For music under a voice that "
             "is longer: `from \"bed.mp3\"`, `repeat times=100 -> @bed`, `from @input`, `mix by=@bed fit=yes "
             "length=first`. `append` puts another sound behind this one.",
    .example = "repeat times=3",
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    .check = check,
    SMP_ALSO({"loop aloop", "repeat times=2"}),
};
