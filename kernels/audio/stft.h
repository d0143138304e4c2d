/* stft: spectra of a sound's frames as a picture of floats, and istft: a sound of them. Parameters, memory, what they
 * share.
 *
 * Row t of the picture has the numbers 0 .. size / 2 of frame t (audio/frames.h), from left to right: of each channel
 * of the sound its real part and its imaginary part.
 *
 * Sample j of the sound is the sum over the frames t that hold it, ascending, of x window (frame t's inverse
 * transform), divided by the sum of window^2 over the same frames, times gain, which is 1 / (2 size): 0 where that sum
 * is not above `SMP_STFT_LEAST`. The inverse transform takes the imaginary parts of the first and the last number for
 * 0. */
#pragma once

#include "audio/frames.h"
#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

#define SMP_STFT_LEAST 2.5e-11f

typedef struct smp_stft {
    smp_frames f;   /* with a transform */
    int64_t frames; /* rows of the picture */
    float gain;
} smp_stft;

/* The frames *first .. *end-1 of `frames` that hold any of samples from .. to-1. */
SMP_HOST_DEVICE void smp_stft_holding(const smp_frames *f, int64_t frames, int64_t from, int64_t to, int64_t *first,
                                      int64_t *end)
{
    const int64_t before = from - (f->size - f->size / 2) + 1, last = to - 1 + f->size / 2;
    *first = before > 0 ? (before + f->hop - 1) / f->hop : 0;
    *end = last / f->hop + 1 < frames ? last / f->hop + 1 : frames;
}

/* Sample j, of the sum over its frames. */
SMP_HOST_DEVICE float smp_stft_sample(const smp_frames *f, const float *window, int64_t frames, float gain, float sum,
                                      int64_t j)
{
    int64_t t, end;
    float squares = 0.f;
    smp_stft_holding(f, frames, j, j + 1, &t, &end);
    for (; t < end; t++) {
        const float w = window[j - smp_frames_first(f, t)];
        squares = squares + w * w;
    }
    return smp_one_nan(squares > SMP_STFT_LEAST ? sum / squares * gain : 0.f);
}

/* Samples y .. y+n-1 of a channel, of their sums. */
SMP_HOST_DEVICE void smp_stft_put(const smp_io *io, const smp_frames *f, int64_t frames, float gain, int channel,
                                  const float *sums, int64_t y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ((float *)smp_row(&io->out, y + i))[channel] =
            smp_stft_sample(f, (const float *)io->table, frames, gain, sums[i], y + i);
}

/* CPU scratch: of up to 16 lanes samples, both memories of a transform and a spectrum; the sums of some frames. */
enum { SMP_STFT_SUMS = 4 /* times `size` samples are made at a time */ };
SMP_HOST_DEVICE size_t smp_stft_scratch(const smp_frames *f)
{
    return ((size_t)16 * ((size_t)f->size * 4 + 16) + (size_t)f->size * SMP_STFT_SUMS) * sizeof(float);
}

SMP_CPU_DECLARE(stft_one);
SMP_CPU_DECLARE(stft_lanes);
SMP_CPU_DECLARE(istft_one);
SMP_CPU_DECLARE(istft_lanes);
