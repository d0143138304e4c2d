/* pitch: higher or lower, as long as before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/shared/sound/stretching.h"

typedef struct params {
    double semitones, search;
} params;

static const smp_param table[] = {
    {"semitones", offsetof(params, semitones), SMP_T_FLOAT, SMP_UNIT_NONE, -24, 24, NULL,
     "by how many it is higher, below 0 lower: 12 is an octave, 0.5 a quarter tone", NULL, SMP_P_MAIN | SMP_P_REQUIRED},
    SMP_STRETCH_SEARCH(params),
    {0},
};

static smp_stretch ask_of(const void *given)
{
    const params *p = given;
    return (smp_stretch){1, exp2(p->semitones / 12), p->search};
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const smp_stretch ask = ask_of(given);
    return smp_stretch_plan(&ask, in, work, err);
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *,
                       smp_measurements *measurements, smp_error *err)
{
    const smp_stretch ask = ask_of(given);
    return smp_stretch_finish(&ask, in, result, measurements, err);
}

static bool prepass(const void *given)
{
    const smp_stretch ask = ask_of(given);
    return smp_stretch_looks(&ask);
}

/* sox counts in hundredths of a semitone; the least that is taken for them is one semitone. */
static bool instead(const char *value, char *text, size_t size)
{
    const double cents = strtod(value, NULL);
    return fabs(cents) >= 100 && fabs(cents) <= 2400 && snprintf(text, size, "write %.6g", cents / 100) > 0;
}

const smp_stage smp_stage_pitch = {
    .name = "pitch",
    .help = "make a sound higher or lower, as long as before",
    .about = "Every frequency times 2^(semitones / 12). " SMP_STRETCH_ABOUT
             " In a grain the sound is read that many times as fast, through a sinc of 32 taps (above 1, of 32 times "
             "the factor, rounded up to a multiple of 8) under Kaiser's window, made for 256 places between two frames "
             "and interpolated.",
    .example = "pitch 3 search=0s",
    .domain = SMP_AUDIO,
    .access = SMP_STENCIL,
    .traits = SMP_TRAIT_SAME_LEVEL,
    SMP_PARAMS(table, params),
    .plan = plan,
    .reduction = SMP_REDUCTION(.prepass = prepass, .finish = finish, .reducers = smp_trace_variants),
    .variants = smp_stretch_variants,
    .hints =
        SMP_HINTS(.instead = instead,
                  .aliases = SMP_ALIASES({"transpose_pitch pitch_shift pitchshift bend_pitch rubberband", "pitch 3"})),
};
