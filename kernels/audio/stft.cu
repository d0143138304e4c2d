/* stft and istft on GPUs: a block of threads for a frame, or for `size` samples of the result, whose frames it turns
 * back one after the other; in shared memory (audio/frames.cuh).
 *   naive   numbers end to end.
 *   padded  a number more after every sixteen: the transform's passes meet more banks. */
#include "audio/stft.h"

#include "audio/overlap.cuh"

/* Geometry: a block for each row (x) and channel of the sound (y). */
template <typename MEMORY>
SMP_DEVICE void stft_rows(const smp_io &io, const smp_stft &p, smp_number *shared, int numbers)
{
    const MEMORY a = {shared}, b = {shared + numbers};
    const int c = (int)blockIdx.y, channels = io.in.channels;
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t t = io.out.y0 + blockIdx.x; t < end; t += gridDim.x) {
        float *const to = smp_out<float>(io.out, t) + 2 * c;
        __syncthreads(); /* all threads are done with the frame before */
        smp_frames_block(p.f, static_cast<const float *>(io.table), io.in, c, t, a, b, [=](int k, float re, float im) {
            to[2 * k * channels] = smp_one_nan(re);
            to[2 * k * channels + 1] = smp_one_nan(im);
        });
    }
}

template <typename MEMORY>
SMP_DEVICE void istft_samples(const smp_io &io, const smp_stft &p, smp_number *shared, int numbers)
{
    const MEMORY a = {shared}, b = {shared + numbers};
    const int c = (int)blockIdx.y, channels = io.out.channels;
    smp_overlap_add(io, p.f, p.frames, p.gain, reinterpret_cast<float *>(shared + 2 * numbers), [&](int64_t t) {
        const float *const from = smp_in<float>(io.in, t) + 2 * c;
        __syncthreads(); /* all threads are done with the frame before */
        const bool other = smp_frames_back(
            p.f, static_cast<const float *>(io.table),
            [=](int k) {
                smp_number v;
                v.v[0] = from[2 * k * channels], v.v[1] = from[2 * k * channels + 1];
                return v;
            },
            a, b);
        return smp_fft_one_of(a, b, other);
    });
}

SMP_FRAMES_GPU(stft, smp_stft, p.f.bins, stft_rows)
SMP_FRAMES_GPU(istft, smp_stft, p.f.bins, istft_samples)
