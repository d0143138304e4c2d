/* The discrete Fourier transform, one written order of operations for every device.
 *
 * A transform of n = 2^a 3^b 5^c 7^d complex numbers is Stockham's: passes of radix 4, 2, 3, 5 and 7 from one memory
 * to another, sorted by themselves (Van Loan, "Computational Frameworks for the FFT", 1.7). Before a pass `s` is the
 * product of the radices done; the pass has radix r, m = n / (s r), and for p in 0 .. m-1, q in 0 .. s-1
 *
 *     a[j] = x[q + s (p + m j)],  b = the r-point transform of a,  y[q + s (r p + k)] = b[k] w[p][k]
 *
 * where w[p][k] = exp(-2 pi i p k / (r m)), made in double and rounded once; k = 0, and the last pass (m = 1), have no
 * factor. Sums and products are plain f32 operations in the order below: no fused ones, so that no device calls a
 * function for them. The inverse without its 1/n is the same with real and imaginary parts exchanged on both sides.
 *
 * A real sequence of n = 2 m numbers is a complex one of m: even samples are real parts, odd ones imaginary parts.
 * SMP_FFT_SPLIT makes twice its spectrum of that transform, SMP_FFT_MERGE goes back. */
#pragma once

#include "lib/view.h"

enum { SMP_FFT_PASSES = 24, SMP_FFT_RADIX = 7 /* the largest */, SMP_FFT_MOST = 1 << 20 };

typedef struct smp_fft {
    int32_t n, passes;
    uint8_t radix[SMP_FFT_PASSES];
} smp_fft;

/* A table has w of all passes, p by p, k = 1 .. r-1, as pairs of floats; then, for a real sequence of 2 n samples,
 * exp(-2 pi i k / (2 n)) for k = 0 .. n/2. Floats of the first part: */
SMP_HOST_DEVICE int64_t smp_fft_twiddles(const smp_fft *f)
{
    return 2 * ((int64_t)f->n - 1);
}

