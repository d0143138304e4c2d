/* tempo: faster or slower, at the same pitch. */
#include "stages/shared/sound/stretching.h"

static const smp_param table[] = {
    {"speed", offsetof(smp_stretch, speed), SMP_T_FLOAT, SMP_UNIT_NONE, 0.1, 10, NULL,
     "how many times as fast: 1.5, 0.8; {4/3} for three quarters of the length", NULL, SMP_P_MAIN | SMP_P_REQUIRED},
    {SMP_STRETCH_SEARCH},
    {0},
};

const smp_stage smp_stage_tempo = {
    .name = "tempo",
    .help = "play a sound faster or slower, at the same pitch",
    .about =
        "The length becomes the input's divided by `speed`, to the frame. " SMP_STRETCH_ABOUT
        " From 0.8 to 1.5 voices sound natural; slow drums may stutter. `resample speed=1.5` changes the pitch too.",
    .example = "tempo 1.25 search=0s",
    SMP_STRETCH_STAGE(table),
    .hints = SMP_HINTS(.forms = SMP_FORMS(SMP_MEANS("-s $T", "speed=$T"), SMP_MEANS("-m $T", "speed=$T"),
                                          SMP_MEANS("-l $T", "speed=$T"), SMP_MEANS("-q $T", "speed=$T")),
                       .aliases = SMP_ALIASES({"atempo wsola", "tempo 1.25"},
                                              {"stretch time_stretch timestretch", "tempo {1/1.25}"})),
};
