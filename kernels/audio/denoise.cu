/* denoise on GPUs, in shared memory (audio/frames.cuh): a block of threads for `size` samples of the result, which
 * takes their frames there and back, one after the other. naive   numbers end to end. padded  a number more after every
 * sixteen: the transform's passes meet more banks. */
#include "audio/denoise.h"

#include "audio/overlap.cuh"

template <typename MEMORY>
SMP_DEVICE void denoise_gate(const smp_io &io, const smp_denoise &p, smp_number *shared, int numbers)
{
    const MEMORY a = {shared}, b = {shared + numbers};
    const float *const table = static_cast<const float *>(io.table);
    const int c = (int)blockIdx.y;
    const float *const thresholds = smp_denoise_thresholds(&p, table, c);
    const bool odd = p.f.fft.passes % 2;
    const MEMORY z = smp_fft_one_of(a, b, odd), spectrum = smp_fft_one_of(b, a, odd);
    smp_overlap_add(io, p.f, p.frames, p.gain, reinterpret_cast<float *>(shared + 2 * numbers), [&](int64_t t) {
        __syncthreads(); /* all threads are done with the frame before */
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
        return smp_fft_one_of(z, spectrum, other);
    });
}

/* A spectrum has one number more than a transform. */
SMP_FRAMES_GPU(denoise, smp_denoise, p.f.bins + 1, denoise_gate)
