/* silence: where a sound is silent; the sound passes on. */
#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/sound/silences.h"

typedef struct params {
    double threshold, min;
    const char *name;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(threshold, DB, -200, 0, "-50dBFS", "level that every channel stays below", SMP_P_MAIN),
    SMP_PARAM_FLOAT(min, S, 0, 1e6, "0.5s", "the shortest silence that counts", 0),
    SMP_PARAM_STRING(name, NULL, "what reports call these results", 0),
    {0},
};

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    return smp_silence_plan(((const params *)given)->threshold, in, work, err);
}

/* Runs of at least `least` frames. Counts them, and the frames that they have; writes where they begin and end, in
 * seconds, unless start is null. */
static int64_t runs(const void *result, const smp_shape *in, double least, double *start, double *end, int64_t *frames)
{
    int64_t count = 0, from, to;
    *frames = 0;
    for (int64_t at = 0; smp_silence_next(result, in, at, &from, &to); at = to) {
        if ((double)(to - from) < least)
            continue;
        if (start) {
            start[count] = (double)from / in->rate;
            end[count] = (double)to / in->rate;
        }
        count++;
        *frames += to - from;
    }
    return count;
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *,
                       smp_measurements *measurements, smp_error *err)
{
    const params *p = given;
    const double least = fmax(1, floor(p->min * in->rate + 0.5));
    int64_t frames;
    const int64_t count = runs(result, in, least, NULL, NULL, &frames);
    double *start = smp_alloc_array((size_t)smp_max_i64(1, count), 2 * sizeof *start), *end = start + count;
    SMP_NEED(start, "the silences of a sound", (uint64_t)count * 2 * sizeof *start, err);
    runs(result, in, least, start, end, &frames);
    smp_code code = smp_measurements_add(measurements, "silences", -1, (double)count, err);
    if (code == SMP_OK)
        code = smp_measurements_add(measurements, "share", -1, (double)frames / (double)in->height, err);
    if (code == SMP_OK && count)
        code = smp_measurements_add_values(measurements, "start", start, (size_t)count, err);
    if (code == SMP_OK && count)
        code = smp_measurements_add_values(measurements, "end", end, (size_t)count, err);
    smp_free(start);
    return code;
}

/* sox's stage of this name cuts, and begins with a count. */
#define SILENCE_CUT "`silence` tells where silence is; `trim auto` cuts it, `trim ends=start` at the beginning alone"

const smp_stage smp_stage_silence = {
    .name = "silence",
    .help = "tell where a sound is silent",
    .about = "A silence is a run of at least `min` in which every channel's magnitude stays below the threshold. "
             "Reports how many there are, their share of the sound, and where each begins and ends (seconds; the end "
             "is the first frame that is loud again). `trim auto` cuts silence off, `smempipe split` makes a file of "
             "each part.",
    .example = "silence -40dBFS min=1ms",
    SMP_PLANNED(SMP_AUDIO, SMP_REDUCE, table, params, smp_silence_variants),
    .reduction = SMP_REDUCTION(.finish = finish),
    .hints = SMP_HINTS(.forms = SMP_FORMS({.values = "$A $B $C", .say = SILENCE_CUT},
                                          {.values = "$A $B $C $D $E $F", .say = SILENCE_CUT},
                                          {.values = "$A $B $C -$D $E $F", .say = SILENCE_CUT},
                                          {.values = "$A", .say = SILENCE_CUT}),
                       .aliases = SMP_ALIASES({"silencedetect", "silence -50dBFS"})),
};
