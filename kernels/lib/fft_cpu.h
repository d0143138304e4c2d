/* Fourier transforms on a CPU (lib/fft.h has the definition): several at once, one in each lane of a vector, so that
 * every radix and size takes whole vectors and no lanes are exchanged; and one at a time, as the definition says. */
#pragma once

#include <string.h>

#include "lib/cpu_kernel.h"
#include "lib/fft.h"

#if defined(__AVX512F__)
enum { SMP_FFT_LANES = 16 };
#elif defined(__AVX2__)
enum { SMP_FFT_LANES = 8 };
#else
enum { SMP_FFT_LANES = 4 };
#endif
enum { SMP_FFT_LANES_MOST = 16 }; /* of any instruction set: for scratch memory */

typedef float smp_fft_vec __attribute__((vector_size(SMP_FFT_LANES * 4), aligned(4), may_alias));
typedef float smp_fft_four __attribute__((vector_size(16), aligned(4), may_alias));

SMP_FFT_OPERATIONS(SMP_INLINE, smp_fftv, smp_fft_vec)

/* Memory holds number i of all lanes at 2 i (real parts) and 2 i + 1. */
SMP_INLINE void smp_fft_pass(const smp_fft_vec *restrict x, smp_fft_vec *restrict y, const float *w, const int r,
                             int64_t m, int64_t s)
{
    for (int64_t p = 0; p < m; p++, w += 2 * (r - 1))
        for (int64_t q = 0; q < s; q++) {
            smp_fft_vec re[SMP_FFT_RADIX], im[SMP_FFT_RADIX];
            const smp_fft_vec *from = x + 2 * (q + s * p);
            smp_fft_vec *to = y + 2 * (q + s * p * r);
#pragma GCC unroll 7
            for (int j = 0; j < r; j++)
                re[j] = from[2 * s * m * j], im[j] = from[2 * s * m * j + 1];
            smp_fftv_points(re, im, r);
            if (m > 1) {
#pragma GCC unroll 7
                for (int k = 1; k < r; k++)
                    smp_fftv_turn(&re[k], &im[k], w[2 * k - 2], w[2 * k - 1]);
            }
#pragma GCC unroll 7
            for (int k = 0; k < r; k++)
                to[2 * s * k] = re[k], to[2 * s * k + 1] = im[k];
        }
}

/* A transform of n numbers that were 2 n real samples, one in front of the other, to the spectrum of these, numbers
 * 0 .. n; and back, with real and imaginary parts exchanged. ends: whether the first and the last have imaginary parts,
 * which else are taken for 0. */
