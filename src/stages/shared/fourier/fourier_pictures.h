/* Transforms of pictures (kernels/matmul/fourier.h): what fft, ifft and fftfilter share. */
#pragma once

#include "matmul/fourier.h"
#include "stages/stage.h"

/* The smallest number >= n without prime factors above 7; 0: none up to SMP_FFT_MOST. */
int64_t smp_fourier_above(int64_t n);

/* For plan(): sets width, height, bins, tables and the picture between the launches, of k->channels. real: rows are
 * samples, and numbers of half a row lie in it. squares: the table gets those too. */
smp_code smp_fourier_prepare(smp_fourier *k, int64_t width, int64_t height, bool real, bool squares,
                             smp_node_plan *work, smp_error *err);

extern const smp_variant smp_fourier_forward[];  /* fft */
extern const smp_variant smp_fourier_filtered[]; /* fftfilter */
extern const smp_variant smp_fourier_inverse[];  /* ifft */
