/* Shared by tremolo, vibrato, chorus and flanger: taps of a delay line that swing (kernels/audio/modulated.h). */
#pragma once

#include "audio/modulated.h"
#include "stages/stage.h"

/* Swings begin where the delay is least and the gain most, `phase` later. */
typedef struct smp_swinging {
    double rate, phase, spread; /* Hz; turns, and more of them in each channel after the first */
    double delay, swing;        /* seconds: from delay to delay + swing */
    double gain, dip;           /* from gain to gain (1 - dip) */
} smp_swinging;

/* `count` taps, at most SMP_MODULATED_MOST, and `dry` times the sound itself. Errors (SMP_E_PIPE): no rate. */
smp_code smp_modulated_plan(const smp_swinging *taps, int count, smp_swing shape, double dry, const smp_shape *in,
                            smp_node_plan *work, smp_error *err);

extern const smp_variant smp_modulated_variants[];
extern const char *const smp_swing_names[];

/* A row of the parameter table: how often a second it swings, `often` of them by default. */
#define SMP_SWING_RATE(type, often)                                                                                    \
    SMP_PARAM_OF(type, "rate", rate, FLOAT, HZ, 0.01, 1000, often, "how often it swings in a second", NULL, SMP_P_MAIN)
/* Rows: the shape of the swing, and how far channels are apart. */
#define SMP_SWING_ROWS(type, apart)                                                                                    \
    SMP_PARAM_OF(type, "shape", shape, ENUM, NONE, 0, 0, "sine", "sine: smoothly; triangle: evenly there and back",    \
                 smp_swing_names, 0),                                                                                  \
        SMP_PARAM_OF(type, "spread", spread, FLOAT, DEG, -360, 360, apart,                                             \
                     "by how much each channel is ahead of the one before", NULL, 0)

#define SMP_SWING_ABOUT                                                                                                \
    " The phase depends on the time from the sound's beginning alone. Between frames lies a cubic through four "       \
    "(Lagrange). The length stays: `pad end=1s` in front keeps what rings on."
