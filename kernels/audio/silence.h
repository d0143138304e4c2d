/* silence: which frames are silent, a bit a frame: bit i of word w (io->result) is that of frame 32 w + i, set where
 * every channel's magnitude is below the threshold. Behind the end bits are 0. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_SILENCE_WORD = 32 /* frames */ };

typedef struct smp_silence {
    float threshold;
} smp_silence;

/* NaN is not silent. */
SMP_HOST_DEVICE int smp_silent(const smp_silence *p, const float *frame, int channels)
{
    int silent = 1;
    for (int c = 0; c < channels; c++)
        silent &= smp_abs(frame[c]) < p->threshold;
    return silent;
}

SMP_CPU_DECLARE(silence_naive);
SMP_CPU_DECLARE(silence_tiled);
