/* trim: a part of a sound, by times or by where it is silent. */
#include <math.h>
#include <stdio.h>

#include "audio/trim.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/launch_shapes.h"
#include "stages/shared/seeded.h"
#include "stages/shared/sound/silences.h"

enum { PART, AUTO, RANDOM };
enum { BOTH, START, END };

typedef struct params {
    int kind;
    double start, end, length;
    int64_t first, frames;
    double silence, keep, inside, until;
    int ends;
    int64_t seed;
} params;

#define DEFAULT_SILENCE -50. /* dBFS */

static const smp_param table[] = {
    SMP_PARAM_ENUM(
        kind, "part",
        "part: what lies between times; auto: what lies between silences at both ends; random: a part at random",
        SMP_P_MAIN, "part", "auto", "random"),
    SMP_PARAM_FLOAT(start, S, -1e9, 1e9, "auto",
                    "where the part begins, below 0 from the sound's end on; auto: at the beginning", SMP_P_AUTO),
    SMP_PARAM_FLOAT(end, S, -1e9, 1e9, "auto", "where it ends, below 0 from the sound's end on; auto: at the end",
                    SMP_P_AUTO),
    SMP_PARAM_FLOAT(length, S, 0, 1e9, "auto", "instead of end: how long it is", SMP_P_AUTO),
    SMP_PARAM_INT(first, NONE, 0, 1e15, "auto", "instead of start: its first frame, from 0 on", SMP_P_AUTO),
    SMP_PARAM_INT(frames, NONE, 1, 1e15, "auto", "instead of end: how many frames", SMP_P_AUTO),
    SMP_PARAM_FLOAT(silence, DB, -200, 0, "auto",
                    "every channel stays below it where it is silent; makes it trim auto; auto: -50dBFS", SMP_P_AUTO),
    SMP_PARAM_FLOAT(keep, S, 0, 1e6, "0.1s", "trim auto: silence that is left before and after sound", 0),
    SMP_PARAM_FLOAT(inside, S, 0, 1e6, "auto",
                    "silences inside of at least this length are cut too; makes it trim auto; auto: none", SMP_P_AUTO),
    SMP_PARAM_FLOAT(
        until, S, 0, 1e6, "auto",
        "the sound ends where the first silence of at least this length begins; makes it trim auto; auto: it does not",
        SMP_P_AUTO),
    SMP_PARAM_ENUM(ends, "both", "trim auto: at which end silence is cut; start and end make it trim auto", 0, "both",
                   "start", "end"),
    SMP_PARAM_INT(seed, NONE, 0, 9007199254740991, "auto",
                  "trim random: what its start is drawn by; `trim random 2s` alone has another for each file",
                  SMP_P_AUTO | SMP_P_ANY),
    {0},
};

/* Whether it goes by silence: asked for, or implied by what only then has a meaning. */
static bool by_silence(const void *given)
{
    const params *p = given;
    return p->kind == AUTO || !isnan(p->silence) || !isnan(p->inside) || !isnan(p->until) || p->ends != BOTH;
}

static smp_code check(const void *given, smp_error *err)
{
    const params *p = given;
    const bool counted = p->first != INT64_MIN, long_ = p->frames != INT64_MIN,
               drawn = p->kind == RANDOM && p->seed != INT64_MIN;
    if (drawn != (p->kind == RANDOM || p->seed != INT64_MIN))
        return smp_fail(err, SMP_E_PIPE, "what is drawn has a seed, and nothing else has"),
               smp_hint(err, "write trim random 2s");
    if (drawn && (counted || !isnan(p->start) || !isnan(p->end) || (isnan(p->length) && !long_) || by_silence(p)))
        return smp_fail(err, SMP_E_PIPE, "a part at random has a length, and its start is drawn"),
               smp_hint(err, "write trim random 2s");
    if (by_silence(p) && (counted || long_ || !isnan(p->start) || !isnan(p->end) || !isnan(p->length))) {
        smp_fail(err, SMP_E_PIPE, "the part is given by silence and by %s", counted || long_ ? "frames" : "times");
        return smp_hint(err, "write two stages: `trim start=..`, then `trim auto`");
    }
    if ((counted && !isnan(p->start)) || (long_ && !isnan(p->end)))
        return smp_fail(err, SMP_E_PIPE, "%s is given in seconds and in frames",
                        counted && !isnan(p->start) ? "the start" : "the end");
    if (!isnan(p->length) && (long_ || !isnan(p->end)))
        return smp_fail(err, SMP_E_PIPE, "the end is given by length and by %s", long_ ? "frames" : "end");
    if (!isnan(p->start) && p->end <= p->start && (p->end < 0) == (p->start < 0))
        return smp_fail(err, SMP_E_PIPE, "nothing is left: the part begins at %.6g s and ends at %.6g s", p->start,
                        p->end);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ by silence */

/* From the second planning on: the ranges of frames that are kept. */
typedef struct range {
    int64_t from, to;
} range;

static smp_code plan_found(const range *kept, size_t count, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    smp_trim *slice = SMP_PLAN_KERNEL(work, smp_trim);
    slice->start = kept[0].from;
    work->rows.add = slice->start;
    work->values.exactness = SMP_MOVE;
    work->out.height = 0;
    for (size_t i = 0; i < count; i++)
        work->out.height += kept[i].to - kept[i].from;
    work->effect.none = work->effect.already = work->out.height == in->height;
    if (count == 1)
        return SMP_OK;
    smp_row_span *spans = smp_alloc_array(count, sizeof *spans);
    SMP_NEED(spans, "the parts of a sound", count * sizeof *spans, err);
    int64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        spans[i] = (smp_row_span){at, kept[i].from};
        at += kept[i].to - kept[i].from;
    }
    slice->spans = work->rows.spans = (int32_t)count;
    work->table.data = spans;
    work->table.size = count * sizeof *spans;
    work->rows.num = in->height, work->rows.den = work->out.height;
    while (work->rows.num > SMP_ROW_MAP_MOST)
        work->rows.num /= 2, work->rows.den = smp_max_i64(1, work->rows.den / 2);
    return SMP_OK;
}