#define SMP_FFT_HALVES(NAME, T)                                                                                        \
    SMP_INLINE void NAME##_halves(T *spectrum, const T *z, int64_t n, const float *roots)                              \
    {                                                                                                                  \
        for (int64_t k = 0, l = n; k <= l; k++, l--) {                                                                 \
            const int64_t m = l == n ? 0 : l;                                                                          \
            T kr = z[2 * k], ki = z[2 * k + 1], lr = z[2 * m], li = z[2 * m + 1];                                      \
            NAME##_split(&kr, &ki, &lr, &li, roots[2 * k], roots[2 * k + 1]);                                          \
            spectrum[2 * l] = lr, spectrum[2 * l + 1] = li;                                                            \
            spectrum[2 * k] = kr, spectrum[2 * k + 1] = ki;                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    SMP_INLINE void NAME##_whole(T *a, const T *spectrum, int64_t n, const float *roots, const int ends)               \
    {                                                                                                                  \
        const T zero = {0};                                                                                            \
        for (int64_t k = 0, l = n; k <= l; k++, l--) {                                                                 \
            T kr = spectrum[2 * k], ki = k || ends ? spectrum[2 * k + 1] : zero;                                       \
            T lr = spectrum[2 * l], li = k || ends ? spectrum[2 * l + 1] : zero;                                       \
            NAME##_merge(&kr, &ki, &lr, &li, roots[2 * k], roots[2 * k + 1]);                                          \
            if (k)                                                                                                     \
                a[2 * l] = li, a[2 * l + 1] = lr;                                                                      \
            a[2 * k] = ki, a[2 * k + 1] = kr;                                                                          \
        }                                                                                                              \
    }
SMP_FFT_HALVES(smp_fft1, float)
SMP_FFT_HALVES(smp_fftv, smp_fft_vec)

/* Transforms all lanes of `a`; b: as much memory. Returns where the result lies, a or b. */
SMP_INLINE smp_fft_vec *smp_fft_lanes(const smp_fft *f, const float *w, smp_fft_vec *a, smp_fft_vec *b)
{
    int64_t s = 1;
    for (int i = 0; i < f->passes; i++) {
        const int64_t r = f->radix[i], m = f->n / (s * r);
        if (r == 4)
            smp_fft_pass(a, b, w, 4, m, s);
        else if (r == 2)
            smp_fft_pass(a, b, w, 2, m, s);
        else if (r == 3)
            smp_fft_pass(a, b, w, 3, m, s);
        else if (r == 5)
            smp_fft_pass(a, b, w, 5, m, s);
        else
            smp_fft_pass(a, b, w, 7, m, s);
        w += 2 * (r - 1) * m;
        s *= r;
        smp_fft_vec *done = b;
        b = a, a = done;
    }
    return a;
}

/* The same for one transform of pairs of floats. */
SMP_INLINE float *smp_fft_one(const smp_fft *f, const float *w, float *a, float *b)
{
    int32_t s = 1;
    for (int i = 0; i < f->passes; i++) {
        const int r = f->radix[i];
        const int32_t m = f->n / (s * r);
        for (int32_t p = 0; p < m; p++)
            for (int32_t q = 0; q < s; q++) {
                float re[SMP_FFT_RADIX] = {0}, im[SMP_FFT_RADIX] = {0};
                for (int j = 0; j < r; j++)
                    re[j] = a[2 * (q + s * (p + m * j))], im[j] = a[2 * (q + s * (p + m * j)) + 1];
                smp_fft_butterfly(re, im, r, p, m, w);
                for (int k = 0; k < r; k++)
                    b[2 * (q + s * (r * p + k))] = re[k], b[2 * (q + s * (r * p + k)) + 1] = im[k];
            }
        w += 2 * (r - 1) * m;
        s *= r;
        float *done = b;
        b = a, a = done;
    }
    return a;
}

SMP_INLINE void smp_fft_turn_four(smp_fft_four *v)
{
#define SMP_FFT_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
    const smp_fft_four a = SMP_FFT_PICK(v[0], v[1], 0, 4, 1, 5), b = SMP_FFT_PICK(v[2], v[3], 0, 4, 1, 5);
    const smp_fft_four c = SMP_FFT_PICK(v[0], v[1], 2, 6, 3, 7), d = SMP_FFT_PICK(v[2], v[3], 2, 6, 3, 7);
    v[0] = SMP_FFT_PICK(a, b, 0, 1, 4, 5), v[1] = SMP_FFT_PICK(a, b, 2, 3, 6, 7);
    v[2] = SMP_FFT_PICK(c, d, 0, 1, 4, 5), v[3] = SMP_FFT_PICK(c, d, 2, 3, 6, 7);
#undef SMP_FFT_PICK
}

/* count floats of every lane, which lie end to end from `from + lane * pitch` on, to floats of lanes side by side; and
 * back. weights, if not null, scale the floats. */
SMP_INLINE void smp_fft_gather(float *restrict to, const float *restrict from, int64_t pitch, int64_t count,
                               const float *weights)
{
    for (int lane = 0; lane < SMP_FFT_LANES; lane += 4) {
        const float *row = from + lane * pitch;
        int64_t n = 0;
        for (; n + 4 <= count; n += 4) {
            smp_fft_four v[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                v[i] = *(const smp_fft_four *)(const void *)(row + i * pitch + n);
                if (weights)
                    v[i] = v[i] * *(const smp_fft_four *)(const void *)(weights + n);
            }
            smp_fft_turn_four(v);
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                *(smp_fft_four *)(void *)(to + (n + i) * SMP_FFT_LANES + lane) = v[i];
        }
        for (; n < count; n++)
            for (int i = 0; i < 4; i++)
                to[n * SMP_FFT_LANES + lane + i] = weights ? row[i * pitch + n] * weights[n] : row[i * pitch + n];
    }
}

SMP_INLINE void smp_fft_scatter(float *restrict to, int64_t pitch, const float *restrict from, int64_t count)
{
    for (int lane = 0; lane < SMP_FFT_LANES; lane += 4) {
        float *row = to + lane * pitch;
        int64_t n = 0;
        for (; n + 4 <= count; n += 4) {
            smp_fft_four v[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                v[i] = *(const smp_fft_four *)(const void *)(from + (n + i) * SMP_FFT_LANES + lane);
            smp_fft_turn_four(v);
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                *(smp_fft_four *)(void *)(row + i * pitch + n) = v[i];
        }
        for (; n < count; n++)
            for (int i = 0; i < 4; i++)
                row[i * pitch + n] = from[n * SMP_FFT_LANES + lane + i];
    }
}
