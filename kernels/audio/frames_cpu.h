/* Frames and their spectra on a CPU (audio/frames.h has the definition): one at a time, and one in each lane. */
#pragma once

#include "audio/frames.h"
#include "lib/fft_cpu.h"
#include "lib/planes.h"

/* count samples of a channel from i on. */
SMP_INLINE void smp_frames_load(const smp_frames *f, float *to, const smp_view *in, int channel, int64_t i,
                                int64_t count)
{
    int64_t n = 0;
    for (; n < count && i + n < 0; n++)
        to[n] = smp_frames_sample(f, in, i + n, channel);
    const int64_t inside = in->height - i < count ? in->height - i : count;
    if (inside > n) {
        smp_plane_load(to + n, in, channel, i + n, inside - n);
        n = inside;
    }
    for (; n < count; n++)
        to[n] = smp_frames_sample(f, in, i + n, channel);
}

/* The spectrum, pairs of floats, of the samples in a; a and b: size + 2 floats each. */
SMP_INLINE void smp_frames_one(const smp_frames *f, const float *table, float *a, float *b, float *spectrum)
{
    const float *w = table + f->size, *roots = w + smp_fft_twiddles(&f->fft);
    for (int i = 0; i < f->size; i++)
        a[i] = a[i] * table[i];
    if (!f->fft.n) {
        for (int32_t k = 0; k <= f->bins; k++) {
            float re = 0.f, im = 0.f;
            for (int32_t n = 0, at = 0; n < f->size; n++, at = smp_frames_turn(at, k, f->size)) {
                re = re + a[n] * w[2 * at];
                im = im + a[n] * w[2 * at + 1];
            }
            spectrum[2 * k] = re + re, spectrum[2 * k + 1] = im + im;
        }
        return;
    }
    const float *z = smp_fft_one(&f->fft, w, a, b);
    smp_fft1_halves(spectrum, z, f->bins, roots);
}

/* The same of consecutive frames from t on, one in each lane. plane: SMP_FFT_LANES * size floats; a, b, spectrum:
 * size + 2 vectors each. */
SMP_INLINE void smp_frames_lanes(const smp_frames *f, const float *table, const smp_view *in, int channel, int64_t t,
                                 float *plane, smp_fft_vec *a, smp_fft_vec *b, smp_fft_vec *spectrum)
{
    const float *w = table + f->size, *roots = w + smp_fft_twiddles(&f->fft);
    const int64_t size = f->size, pitch = f->hop < size ? f->hop : size;
    if (f->hop < size)
        smp_frames_load(f, plane, in, channel, smp_frames_first(f, t), (SMP_FFT_LANES - 1) * pitch + size);
    else
        for (int lane = 0; lane < SMP_FFT_LANES; lane++)
            smp_frames_load(f, plane + lane * pitch, in, channel, smp_frames_first(f, t + lane), size);
    smp_fft_gather((float *)a, plane, pitch, size, table);
    if (!f->fft.n) {
        for (int32_t k = 0; k <= f->bins; k++) {
            smp_fft_vec re = {0}, im = {0};
            for (int32_t n = 0, at = 0; n < f->size; n++, at = smp_frames_turn(at, k, f->size)) {
                re = re + a[n] * w[2 * at];
                im = im + a[n] * w[2 * at + 1];
            }
            spectrum[2 * k] = re + re, spectrum[2 * k + 1] = im + im;
        }
        return;
    }
    const smp_fft_vec *z = smp_fft_lanes(&f->fft, w, a, b);
    smp_fftv_halves(spectrum, z, f->bins, roots);
}

/* The samples, times 2 size, of a spectrum, which may lie in b; where they are, a or b: sample n at n ^ 1. The
 * transform is the forward one with real and imaginary parts exchanged. */
SMP_INLINE const float *smp_frames_back_one(const smp_frames *f, const float *table, const float *spectrum, float *a,
                                            float *b)
{
    const float *w = table + f->size, *roots = w + smp_fft_twiddles(&f->fft);
    smp_fft1_whole(a, spectrum, f->bins, roots, 0);
    return smp_fft_one(&f->fft, w, a, b);
}

SMP_INLINE const smp_fft_vec *smp_frames_back_lanes(const smp_frames *f, const float *table,
                                                    const smp_fft_vec *spectrum, smp_fft_vec *a, smp_fft_vec *b)
{
    const float *w = table + f->size, *roots = w + smp_fft_twiddles(&f->fft);
    smp_fftv_whole(a, spectrum, f->bins, roots, 0);
    return smp_fft_lanes(&f->fft, w, a, b);
}

/* Adds what frame t's samples are under the window to the sums of samples from .. to-1. from and step: sample n of the
 * frame is x[(n ^ 1) * step]. */
SMP_INLINE void smp_frames_add(const smp_frames *f, const float *window, float *restrict sums, int64_t from, int64_t to,
                               int64_t t, const float *restrict x, int64_t step)
{
    const int64_t at = smp_frames_first(f, t), first = at > from ? at : from;
    const int64_t end = at + f->size < to ? at + f->size : to;
    for (int64_t j = first; j < end; j++)
        sums[j - from] = sums[j - from] + x[((j - at) ^ 1) * step] * window[j - at];
}
