/* trim: a part of a sound. */
#include <math.h>

#include "audio/trim.h"
#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

typedef struct params {
    double start, end;
    int64_t first, frames;
} params;

static const smp_param table[] = {
    {"start", offsetof(params, start), SMP_T_FLOAT, SMP_UNIT_S, 0, 1e9, "auto",
     "where the part begins; auto: at the beginning", NULL, SMP_P_AUTO},
    {"end", offsetof(params, end), SMP_T_FLOAT, SMP_UNIT_S, 0, 1e9, "auto", "where it ends; auto: at the end", NULL,
     SMP_P_AUTO},
    {"first", offsetof(params, first), SMP_T_INT, SMP_UNIT_NONE, 0, 1e15, "auto",
     "instead of start: its first frame, from 0 on", NULL, SMP_P_AUTO},
    {"frames", offsetof(params, frames), SMP_T_INT, SMP_UNIT_NONE, 1, 1e15, "auto", "instead of end: how many frames",
     NULL, SMP_P_AUTO},
    {0},
};

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    const bool counted = p->first != INT64_MIN, long_ = p->frames != INT64_MIN;
    if ((counted && !isnan(p->start)) || (long_ && !isnan(p->end)))
        return smp_fail(err, SMP_E_PIPE, "%s is given in seconds and in frames",
                        counted && !isnan(p->start) ? "the start" : "the end");
    if (!isnan(p->start) && p->end <= p->start)
        return smp_fail(err, SMP_E_PIPE, "nothing is left: the part ends at %.6g s, before it begins at %.6g s", p->end,
                        p->start);
    return SMP_OK;
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by;
    const params *p = params_;
    const bool counted = p->first != INT64_MIN, long_ = p->frames != INT64_MIN;
    double first = counted ? (double)p->first : isnan(p->start) ? 0 : floor(p->start * in->rate + 0.5);
    double last = long_           ? first + (double)p->frames
                  : isnan(p->end) ? (double)in->height
                                  : floor(p->end * in->rate + 0.5);
    const double seconds = (double)in->height / in->rate;
    if (first >= (double)in->height) {
        smp_fail(err, SMP_E_PIPE, "nothing is left: the part begins at %.6g s, the sound ends at %.6g s",
                 first / in->rate, seconds);
        return smp_hint(err, "the sound has %lld frames", (long long)in->height);
    }
    if (last <= first)
        return smp_fail(err, SMP_E_PIPE, "nothing is left: the part ends at %.6g s, before it begins at %.6g s",
                        last / in->rate, first / in->rate);
    smp_trim *slice = (smp_trim *)(void *)work->kernel;
    slice->start = (int64_t)first;
    work->kernel_size = sizeof *slice;
    work->out.height = (last < (double)in->height ? (int64_t)last : in->height) - slice->start;
    work->nothing = slice->start == 0 && work->out.height == in->height;
    work->rows_add = slice->start;
    work->exactness = SMP_MOVE;
    return SMP_OK;
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "sample by sample",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(trim_naive), "trim_naive", NULL}}},
    {.name = "tiled",
     .help = "rows that lie end to end in one copy",
     .launches = {{SMP_IN, SMP_OUT, SMP_CPU(trim_tiled), "trim_tiled", smp_geometry_packs}}},
    {0},
};

const smp_stage smp_stage_trim = {
    .name = "trim",
    .help = "keep a part of a sound",
    .about =
        "Times are rounded to frames. An end past the sound's end is its end. Streams: what comes before is read and "
        "dropped, what comes after is not read.",
    .example = "trim first=1",
    .domain = SMP_AUDIO,
    .access = SMP_STENCIL,
    .params = table,
    .params_size = sizeof(params),
    .check = check,
    .plan = plan,
    .variants = variants,
    .aliases = (const smp_alias[]){{"atrim", "trim start=1s end=5s"}, {"cut", "trim start=1s end=5s"}, {0}},
};
