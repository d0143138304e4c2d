/* Fourier transforms on a CPU (lib/fft.h has the definition): several at once, one in each lane of a vector, so that
 * every radix and size takes whole vectors and no lanes are exchanged; and one at a time, as the definition says. */
#ifndef SMP_KERNELS_LIB_FFT_CPU_H
#define SMP_KERNELS_LIB_FFT_CPU_H

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
enum { SMP_FFT_BOTH = 25 };       /* numbers of two joined passes, at most */

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

/* Two passes, of radix r1 and then r2, as one: the r1 r2 numbers that depend on each other stay in the first-level
 * cache between them, so that memory is crossed once. The same operations on the same numbers. m: of the second pass.
 */
SMP_INLINE void smp_fft_two(const smp_fft_vec *restrict x, smp_fft_vec *restrict y, const float *w1, const float *w2,
                            const int r1, const int r2, int64_t m, int64_t s)
{
    for (int64_t p = 0; p < m; p++, w2 += 2 * (r2 - 1))
        for (int64_t q = 0; q < s; q++) {
            smp_fft_vec re[SMP_FFT_BOTH], im[SMP_FFT_BOTH];
#pragma GCC unroll 7
            for (int i = 0; i < r2; i++) {
                const float *w = w1 + 2 * (r1 - 1) * (p + m * i);
                const smp_fft_vec *from = x + 2 * (q + s * (p + m * i));
                smp_fft_vec ar[SMP_FFT_RADIX], ai[SMP_FFT_RADIX];
#pragma GCC unroll 7
                for (int j = 0; j < r1; j++)
                    ar[j] = from[2 * s * m * r2 * j], ai[j] = from[2 * s * m * r2 * j + 1];
                smp_fftv_points(ar, ai, r1);
#pragma GCC unroll 7
                for (int k = 1; k < r1; k++)
                    smp_fftv_turn(&ar[k], &ai[k], w[2 * k - 2], w[2 * k - 1]);
#pragma GCC unroll 7
                for (int k = 0; k < r1; k++)
                    re[k * r2 + i] = ar[k], im[k * r2 + i] = ai[k];
            }
#pragma GCC unroll 7
            for (int k = 0; k < r1; k++) {
                smp_fft_vec *to = y + 2 * (q + s * (k + r1 * r2 * p));
                smp_fftv_points(re + k * r2, im + k * r2, r2);
                if (m > 1) {
#pragma GCC unroll 7
                    for (int i = 1; i < r2; i++)
                        smp_fftv_turn(&re[k * r2 + i], &im[k * r2 + i], w2[2 * i - 2], w2[2 * i - 1]);
                }
#pragma GCC unroll 7
                for (int i = 0; i < r2; i++)
                    to[2 * s * r1 * i] = re[k * r2 + i], to[2 * s * r1 * i + 1] = im[k * r2 + i];
            }
        }
}

/* Radices of which two passes are joined. Radix 4 passes come first, 2 at most once, then 3 and 5. */
#define SMP_FFT_JOINED(J) J(4, 4) J(4, 2) J(4, 3) J(4, 5) J(3, 5) J(5, 5)

/* Passes from `i` on, as many as are joined: one or two; how many. */
static __attribute__((noinline, unused)) int smp_fft_step(const smp_fft *f, int i, const float *w,
                                                          const smp_fft_vec *from, smp_fft_vec *to, int64_t s)
{
    const int64_t r = f->radix[i], m = f->n / (s * r), next = i + 1 < f->passes ? f->radix[i + 1] : 0;
#define SMP_FFT_TRY(one, two)                                                                                          \
    if (r == one && next == two) {                                                                                     \
        smp_fft_two(from, to, w, w + 2 * (one - 1) * m, one, two, m / two, s);                                         \
        return 2;                                                                                                      \
    }
    SMP_FFT_JOINED(SMP_FFT_TRY)
#undef SMP_FFT_TRY
    if (r == 4)
        smp_fft_pass(from, to, w, 4, m, s);
    else if (r == 2)
        smp_fft_pass(from, to, w, 2, m, s);
    else if (r == 3)
        smp_fft_pass(from, to, w, 3, m, s);
    else if (r == 5)
        smp_fft_pass(from, to, w, 5, m, s);
    else
        smp_fft_pass(from, to, w, 7, m, s);
    return 1;
}

/* Transforms all lanes of `a`; b: as much memory. Returns where the result lies, a or b. */
SMP_INLINE smp_fft_vec *smp_fft_lanes(const smp_fft *f, const float *w, smp_fft_vec *a, smp_fft_vec *b)
{
    int64_t s = 1;
    for (int i = 0; i < f->passes;) {
        const int end = i + smp_fft_step(f, i, w, a, b, s);
        for (; i < end; i++) {
            w += 2 * (f->radix[i] - 1) * (f->n / (s * f->radix[i]));
            s *= f->radix[i];
        }
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

#endif
