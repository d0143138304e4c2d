/* denoise on GPUs, in shared memory (audio/frames.cuh): a block of threads for `size` samples of the result, which
 * takes their frames there and back, one after the other. naive   numbers end to end. padded  a number more after every
 * sixteen: the transform's passes meet more banks. */
#include "audio/denoise.h"

#include "audio/frames.cuh"

/* Geometry: a block for each `size` samples (x) and channel (y); dynamic shared memory for their sums too. */
template <typename MEMORY>
SMP_DEVICE void denoise_gate(const smp_io &io, const smp_denoise &p, smp_number *shared, int numbers)
{
    const MEMORY a = {shared}, b = {shared + numbers};
    float *const sums = reinterpret_cast<float *>(shared + 2 * numbers);
    const float *const table = static_cast<const float *>(io.table);
    const int me = (int)threadIdx.x, threads = (int)blockDim.x, c = (int)blockIdx.y;
    const float *const thresholds = smp_denoise_thresholds(&p, table, c);
    const MEMORY z = p.f.fft.passes % 2 ? b : a, spectrum = p.f.fft.passes % 2 ? a : b;
    const int64_t last = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + (int64_t)blockIdx.x * p.f.size; y < last; y += (int64_t)gridDim.x * p.f.size) {
        const int n = (int)min((int64_t)p.f.size, last - y);
        int64_t t, end;
        for (int i = me; i < n; i += threads)
            sums[i] = 0.f;
        smp_stft_holding(&p.f, p.frames, y, y + n, &t, &end);
        for (; t < end; t++) {
            const int at = (int)(smp_frames_first(&p.f, t) - y); /* of the frame among the samples */
            __syncthreads();                                     /* all threads are done with the frame before */
            smp_frames_block(p.f, table, io.in, c, t, a, b, [=](int k, float re, float im) {
                smp_number v;
                v.v[0] = re, v.v[1] = im;
                *spectrum(k) = v;
            });
            __syncthreads();
            const bool other = smp_frames_back(
                p.f, table,
                [=](int k) {
                    float open = 0.f, own = 0.f;
                    for (int i = -SMP_DENOISE_SIDE; i <= SMP_DENOISE_SIDE; i++) {
                        const int beside = smp_denoise_beside(&p, k, i);
                        const smp_number v = *spectrum(beside);
                        const float one = v.v[0] * v.v[0] + v.v[1] * v.v[1] > thresholds[beside] ? 1.f : 0.f;
                        open = open + one;
                        own = i ? own : one;
                    }
                    const float factor = smp_denoise_factor(&p, own, open);
                    smp_number v = *spectrum(k);
                    v.v[0] = v.v[0] * factor, v.v[1] = v.v[1] * factor;
                    return v;
                },
                z, spectrum);
            const MEMORY x = other ? spectrum : z;
            for (int i = me; i < n; i += threads) {
                smp_converge();
                if (i >= at && i < at + p.f.size)
                    sums[i] = sums[i] + smp_frames_sample_of(x, i - at) * table[i - at];
            }
        }
        for (int i = me; i < n; i += threads) { /* a thread's own sums */
            smp_converge();
            smp_out<float>(io.out, y + i)[c] = smp_stft_sample(&p.f, table, p.frames, p.gain, sums[i], y + i);
        }
    }
}

/* A spectrum has one number more than a transform. */
#define DENOISE(name, body, MEMORY, numbers)                                                                           \
    SMP_KERNEL(name##_f32_f32, smp_denoise, io, p)                                                                     \
    {                                                                                                                  \
        SMP_SMEM_DYNAMIC(smp_number, s);                                                                               \
        body<MEMORY>(io, p, s, numbers);                                                                               \
    }
DENOISE(denoise_naive, denoise_gate, smp_fft_plain, p.f.bins + 1)
DENOISE(denoise_padded, denoise_gate, smp_frames_padded, p.f.bins + p.f.bins / 16 + 1)
