/* The mask of sharpen behind the fused blur of gaussian_warp.cuh. The sharp sample comes from the row that the strip
 * passed R rows ago and that is still in shared memory: one access of a lane's whole pack. bytes  a difference and the
 * mask are four or five instructions; a sum with 1.5 * 2^23 rounds and leaves an integer in the low 16 bits (amounts up
 * to SMP_SHARPEN_WARP_AMOUNT fit), which two samples an instruction clamp to 0..255. f32    the definition's mask. */
#pragma once

#include "gaussian/gaussian_warp.cuh"
#include "gaussian/sharpen.h"

template <typename T, int R, int C> struct sharpen_mask;

template <int R, int C> struct sharpen_mask<uint8_t, R, C> {
    static constexpr int V = gaussian_lane<uint8_t, uint8_t, R>();
    static constexpr bool SHARP = true;
    typedef typename gaussian_format<uint8_t, V>::pack pack;
    const float amount, threshold;
    const unsigned base; /* 2^23 */
    const bool counts;
    unsigned clipped;

    SMP_DEVICE_MEMBER sharpen_mask(const smp_io &io, const smp_sharpen &p)
        : amount(strip_opaque(io, p.amount)), threshold(p.threshold * io.in.white), base(strip_opaque(io, 0x4b000000u)),
          counts(io.clipped != nullptr), clipped(0)
    {
    }
    SMP_DEVICE_MEMBER pack operator()(float *blurred, const pack &sharp, int n)
    {
        unsigned pairs[V / 2], some = 0;
        pack result;
#pragma unroll
        for (int i = 0; i < V; i++) {
            const float v = __uint_as_float(__byte_perm(sharp.v[i / 4], base, 0x7540 | (i & 3))) - 8388608.f;
            blurred[i] = smp_sharpen_mask(v, blurred[i], amount, threshold);
        }
#pragma unroll
        for (int i = 0; i < V / 2; i++) {
            pairs[i] = __byte_perm(__float_as_uint(blurred[2 * i] + 12582912.f),
                                   __float_as_uint(blurred[2 * i + 1] + 12582912.f), 0x5410);
            some |= pairs[i];
        }
        if (counts && some & 0xff00ff00)
#pragma unroll
            for (int i = 0; i < V; i++)
                if (i < n)
                    clipped += smp_clipped<uint8_t>(blurred[i]);
#pragma unroll
        for (int i = 0; i < V / 4; i++)
            result.v[i] = __byte_perm(__vimin_s16x2_relu(pairs[2 * i], 0x00ff00ff),
                                      __vimin_s16x2_relu(pairs[2 * i + 1], 0x00ff00ff), 0x6420);
        return result;
    }
};

template <int R, int C> struct sharpen_mask<float, R, C> {
    static constexpr int V = gaussian_lane<float, float, R>();
    static constexpr bool SHARP = true;
    typedef gaussian_stored<float, V> stored;
    typedef typename stored::pack pack;
    const float amount, threshold;
    unsigned clipped;

    SMP_DEVICE_MEMBER sharpen_mask(const smp_io &io, const smp_sharpen &p)
        : amount(strip_opaque(io, p.amount)), threshold(p.threshold * io.in.white), clipped(0)
    {
    }
    SMP_DEVICE_MEMBER pack operator()(float *blurred, const pack &sharp, int)
    {
#pragma unroll
        for (int i = 0; i < V; i++) {
            const float v = __uint_as_float(sharp.v[i]);
            blurred[i] = stored::finish(smp_sharpen_mask(v, blurred[i], amount, threshold));
        }
        return stored::packed(blurred);
    }
};

template <typename T, int R, int C> SMP_DEVICE void sharpen_column_walk(const smp_io &io, const smp_sharpen &p)
{
    sharpen_mask<T, R, C> mask(io, p);
    gaussian_column_walk<T, T, R, C>(io, p.blur, mask);
    smp_count_clipped<T>(io, mask.clipped);
}
