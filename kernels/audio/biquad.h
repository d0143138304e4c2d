/* A second-order filter along the frames of a sound, which every device computes alike. A recursion runs from frame to
 * frame; to share it out, the sound is cut into segments from its beginning. Every segment starts from rest `warm`
 * frames before its first one, long enough for what came before to be forgotten (stages/shared/sound/biquads.h).
 * Outside the sound is silence. */
#pragma once

#include "lib/cpu_kernel.h"

enum { SMP_BIQUAD_SEGMENT = 16384 /* frames: the shortest segment */ };

/* (b0 + b1 / z + b2 / z^2) / (1 + a1 / z + a2 / z^2) */
typedef struct smp_biquad {
    double b0, b1, b2, a1, a2;
} smp_biquad;

typedef struct smp_segments {
    int64_t length, warm; /* frames */
} smp_segments;

/* Transposed direct form II; every operation is rounded. Works on doubles and, on a CPU, on vectors of them. */
#define SMP_BIQUAD_STEP(f, x, z1, z2, o)                                                                               \
    do {                                                                                                               \
        o = (f)->b0 * (x) + z1;                                                                                        \
        z1 = (f)->b1 * (x) - (f)->a1 * o + z2;                                                                         \
        z2 = (f)->b2 * (x) - (f)->a2 * o;                                                                              \
    } while (0)