static int64_t frames_of(double seconds, const smp_shape *in)
{
    const double frames = floor(seconds * in->rate + 0.5);
    return frames < (double)in->height ? (int64_t)frames : in->height;
}

/* The ranges between the silences that are cut, into kept unless it is null; how many. */
static size_t find_kept(const params *p, const smp_shape *in, const void *bits, range *kept)
{
    const int64_t keep = frames_of(p->keep, in),
                  least = isnan(p->inside) ? INT64_MAX : smp_max_i64(frames_of(p->inside, in), 2 * keep + 1),
                  stop = isnan(p->until) ? INT64_MAX : smp_max_i64(frames_of(p->until, in), 1);
    size_t count = 0;
    int64_t begin = 0, from, to;
    for (int64_t at = 0; smp_silence_next(bits, in, at, &from, &to); at = to) {
        const bool first = from == 0, last = to == in->height;
        const bool stops = !first && to - from >= stop;
        if (first && last)
            return 0;
        if ((first && p->ends == END) || (last && !stops && p->ends == START))
            continue;
        if (!first && !last && !stops && to - from < least)
            continue;
        if (!first && kept)
            kept[count] = (range){begin, smp_min_i64(from + keep, in->height)};
        count += !first;
        begin = smp_max_i64(0, to - keep);
        if (last || stops)
            return count;
    }
    if (kept)
        kept[count] = (range){begin, in->height};
    return count + 1;
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = given;
    const size_t count = find_kept(p, in, result, NULL);
    if (!count)
        return smp_fail(err, SMP_E_DECODE, "'trim auto' leaves nothing: all of it stays below %.6g dBFS",
                        isnan(p->silence) ? DEFAULT_SILENCE : p->silence),
               smp_hint(err, "`trim silence=-70dBFS` has a lower threshold; `stats` tells the levels");
    if (count > INT32_MAX)
        return smp_fail(err, SMP_E_LIMIT, "the sound has more silences than can be cut");
    range *kept = smp_alloc_array(count, sizeof *kept);
    SMP_NEED(kept, "the parts of a sound", count * sizeof *kept, err);
    find_kept(p, in, result, kept);
    measurements->found = kept;
    measurements->found_size = count * sizeof *kept;
    int64_t left = 0;
    for (size_t i = 0; i < count; i++)
        left += kept[i].to - kept[i].from;
    SMP_TRY(smp_measurements_add(measurements, "start", -1, (double)kept[0].from / in->rate, err));
    SMP_TRY(smp_measurements_add(measurements, "end", -1, (double)kept[count - 1].to / in->rate, err));
    SMP_TRY(smp_measurements_add(measurements, "parts", -1, (double)count, err));
    return smp_measurements_add(measurements, "removed", -1, (double)(in->height - left) / in->rate, err);
}

/* ------------------------------------------------------------------------------------------------ by times */

/* The frame of a time that may count from the end. */
static double frame_at(double seconds, const smp_shape *in)
{
    const double frame = floor(seconds * in->rate + 0.5);
    return seconds >= 0 ? frame : fmax(0, (double)in->height + frame);
}

/* A part of the length that is given, anywhere in the sound. */
static smp_code plan_drawn(params *p, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    const double long_ = p->frames != INT64_MIN ? (double)p->frames : floor(p->length * in->rate + 0.5);
    work->rows.needs_height = true;
    if (long_ > (double)in->height)
        return smp_fail(err, SMP_E_PIPE, "%.6g s at random, and the sound has %.6g s", long_ / in->rate,
                        (double)in->height / in->rate),
               smp_hint(err, "`pad` in front makes it longer, or leave such files out");
    p->frames = (int64_t)long_, p->length = (double)NAN;
    p->first = smp_seeded_whole(p->seed, 0, in->height - p->frames);
    snprintf(work->drawn, sizeof work->drawn, "first=%lld frames=%lld", (long long)p->first, (long long)p->frames);
    return SMP_OK;
}

