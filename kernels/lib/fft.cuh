/* Fourier transforms on GPUs (lib/fft.h has the definition): all threads of a block work on one transform, a butterfly
 * each at a time. Neighbouring threads read neighbouring numbers; they write numbers r apart in the first pass, r times
 * r in the next, and so on: the strides that give bank conflicts. MEMORY says where number i lies. */
#pragma once

#include "lib/fft.h"
#include "lib/gpu_kernel.h"

typedef smp_pack<float, 2> smp_number; /* real and imaginary part */

/* Numbers end to end. */
struct smp_fft_plain {
    smp_number *at;
    SMP_DEVICE_MEMBER smp_number *operator()(int i) const { return at + i; }
};

/* One of two, chosen by their pointers. Of `second ? b : a`, which chooses among objects, nvcc does not see that both
 * lie in shared memory: it makes loads and stores of any memory (LD, ST), which take longer, and which counters of
 * shared instructions leave out. */
template <typename MEMORY> SMP_DEVICE MEMORY smp_fft_one_of(const MEMORY &a, const MEMORY &b, bool second)
{
    MEMORY one = a;
    one.at = second ? b.at : a.at;
    return one;
}

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
    MEMORY from = a, to = b; /* which change places: see smp_fft_one_of */
#pragma unroll 1
    for (int pass = 0; pass < f.passes; pass++) {
        const int r = f.radix[pass];
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
        const MEMORY was = from;
        from = to;
        to = was;
        w += 2 * (r - 1) * (f.n / (s * r));
        s *= r;
    }
    return f.passes % 2;
}
