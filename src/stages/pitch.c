/* pitch: higher or lower, as long as before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/shared/sound/stretching.h"

static const smp_param table[] = {
    {"semitones", offsetof(smp_stretch, semitones), SMP_T_FLOAT, SMP_UNIT_NONE, -24, 24, NULL,
     "by how many it is higher, below 0 lower: 12 is an octave, 0.5 a quarter tone", NULL, SMP_P_MAIN | SMP_P_REQUIRED},
    {SMP_STRETCH_SEARCH},
    {0},
};

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
    SMP_STRETCH_STAGE(table),
    .hints =
        SMP_HINTS(.instead = instead,
                  .aliases = SMP_ALIASES({"transpose_pitch pitch_shift pitchshift bend_pitch rubberband", "pitch 3"})),
};
