/* fir: a filter along the frames of a sound: every channel's convolution with the same taps. Parameters, the
 * definition, tile geometry, kernels.
 *
 * The definition, the same on every device. Frame y of a channel is s after
 *     s = 0
 *     for b = 0, 256, 512, ...  while b < taps
 *         for j = 0 .. 31
 *             for i = b + j, b + j + 32, b + j + 64, ... b + j + 224  while i < taps
 *                 s = fma(k[i], x[y - before + i], s)
 * in f32, with x = 0 outside the sound (k: io->table, `taps` floats in the order of time, so that a convolution's taps
 * are reversed). Results 32 frames apart share the samples of taps 32 apart, so that a sample read once into a register
 * serves up to eight sums. In the plain order loads would be the limit on CPUs, shared memory on GPUs. */
#ifndef SMP_KERNELS_AUDIO_FIR_H
#define SMP_KERNELS_AUDIO_FIR_H

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/tuning.h"

enum {
    SMP_FIR_APART = 32, /* frames between the taps of a group */
    SMP_FIR_GROUP = 8,  /* taps of a group */
    SMP_FIR_BLOCK = SMP_FIR_APART * SMP_FIR_GROUP,
    SMP_FIR_MOST = 32767, /* taps */
    SMP_FIR_CHUNK = 3072, /* CPU: frames that are split into planes at a time */
    SMP_FIR_SLACK = 256   /* CPU: zeros after a plane, for vectors that read past its end */
};

typedef struct smp_fir {
    int32_t taps;
    int32_t before; /* frames before y that the first tap reads */
} smp_fir;

SMP_HOST_DEVICE float smp_fir_tap(float s, float k, float x)
{
    return fmaf(k, x, s);
}

/* Taps of the group at b + j, of a block of `have` taps: 0 to 8. */
SMP_HOST_DEVICE int smp_fir_group(int have, int j)
{
    return have > j ? (have - j + SMP_FIR_APART - 1) / SMP_FIR_APART : 0;
}

/* CPU scratch: a plane of results a channel, and one of samples. */
enum { SMP_FIR_PLANE = SMP_FIR_CHUNK + SMP_FIR_SLACK };
SMP_HOST_DEVICE size_t smp_fir_scratch(const smp_fir *p, int channels)
{
    return ((size_t)(channels + 1) * SMP_FIR_PLANE + (size_t)p->taps) * sizeof(float);
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(fir_naive);
SMP_CPU_DECLARE(fir_tiled);
#ifdef __cplusplus
}
#endif

#endif
