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
 * serves up to eight sums. In the plain order loads would be the limit on CPUs, shared memory on GPUs.
 *
 * Filters of more than SMP_FIR_DIRECT taps go through the Fourier transform instead (lib/fft.h), by overlap-save in
 * fixed blocks: block b is frames b * 2048 .. b * 2048 + 2047 of the sound from its beginning, whatever the strips. The
 * taps are cut into parts of 2048, the last of them first. Segment b is the 4096 frames that end 2048 + `after` frames
 * after the block's beginning. The spectrum of block b is the sum over parts, ascending from 0, of the spectra of
 * segment b - part and of that part (io->table, made in double); its transform back ends with the block's frames. So
 * a sample that is not finite spoils the blocks whose segments hold it, of its own channel. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"
#include "lib/fft.h"
#include "lib/tuning.h"

enum {
    SMP_FIR_APART = 32, /* frames between the taps of a group */
    SMP_FIR_GROUP = 8,  /* taps of a group */
    SMP_FIR_BLOCK = SMP_FIR_APART * SMP_FIR_GROUP,
    SMP_FIR_MOST = 32767, /* taps */
    SMP_FIR_CHUNK = 3072, /* CPU: frames that are split into planes at a time */
    SMP_FIR_SLACK = 256,  /* CPU: zeros after a plane, for vectors that read past its end */

    SMP_FIR_DIRECT = 300,                 /* taps of the longest direct sum: about where both take a CPU as long */
    SMP_FIR_STEP = 2048,                  /* frames of a block, taps of a part */
    SMP_FIR_LONGEST = 256 * SMP_FIR_STEP, /* taps of a filter that a stage makes itself */
    SMP_FIR_SEGMENT = 2 * SMP_FIR_STEP,   /* frames of a segment: a transform of half as many complex numbers */
    SMP_FIR_FFT_THREADS = 256             /* GPU, by transforms: threads of a block */
};

typedef struct smp_fir {
    int32_t taps;
    int32_t before; /* frames before y that the first tap reads */
    int32_t parts;  /* of the taps; 0: direct sums */
    int32_t own;    /* 1: each channel has taps of its own, by transforms */
    smp_fft fft;    /* of SMP_FIR_STEP numbers */
} smp_fir;

/* The first frame of segment b; of a block, that of part 0. */
SMP_HOST_DEVICE int64_t smp_fir_segment(const smp_fir *p, int64_t b)
{
    return b * SMP_FIR_STEP + (p->taps - 1 - p->before) - (SMP_FIR_SEGMENT - SMP_FIR_STEP);
}

/* io->table of a filter by transforms: its factors, then those of a real sequence, then a part's spectrum after the
 * other, numbers 0 .. SMP_FIR_STEP, with every constant factor in them; where channels have their own, a channel's
 * after the other's. */
SMP_HOST_DEVICE const float *smp_fir_roots(const smp_io *io, const smp_fir *p)
{
    return (const float *)io->table + smp_fft_twiddles(&p->fft);
}
enum { SMP_FIR_ROOTS = SMP_FIR_STEP + 2, SMP_FIR_SPECTRUM = 2 * (SMP_FIR_STEP + 1) }; /* floats */
SMP_HOST_DEVICE const float *smp_fir_spectra(const smp_io *io, const smp_fir *p, int channel)
{
    return smp_fir_roots(io, p) + SMP_FIR_ROOTS + (int64_t)channel * p->own * p->parts * SMP_FIR_SPECTRUM;
}

SMP_HOST_DEVICE float smp_fir_tap(float s, float k, float x)
{
    return fmaf(k, x, s);
}

/* Taps of the group at b + j, of a block of `have` taps: 0 to 8. */
SMP_HOST_DEVICE int smp_fir_group(int have, int j)
{
    return have > j ? (have - j + SMP_FIR_APART - 1) / SMP_FIR_APART : 0;
}

/* CPU scratch: a plane of results a channel, and one of samples; by transforms, of up to 16 lanes: frames, both
 * memories of the transform, and the spectra of the blocks at hand and of whole vectors of blocks before them. */
enum { SMP_FIR_PLANE = SMP_FIR_CHUNK + SMP_FIR_SLACK };
SMP_HOST_DEVICE size_t smp_fir_scratch(const smp_fir *p, int channels)
{
    enum { LANES_MOST = 16 };
    if (p->parts)
        return ((size_t)(LANES_MOST + 1) * SMP_FIR_STEP + (size_t)2 * LANES_MOST * SMP_FIR_SEGMENT +
                (p->parts > 1 ? ((size_t)p->parts + 2 * LANES_MOST) * SMP_FIR_SPECTRUM : 0)) *
               sizeof(float);
    return ((size_t)(channels + 1) * SMP_FIR_PLANE + (size_t)p->taps) * sizeof(float);
}

SMP_CPU_DECLARE(fir_naive);
SMP_CPU_DECLARE(fir_tiled);
SMP_CPU_DECLARE(fir_fft_one);
SMP_CPU_DECLARE(fir_fft_lanes);
