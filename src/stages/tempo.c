/* tempo: faster or slower, at the same pitch. */
#include "stages/shared/sound/stretching.h"

typedef struct params {
    double speed, search;
} params;

static const smp_param table[] = {
    {"speed", offsetof(params, speed), SMP_T_FLOAT, SMP_UNIT_NONE, 0.1, 10, NULL,
     "how many times as fast: 1.5, 0.8; {4/3} for three quarters of the length", NULL, SMP_P_MAIN | SMP_P_REQUIRED},
    SMP_STRETCH_SEARCH(params),
    {0},
};

static smp_stretch ask_of(const void *given)
{
    const params *p = given;
    return (smp_stretch){p->speed, 1, p->search};
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

const smp_stage smp_stage_tempo = {
    .name = "tempo",
    .help = "play a sound faster or slower, at the same pitch",
    .about =
        "The length becomes the input's divided by `speed`, to the frame. " SMP_STRETCH_ABOUT
        " From 0.8 to 1.5 voices sound natural; slow drums may stutter. `resample speed=1.5` changes the pitch too.",
    .example = "tempo 1.25 search=0s",
    .domain = SMP_AUDIO,
    .access = SMP_STENCIL,
    .traits = SMP_TRAIT_SAME_LEVEL,
    SMP_PARAMS(table, params),
    .plan = plan,
    .reduction = SMP_REDUCTION(.prepass = prepass, .finish = finish, .reducers = smp_trace_variants),
    .variants = smp_stretch_variants,
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("-s $T", "speed=$T"), SMP_MEANS("-m $T", "speed=$T"),
                                          SMP_MEANS("-l $T", "speed=$T"), SMP_MEANS("-q $T", "speed=$T")),
                       .aliases = SMP_ALIASES({"atempo wsola", "tempo 1.25"},
                                              {"stretch time_stretch timestretch", "tempo {1/1.25}"})),
};