/* The operations on T, float or a vector of them: NAME2 .. NAME7 transform re[], im[] in place. */
#define SMP_FFT_OPERATIONS(FN, NAME, T)                                                                                \
    FN void NAME##2(T * re, T * im)                                                                                    \
    {                                                                                                                  \
        const T r = re[0] - re[1], i = im[0] - im[1];                                                                  \
        re[0] = re[0] + re[1], im[0] = im[0] + im[1];                                                                  \
        re[1] = r, im[1] = i;                                                                                          \
    }                                                                                                                  \
    FN void NAME##3(T * re, T * im)                                                                                    \
    {                                                                                                                  \
        const T tr = re[1] + re[2], ti = im[1] + im[2];                                                                \
        const T ur = (re[1] - re[2]) * 0.866025403784438647f, ui = (im[1] - im[2]) * 0.866025403784438647f;            \
        const T mr = re[0] - tr * 0.5f, mi = im[0] - ti * 0.5f;                                                        \
        re[0] = re[0] + tr, im[0] = im[0] + ti;                                                                        \
        re[1] = mr + ui, im[1] = mi - ur;                                                                              \
        re[2] = mr - ui, im[2] = mi + ur;                                                                              \
    }                                                                                                                  \
    FN void NAME##4(T * re, T * im)                                                                                    \
    {                                                                                                                  \
        const T ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];                        \
        const T cr = re[1] + re[3], ci = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];                        \
        re[0] = ar + cr, im[0] = ai + ci;                                                                              \
        re[1] = br + di, im[1] = bi - dr;                                                                              \
        re[2] = ar - cr, im[2] = ai - ci;                                                                              \
        re[3] = br - di, im[3] = bi + dr;                                                                              \
    }                                                                                                                  \
    FN void NAME##5(T * re, T * im)                                                                                    \
    {                                                                                                                  \
        const float c1 = 0.309016994374947424f, c2 = -0.809016994374947424f; /* cos 72 deg, cos 144 deg */             \
        const float s1 = 0.951056516295153572f, s2 = 0.587785252292473129f;  /* sin 72 deg, sin 144 deg */             \
        const T ar = re[1] + re[4], ai = im[1] + im[4], br = re[2] + re[3], bi = im[2] + im[3];                        \
        const T cr = re[1] - re[4], ci = im[1] - im[4], dr = re[2] - re[3], di = im[2] - im[3];                        \
        const T er = re[0] + (ar * c1 + br * c2), ei = im[0] + (ai * c1 + bi * c2);                                    \
        const T fr = re[0] + (ar * c2 + br * c1), fi = im[0] + (ai * c2 + bi * c1);                                    \
        const T gr = cr * s1 + dr * s2, gi = ci * s1 + di * s2;                                                        \
        const T hr = cr * s2 - dr * s1, hi = ci * s2 - di * s1;                                                        \
        re[0] = re[0] + (ar + br), im[0] = im[0] + (ai + bi);                                                          \
        re[1] = er + gi, im[1] = ei - gr;                                                                              \
        re[2] = fr + hi, im[2] = fi - hr;                                                                              \
        re[3] = fr - hi, im[3] = fi + hr;                                                                              \
        re[4] = er - gi, im[4] = ei + gr;                                                                              \
    }                                                                                                                  \
    FN void NAME##7(T * re, T * im)                                                                                    \
    {                                                                                                                  \
        const float c1 = 0.623489801858733531f, c2 = -0.222520933956314404f, c3 = -0.900968867902419126f;              \
        const float s1 = 0.781831482468029809f, s2 = 0.974927912181823607f, s3 = 0.433883739117558120f;                \
        const T ar = re[1] + re[6], ai = im[1] + im[6], ur = re[1] - re[6], ui = im[1] - im[6];                        \
        const T br = re[2] + re[5], bi = im[2] + im[5], vr = re[2] - re[5], vi = im[2] - im[5];                        \
        const T dr = re[3] + re[4], di = im[3] + im[4], wr = re[3] - re[4], wi = im[3] - im[4];                        \
        const T er = re[0] + (ar * c1 + br * c2 + dr * c3), ei = im[0] + (ai * c1 + bi * c2 + di * c3);                \
        const T fr = re[0] + (ar * c2 + br * c3 + dr * c1), fi = im[0] + (ai * c2 + bi * c3 + di * c1);                \
        const T gr = re[0] + (ar * c3 + br * c1 + dr * c2), gi = im[0] + (ai * c3 + bi * c1 + di * c2);                \
        const T hr = ur * s1 + vr * s2 + wr * s3, hi = ui * s1 + vi * s2 + wi * s3;                                    \
        const T kr = ur * s2 - vr * s3 - wr * s1, ki = ui * s2 - vi * s3 - wi * s1;                                    \
        const T lr = ur * s3 - vr * s1 + wr * s2, li = ui * s3 - vi * s1 + wi * s2;                                    \
        re[0] = re[0] + (ar + br + dr), im[0] = im[0] + (ai + bi + di);                                                \
        re[1] = er + hi, im[1] = ei - hr;                                                                              \
        re[2] = fr + ki, im[2] = fi - kr;                                                                              \
        re[3] = gr + li, im[3] = gi - lr;                                                                              \
        re[4] = gr - li, im[4] = gi + lr;                                                                              \
        re[5] = fr - ki, im[5] = fi + kr;                                                                              \
        re[6] = er - hi, im[6] = ei + hr;                                                                              \
    }                                                                                                                  \
    /* The r-point transform; r is a constant after inlining. */                                                       \
    FN void NAME##_points(T *re, T *im, const int r)                                                                   \
    {                                                                                                                  \
        if (r == 4)                                                                                                    \
            NAME##4(re, im);                                                                                           \
        else if (r == 2)                                                                                               \
            NAME##2(re, im);                                                                                           \
        else if (r == 3)                                                                                               \
            NAME##3(re, im);                                                                                           \
        else if (r == 5)                                                                                               \
            NAME##5(re, im);                                                                                           \
        else                                                                                                           \
            NAME##7(re, im);                                                                                           \
    }                                                                                                                  \
    FN void NAME##_turn(T *re, T *im, float wr, float wi)                                                              \
    {                                                                                                                  \
        const T r = *re * wr - *im * wi;                                                                               \
        *im = *re * wi + *im * wr;                                                                                     \
        *re = r;                                                                                                       \
    }                                                                                                                  \
    /* Numbers k and n - k of the transform, 0 <= k <= n/2, become twice those of the real sequence's spectrum         \
     * (number n of the transform is number 0); w: exp(-2 pi i k / (2 n)). */                                          \
    FN void NAME##_split(T *kr, T *ki, T *lr, T *li, float wr, float wi)                                               \
    {                                                                                                                  \
        const T er = *kr + *lr, ei = *ki - *li;                                                                        \
        T tr = *ki + *li, ti = *lr - *kr;                                                                              \
        NAME##_turn(&tr, &ti, wr, wi);                                                                                 \
        *kr = er + tr, *ki = ei + ti;                                                                                  \
        *lr = er - tr, *li = ti - ei;                                                                                  \
    }                                                                                                                  \
    /* Numbers k and n - k of a real sequence's spectrum become twice those of the transform. */                       \
    FN void NAME##_merge(T *kr, T *ki, T *lr, T *li, float wr, float wi)                                               \
    {                                                                                                                  \
        const T er = *kr + *lr, ei = *ki - *li;                                                                        \
        T tr = *kr - *lr, ti = *ki + *li;                                                                              \
        NAME##_turn(&tr, &ti, wr, -wi);                                                                                \
        *kr = er - ti, *ki = ei + tr;                                                                                  \
        *lr = er + ti, *li = tr - ei;                                                                                  \
    }

SMP_FFT_OPERATIONS(SMP_HOST_DEVICE, smp_fft1, float)

/* Butterfly i = p s + q of a pass of n / r: loads `a`, and where it goes is `to`, `to + s`, ... Shared by the devices
 * that compute one number at a time. w: the pass's table. */
SMP_HOST_DEVICE void smp_fft_butterfly(float *re, float *im, const int r, int32_t p, int32_t m, const float *w)
{
    smp_fft1_points(re, im, r);
    if (m > 1)
        for (int k = 1; k < r; k++)
            smp_fft1_turn(&re[k], &im[k], w[2 * (p * (r - 1) + k - 1)], w[2 * (p * (r - 1) + k - 1) + 1]);
}
