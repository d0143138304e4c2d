/* Fourier transforms on GPUs (lib/fft.h has the definition): all threads of a block work on one transform, a butterfly
 * each at a time. Neighbouring threads read neighbouring numbers; they write numbers r apart in the first pass, r times
 * r in the next, and so on: the strides that give bank conflicts. MEMORY says where number i lies. */
#ifndef SMP_KERNELS_LIB_FFT_CUH
#define SMP_KERNELS_LIB_FFT_CUH

#include "lib/fft.h"
#include "lib/gpu_kernel.h"

typedef smp_pack<float, 2> smp_number; /* real and imaginary part */

/* Numbers end to end. */
struct smp_fft_plain {
    smp_number *at;
    SMP_DEVICE_MEMBER smp_number *operator()(int i) const { return at + i; }
};

template <int R, typename FROM, typename TO>
SMP_DEVICE void smp_fft_pass(const FROM &from, const TO &to, const float *w, int n, int s)
{
    const int others = n / R, m = others / s;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < others; i += (int)blockDim.x) {
        const int p = i / s, q = i - p * s;
        float re[SMP_FFT_RADIX], im[SMP_FFT_RADIX];
        smp_converge();
#pragma unroll
        for (int j = 0; j < R; j++) {
            const smp_number v = *from(i + j * others);
            re[j] = v.v[0], im[j] = v.v[1];
        }
        smp_fft_butterfly(re, im, R, p, m, w);
#pragma unroll
        for (int k = 0; k < R; k++) {
            smp_number v;
            v.v[0] = re[k], v.v[1] = im[k];
            *to(q + s * (R * p + k)) = v;
        }
    }
}

/* Transforms `a`; b: as much memory. A barrier must have passed since `a` was written; one follows the last pass.
 * Returns true where the result lies in b. */
template <typename MEMORY>
SMP_DEVICE bool smp_fft_block(const smp_fft &f, const float *w, const MEMORY &a, const MEMORY &b)
{
    int s = 1;
#pragma unroll 1
    for (int pass = 0; pass < f.passes; pass++) {
        const int r = f.radix[pass];
        const MEMORY &from = pass % 2 ? b : a, &to = pass % 2 ? a : b;
        if (r == 4)
            smp_fft_pass<4>(from, to, w, f.n, s);
        else if (r == 2)
            smp_fft_pass<2>(from, to, w, f.n, s);
        else if (r == 3)
            smp_fft_pass<3>(from, to, w, f.n, s);
        else if (r == 5)
            smp_fft_pass<5>(from, to, w, f.n, s);
        else
            smp_fft_pass<7>(from, to, w, f.n, s);
        __syncthreads();
        w += 2 * (r - 1) * (f.n / (s * r));
        s *= r;
    }
    return f.passes % 2;
}

#endif