static smp_code plan_part(const params *p, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    const bool counted = p->first != INT64_MIN, long_ = p->frames != INT64_MIN;
    const double first = counted ? (double)p->first : isnan(p->start) ? 0 : frame_at(p->start, in);
    const double last = long_               ? first + (double)p->frames
                        : !isnan(p->length) ? first + floor(p->length * in->rate + 0.5)
                        : isnan(p->end)     ? (double)in->height
                                            : frame_at(p->end, in);
    const double seconds = (double)in->height / in->rate;
    if (first >= (double)in->height)
        return smp_fail(err, SMP_E_PIPE, "nothing is left: the part begins at %.6g s, the sound ends at %.6g s",
                        first / in->rate, seconds),
               smp_hint(err, "the sound has %lld frames", (long long)in->height);
    if (last <= first && p->end < 0 && -p->end >= seconds) {
        smp_fail(err, SMP_E_PIPE, "nothing is left: the part ends %.6g s before the sound's end, and it has %.6g s",
                 -p->end, seconds);
        return smp_hint(err, "write end=%.3gs, or leave such files out", -seconds / 2);
    }
    if (last <= first)
        return smp_fail(err, SMP_E_PIPE, "nothing is left: the part begins at %.6g s and ends at %.6g s",
                        first / in->rate, last / in->rate);
    smp_trim *slice = SMP_PLAN_KERNEL(work, smp_trim);
    slice->start = (int64_t)first;
    work->out.height = (last < (double)in->height ? (int64_t)last : in->height) - slice->start;
    work->effect.none = slice->start == 0 && work->out.height == in->height;
    work->rows.add = slice->start;
    work->values.exactness = SMP_MOVE;
    return SMP_OK;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    params drawn = *p;
    if (p->kind == RANDOM)
        SMP_TRY(plan_drawn(&drawn, in, work, err));
    if (!by_silence(p))
        return plan_part(&drawn, in, work, err);
    if (work->prepass.found)
        return plan_found(work->prepass.found, work->prepass.found_size / sizeof(range), in, work, err);
    work->prepass.wanted = true;
    work->access = SMP_ADJUST;
    return smp_silence_plan(isnan(p->silence) ? DEFAULT_SILENCE : p->silence, in, work, err);
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "sample by sample", SMP_LAUNCH(trim_naive, .geometry = NULL))},
    {SMP_RUNG("tiled", "rows that lie end to end in one copy", SMP_LAUNCH(trim_tiled, .geometry = smp_geometry_packs))},
    {0},
};

const smp_stage smp_stage_trim = {
    .name = "trim",
    .help = "keep a part of a sound, or cut its silence off",
    .about =
        "Times are rounded to frames; those below 0 count from the sound's end: `trim end=-5s` drops its last five "
        "seconds. An end past the sound's end is its end. Streams: what comes before is read and "
        "dropped, what comes after is not read.\n"
        "`trim auto` cuts the silence at both ends, frames in which every channel's magnitude stays below `silence`, "
        "and leaves `keep` of it. With inside=1s silences of a second or more between sounds are cut too: `keep` is "
        "left after the sound before and before the sound after. ends=start leaves the end as it is, and ends=end the "
        "beginning; with until=1s all goes that follows the first silence of a second or more. It reads the sound "
        "twice, and streams. Of a sound that is silent throughout nothing would be left: that is an error (exit status "
        "3), and no file is written.\n"
        "`trim random 2s` keeps two seconds from anywhere; each file has a draw of its own (help draws).",
    .example = "trim first=1",
    .traits = SMP_TRAIT_CUTS,
    SMP_PLANNED(SMP_AUDIO, SMP_STENCIL, table, params, variants),
    .check = check,
    .reduction = SMP_REDUCTION(.prepass = by_silence, .finish = finish, .reducers = smp_silence_variants),
    .hints = SMP_HINTS(.forms = SMP_FORMS(
                           SMP_MEANS("random", "kind=random seed=random"),
                           SMP_MEANS("random $L", "kind=random length=$L seed=random"), SMP_MEANS("0 $E", "end=$E"),
                           SMP_MEANS("0s $E", "end=$E"), SMP_MEANS("$S", "start=$S"), SMP_MEANS("-$S", "start=-$S"),
                           SMP_MEANS("$S -$E", "start=$S end=-$E"), SMP_MEANS("$S +$L", "start=$S length=$L"),
                           {.values = "$S $L", .say = "write start=$S length=$L, as sox means it, or start=$S end=$L"}),
                       .aliases = SMP_ALIASES({"atrim cut", "trim start=1s end=5s"},
                                              {"silenceremove desilence", "trim auto inside=0.5s"},
                                              {"vad", "trim ends=start"})),
};
