/* fir by Fourier transforms on GPUs (fir.h has the definition): a block of threads computes a block of frames of a
 * channel, with both memories of the transform in shared memory (32 KB). Every part's segment is transformed anew,
 * which costs less than to keep spectra in device memory. Sums over the parts stay in registers. */
#include "audio/fir.h"
#include "lib/fft.cuh"

enum {
    FIR_HALF = SMP_FIR_STEP, /* numbers of a transform */
    FIR_PAIRS = FIR_HALF / 2 / SMP_FIR_FFT_THREADS + 1
};
static_assert(FIR_HALF / 2 % SMP_FIR_FFT_THREADS == 0, "the last pair is one thread's");
static_assert(FIR_HALF / 4 % SMP_FIR_FFT_THREADS == 0, "the first pass reads what its thread has loaded");

struct fir_memory {
    smp_number a[FIR_HALF], b[FIR_HALF];
};

SMP_DEVICE void fir_add_product(smp_number &sum, float xr, float xi, const float *h)
{
    sum.v[0] = sum.v[0] + (xr * h[0] - xi * h[1]);
    sum.v[1] = sum.v[1] + (xr * h[1] + xi * h[0]);
}

/* Geometry: a block of threads for each block of frames (x) and channel (y). */
SMP_KERNEL_BOUNDS(SMP_FIR_FFT_THREADS, 4, fir_fft_f32_f32, smp_fir, io, p)
{
    SMP_SHARED(fir_memory, s);
    const smp_fft_plain a = {s.a}, b = {s.b};
    const float *w = static_cast<const float *>(io.table), *roots = smp_fir_roots(&io, &p);
    const int me = (int)threadIdx.x, c = (int)blockIdx.y;
    const float *spectra = smp_fir_spectra(&io, &p, c);
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t block = io.out.y0 / SMP_FIR_STEP + blockIdx.x; block * SMP_FIR_STEP < end; block += gridDim.x) {
        smp_number sum[FIR_PAIRS][2];
#pragma unroll
        for (int i = 0; i < FIR_PAIRS; i++)
            sum[i][0].v[0] = sum[i][0].v[1] = sum[i][1].v[0] = sum[i][1].v[1] = 0.f;
        for (int part = 0; part < p.parts; part++) {
            const int64_t first = smp_fir_segment(&p, block - part);
            const float *h = spectra + (int64_t)part * SMP_FIR_SPECTRUM;
            __syncthreads(); /* all threads are done with the numbers before */
            for (int i = me; i < FIR_HALF; i += SMP_FIR_FFT_THREADS) {
                smp_number v;
                v.v[0] = smp_frame_at(&io.in, first + 2 * i, c), v.v[1] = smp_frame_at(&io.in, first + 2 * i + 1, c);
                *a(i) = v;
            } /* no wait: the first pass reads numbers a multiple of the threads apart, which its thread has loaded */
            const smp_fft_plain z = smp_fft_one_of(a, b, smp_fft_block(p.fft, w, a, b));
#pragma unroll
            for (int i = 0; i < FIR_PAIRS; i++) {
                const int k = me + i * SMP_FIR_FFT_THREADS, l = FIR_HALF - k;
                if (k > l)
                    continue;
                smp_number x = *z(k), y = *z(l % FIR_HALF);
                smp_fft1_split(&x.v[0], &x.v[1], &y.v[0], &y.v[1], roots[2 * k], roots[2 * k + 1]);
                fir_add_product(sum[i][0], x.v[0], x.v[1], h + 2 * k);
                fir_add_product(sum[i][1], y.v[0], y.v[1], h + 2 * l);
            }
        }
        /* no wait: a thread writes over the numbers that it alone has just read */
#pragma unroll
        for (int i = 0; i < FIR_PAIRS; i++) {
            const int k = me + i * SMP_FIR_FFT_THREADS, l = FIR_HALF - k;
            if (k > l)
                continue;
            smp_number x = sum[i][0], y = k == l ? x : sum[i][1], back;
            smp_fft1_merge(&x.v[0], &x.v[1], &y.v[0], &y.v[1], roots[2 * k], roots[2 * k + 1]);
            back.v[0] = x.v[1], back.v[1] = x.v[0];
            *a(k) = back;
            back.v[0] = y.v[1], back.v[1] = y.v[0];
            if (k && k != l)
                *a(l) = back;
        }
        __syncthreads();
        const smp_fft_plain z = smp_fft_one_of(a, b, smp_fft_block(p.fft, w, a, b));
        for (int i = me; i < SMP_FIR_STEP / 2; i += SMP_FIR_FFT_THREADS) {
            const int64_t y = block * SMP_FIR_STEP + 2 * i;
            const smp_number v = *z((SMP_FIR_SEGMENT - SMP_FIR_STEP) / 2 + i);
            if (y >= io.out.y0 && y < end) /* real parts, exchanged, are the even samples */
                smp_out<float>(io.out, y)[c] = smp_one_nan(v.v[1]);
            if (y + 1 >= io.out.y0 && y + 1 < end)
                smp_out<float>(io.out, y + 1)[c] = smp_one_nan(v.v[0]);
        }
    }
}
