/* Plans and tables of Fourier transforms (kernels/lib/fft.h), made in double on the host. */
#pragma once

#include <stdbool.h>

#include "lib/fft.h"

/* The passes of a transform of n numbers; false where n has a prime factor above 7, or is not 1 .. SMP_FFT_MOST. */
bool smp_fourier_plan(int64_t n, smp_fft *f);

/* The number nearest to n that has a plan, of two the larger one; n: 1 .. SMP_FFT_MOST. */
int64_t smp_fourier_nearest(int64_t n);

/* Floats of the table of a transform; real: with the part that real sequences need (kernels/lib/fft.h). */
int64_t smp_fourier_floats(const smp_fft *f, bool real);
void smp_fourier_fill(const smp_fft *f, bool real, float *table);

/* The transform of n pairs of doubles, in place, a power of 2; for tables. false: no memory. */
bool smp_fourier_double(double *pairs, int64_t n);
