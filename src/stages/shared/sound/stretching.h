/* Shared by tempo and pitch: a sound as grains that are joined where they fit (kernels/audio/grains.h). */
#pragma once

#include "audio/grains.h"
#include "stages/stage.h"

typedef struct smp_stretch {
    double speed;  /* input frames that pass for each of the output */
    double rate;   /* frames by which a grain moves in its own sound for each of the output */
    double search; /* seconds that a grain may begin before or after it is due; 0: it begins where it is due */
} smp_stretch;

/* Another speed and a rate of 1 make a tempo, 1 and another a pitch. With a search the first call reads a trace of the
 * sound (smp_node_plan.prepass), the second makes the plan of what that found. Errors (SMP_E_PIPE): no rate. */
smp_code smp_stretch_plan(const smp_stretch *ask, const smp_shape *in, smp_node_plan *work, smp_error *err);

/* smp_reduction_ops.finish: where grains begin, by the trace. */
smp_code smp_stretch_finish(const smp_stretch *ask, const smp_shape *in, const void *result,
                            smp_measurements *measurements, smp_error *err);

/* Whether it reads the sound twice. */
static inline bool smp_stretch_looks(const smp_stretch *ask)
{
    return ask->search > 0 && (ask->speed != 1 || ask->rate != 1);
}

extern const smp_variant smp_stretch_variants[], smp_trace_variants[];

/* The row of the table of parameters. */
#define SMP_STRETCH_SEARCH(type)                                                                                       \
    {                                                                                                                  \
        "search", offsetof(type, search), SMP_T_FLOAT, SMP_UNIT_S, 0, 0.05, "12ms",                                    \
            "how far from where it is due a grain may begin; 0s: right there, for sound that goes on as it comes",     \
            NULL, 0                                                                                                    \
    }

#define SMP_STRETCH_ABOUT                                                                                              \
    "The sound is cut into grains of 40 ms, or 40 ms divided by a factor above 1 that it gets faster or lower by, "    \
    "which fade into each other over 20 ms, or all of a shorter grain. Each begins within `search` of where it is "    \
    "due, "                                                                                                            \
    "where it goes on most like the one before: the largest normalised correlation over the fade, of the sound made "  \
    "mono at about 8 kHz, in whole numbers, between whose places a parabola says more (WSOLA, Verhelst and Roelands "  \
    "1993). It reads the sound twice, and streams; the search takes 130 MB of an hour."
