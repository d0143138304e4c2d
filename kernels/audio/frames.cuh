/* Frames and their spectra on GPUs (audio/frames.h has the definition): a block of threads works on one frame, in
 * shared memory. Numbers lie end to end, or with one more after every sixteen, so that the first passes of a transform
 * meet more banks. */
#pragma once

#include "audio/frames.h"
#include "lib/fft.cuh"

struct smp_frames_padded {
    smp_number *at;
    SMP_DEVICE_MEMBER smp_number *operator()(int i) const { return at + i + i / 16; }
};

/* put(k, re, im) for every number of frame t's spectrum, by any thread. No barrier precedes or follows: other threads
 * must be done with a and b. */
template <typename MEMORY, typename PUT>
SMP_DEVICE void smp_frames_block(const smp_frames &f, const float *table, const smp_view &in, int channel, int64_t t,
                                 const MEMORY &a, const MEMORY &b, const PUT &put)
{
    const float *w = table + f.size, *roots = w + smp_fft_twiddles(&f.fft);
    const int me = (int)threadIdx.x, threads = (int)blockDim.x;
    for (int i = me; i < f.bins; i += threads) {
        smp_number v;
#pragma unroll
        for (int k = 0; k < 2; k++)
            v.v[k] = smp_frames_sample(&f, &in, smp_frames_first(&f, t) + 2 * i + k, channel) * table[2 * i + k];
        smp_converge();
        *a(i) = v;
    }
    __syncthreads();
    if (!f.fft.n) {
        for (int k = me; k <= f.bins; k += threads) {
            float re = 0.f, im = 0.f;
            smp_converge();
            for (int n = 0, at = 0; n < f.bins; n++) {
                const smp_number v = *a(n);
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    re = re + v.v[i] * w[2 * at];
                    im = im + v.v[i] * w[2 * at + 1];
                    at = smp_frames_turn(at, k, f.size);
                }
            }
            put(k, re + re, im + im);
        }
        return;
    }
    const MEMORY z = smp_fft_one_of(a, b, smp_fft_block(f.fft, w, a, b));
    for (int k = me; k <= f.bins - k; k += threads) {
        const int l = f.bins - k;
        smp_converge();
        smp_number u = *z(k), v = *z(l % f.bins);
        smp_fft1_split(&u.v[0], &u.v[1], &v.v[0], &v.v[1], roots[2 * k], roots[2 * k + 1]);
        put(k, u.v[0], u.v[1]);
        if (k != l)
            put(l, v.v[0], v.v[1]);
    }
}

/* The samples, times 2 size, of a spectrum, of which number(k) is number k; true where they lie in b: sample n at
 * smp_frames_sample_of. The transform is the forward one with real and imaginary parts exchanged. number may read b; a
 * barrier must have passed since other threads wrote what it reads and read a. One follows the last pass. */
template <typename MEMORY, typename NUMBER>
SMP_DEVICE bool smp_frames_back(const smp_frames &f, const float *table, const NUMBER &number, const MEMORY &a,
                                const MEMORY &b)
{
    const float *w = table + f.size, *roots = w + smp_fft_twiddles(&f.fft);
    for (int k = (int)threadIdx.x; k <= f.bins - k; k += (int)blockDim.x) {
        const int l = f.bins - k;
        smp_converge();
        const smp_number u = number(k), v = number(l);
        float kr = u.v[0], ki = k ? u.v[1] : 0.f, lr = v.v[0], li = k ? v.v[1] : 0.f;
        smp_fft1_merge(&kr, &ki, &lr, &li, roots[2 * k], roots[2 * k + 1]);
        smp_number to;
        if (k) {
            to.v[0] = li, to.v[1] = lr;
            *a(l) = to;
        }
        if (k != l || !k) {
            to.v[0] = ki, to.v[1] = kr;
            *a(k) = to;
        }
    }
    __syncthreads();
    return smp_fft_block(f.fft, w, a, b);
}

template <typename MEMORY> SMP_DEVICE float smp_frames_sample_of(const MEMORY &z, int n)
{
    const smp_number v = *z(n / 2);
    return n % 2 ? v.v[0] : v.v[1];
}

/* A kernel of a function body(io, p, shared, numbers): dynamic shared memory holds two memories of `numbers`. */
#define SMP_FRAMES_KERNEL(name, type, numbers, ...)                                                                    \
    SMP_KERNEL(name, type, io, p)                                                                                      \
    {                                                                                                                  \
        SMP_SMEM_DYNAMIC(smp_number, s);                                                                               \
        __VA_ARGS__(io, p, s, numbers);                                                                                \
    }
#define SMP_FRAMES_PADDED (p.f.bins + p.f.bins / 16 + 1) /* numbers */

/* NAME_naive and NAME_padded of body<MEMORY>. */
#define SMP_FRAMES_GPU(NAME, type, numbers, body)                                                                      \
    SMP_FRAMES_KERNEL(NAME##_naive_f32_f32, type, numbers, body<smp_fft_plain>)                                        \
    SMP_FRAMES_KERNEL(NAME##_padded_f32_f32, type, SMP_FRAMES_PADDED, body<smp_frames_padded>)
