/* Shared by tempo and pitch: a sound as grains that are joined where they fit (kernels/audio/grains.h). */
#pragma once

#include "audio/grains.h"
#include "stages/stage.h"

/* The parameters of both: each has rows for its own, and the other's stays 0. */
typedef struct smp_stretch {
    double speed;     /* input frames that pass for each of the output; 0: 1 */
    double semitones; /* by which it is higher */
    double search;    /* seconds that a grain may begin before or after it is due; 0: it begins where it is due */
} smp_stretch;

/* smp_stage.plan: with a search the first call reads a trace of the sound (smp_node_plan.prepass), the second makes the
 * plan of what that found. Errors (SMP_E_PIPE): no rate. */
smp_code smp_stretch_plan(const void *params, const smp_shape *in, const smp_shape *by, smp_node_plan *work,
                          smp_error *err);

/* Where grains begin, by the trace; and whether the sound is read twice. */
extern const smp_reduction_ops smp_stretch_reduction;

extern const smp_variant smp_stretch_variants[];

/* The row that both have, and what else of smp_stage is alike. */
#define SMP_STRETCH_SEARCH                                                                                             \
    "search", offsetof(smp_stretch, search), SMP_T_FLOAT, SMP_UNIT_S, 0, 0.05, "12ms",                                 \
        "how far from where it is due a grain may begin; 0s: right there, for sound that goes on as it comes", NULL, 0
#define SMP_STRETCH_STAGE(table)                                                                                       \
    .domain = SMP_AUDIO, .access = SMP_STENCIL, .traits = SMP_TRAIT_SAME_LEVEL, SMP_PARAMS(table, smp_stretch),        \
    .plan = smp_stretch_plan, .reduction = &smp_stretch_reduction, .variants = smp_stretch_variants

#define SMP_STRETCH_ABOUT                                                                                              \
    "The sound is cut into grains of 40 ms, or 40 ms divided by a factor above 1 that it gets faster or lower by, "    \
    "which fade into each other over 20 ms, or all of a shorter grain. Each begins within `search` of where it is "    \
    "due, "                                                                                                            \
    "where it goes on most like the one before: the largest normalised correlation over the fade, of the sound made "  \
    "mono at about 8 kHz, in whole numbers, between whose places a parabola says more (WSOLA, Verhelst and Roelands "  \
    "1993). It reads the sound twice, and streams; the search takes 130 MB of an hour."
