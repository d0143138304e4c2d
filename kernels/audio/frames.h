/* Frames of a sound and their spectra: what spectrogram, mel, stft, istft and denoise compute with.
 *
 * Frame t is the `size` samples around sample t hop. Its spectrum has numbers 0 .. size / 2: samples times the window,
 * rounded, go through the transform of a real sequence (lib/fft.h). Where size / 2 has a prime factor above 7 a number
 * is a sum over the frame, n ascending, of rounded products with exp(-2 pi i k n / size). Sums and products are plain
 * f32 operations. The window is halved, since the split doubles. */
#pragma once

#include "lib/fft.h"

typedef struct smp_frames {
    int32_t size, hop, bins; /* samples, samples, size / 2 */
    int32_t edge;            /* smp_edge: what lies outside the sound */
    smp_fft fft;             /* of `bins` numbers; n = 0: by sums */
} smp_frames;

/* A table is the window, then the transform's table, or exp(-2 pi i n / size) for n = 0 .. size-1. Floats of both: */
SMP_HOST_DEVICE int64_t smp_frames_floats(const smp_frames *f)
{
    return f->size + (f->fft.n ? smp_fft_twiddles(&f->fft) + 2 * (f->bins / 2 + 1) : 2 * (int64_t)f->size);
}

SMP_HOST_DEVICE int64_t smp_frames_first(const smp_frames *f, int64_t t)
{
    return t * f->hop - f->size / 2;
}

SMP_HOST_DEVICE float smp_frames_sample(const smp_frames *f, const smp_view *in, int64_t i, int channel)
{
    const int64_t at = smp_border(i, in->height, f->edge);
    return at >= in->y0 && at < in->y0 + in->rows ? ((const float *)smp_row(in, at))[channel] : 0.f;
}

SMP_HOST_DEVICE int32_t smp_frames_turn(int32_t at, int32_t k, int32_t size)
{
    return at + k < size ? at + k : at + k - size;
}
