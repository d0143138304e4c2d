/* Plans and tables of Fourier transforms: see fourier.h. */
#include "stages/shared/fourier/fourier.h"

#include <math.h>

#include "base/alloc.h"

static const double pi = 3.14159265358979323846;

bool smp_fourier_plan(int64_t n, smp_fft *f)
{
    static const uint8_t radices[] = {4, 2, 3, 5, 7};
    *f = (smp_fft){0};
    if (n < 1 || n > SMP_FFT_MOST)
        return false;
    f->n = (int32_t)n;
    for (int i = 0; i < 5; i++)
        for (; n % radices[i] == 0; n /= radices[i])
            f->radix[f->passes++] = radices[i];
    return n == 1;
}

int64_t smp_fourier_nearest(int64_t n)
{
    smp_fft f;
    for (int64_t away = 0; away < n; away++) /* a power of two lies on the way */
        for (int64_t side = 1; side >= -1; side -= 2)
            if (smp_fourier_plan(n + side * away, &f))
                return n + side * away;
    return 1;
}

int64_t smp_fourier_floats(const smp_fft *f, bool real)
{
    return smp_fft_twiddles(f) + (real ? 2 * ((int64_t)f->n / 2 + 1) : 0);
}

/* exp(-2 pi i k / n), exact where it is a whole quarter. */
static void put_root(float *to, int64_t k, int64_t n)
{
    const double turn = 2 * pi * (double)(k % n) / (double)n;
    const bool quarter = k % n * 4 % n == 0;
    to[0] = (float)(quarter ? rint(cos(turn)) : cos(turn));
    to[1] = (float)(quarter ? -rint(sin(turn)) : -sin(turn));
}

void smp_fourier_fill(const smp_fft *f, bool real, float *table)
{
    int64_t n = f->n;
    for (int i = 0; i < f->passes; n /= f->radix[i], i++)
        for (int64_t p = 0; p < n / f->radix[i]; p++)
            for (int64_t k = 1; k < f->radix[i]; k++, table += 2)
                put_root(table, p * k, n);
    for (int64_t k = 0; real && k <= f->n / 2; k++, table += 2)
        put_root(table, k, 2 * (int64_t)f->n);
}

bool smp_fourier_double(double *pairs, int64_t n)
{
    double *other = smp_alloc_array((size_t)n, 2 * sizeof *other), *x = pairs, *y = other;
    if (!other)
        return false;
    for (int64_t s = 1; s < n; s *= 2) {
        const int64_t m = n / (2 * s);
        for (int64_t p = 0; p < m; p++) {
            const double turn = pi * (double)p / (double)m, c = cos(turn), d = -sin(turn);
            for (int64_t q = 0; q < s; q++) {
                const double *a = x + 2 * (q + s * p), *b = a + 2 * s * m;
                double *to = y + 2 * (q + s * 2 * p);
                const double re = a[0] - b[0], im = a[1] - b[1];
                to[0] = a[0] + b[0], to[1] = a[1] + b[1];
                to[2 * s] = re * c - im * d, to[2 * s + 1] = re * d + im * c;
            }
        }
        double *done = y;
        y = x, x = done;
    }
    for (int64_t i = 0; x != pairs && i < 2 * n; i++)
        pairs[i] = x[i];
    smp_free(other);
    return true;
}
