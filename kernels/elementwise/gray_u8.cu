/* Gray from three bytes a pixel on GPUs, for weights that cannot clip (smp_channel_mix_gray()).
 *
 * A warp takes 512 pixels. Three asynchronous copies of 16 bytes a lane bring them into the warp's own part of shared
 * memory. There each lane reads 16 whole pixels, 48 bytes, at a distance without bank conflicts, and stores 16 bytes.
 * No block barrier is needed.
 *
 * A byte extended by zeros is the denormal float byte * 2^-149, which FFMA takes at full speed: conversion is one byte
 * permute. The weights carry 2^126, so that the sums are those of the definition times 2^-23, rounded alike. One fmaf
 * that multiplies by 2^23 and adds 2^23 rounds a sum and leaves the byte in the low bits. A pixel takes three permutes,
 * three multiplications, one rounding and three quarters of a permute to pack. */
#include "elementwise/channel_mix.h"
#include "lib/elementwise.cuh"

enum { GRAY_LANE = SMP_GRAY_PIECE / 32 }; /* pixels */

struct gray_pieces {
    uint4 v[SMP_GRAY_WARPS][3 * GRAY_LANE * 32 / 16];
};

/* Four pixels, three words. */
SMP_DEVICE unsigned gray_word(const unsigned *words, const float *w, float first)
{
    unsigned bits[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float v = first;
#pragma unroll
        for (int c = 0; c < 3; c++)
            v = fmaf(w[c], __uint_as_float(__byte_perm(words[(3 * i + c) / 4], 0, 0x4440 | ((3 * i + c) & 3))), v);
        bits[i] = __float_as_uint(fmaf(v, 8388608.f, 8388608.f));
    }
    return __byte_perm(__byte_perm(bits[0], bits[1], 0x0040), __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
}

SMP_KERNEL_BOUNDS(32 * SMP_GRAY_WARPS, SMP_GRAY_BLOCKS, channel_mix_gray_u8_u8, smp_channel_mix, io, p)
{
    SMP_SHARED(gray_pieces, s);
    const smp_span span = smp_span_of<uint8_t, uint8_t>(io);
    const int lane = (int)threadIdx.x % 32, beside = (int)blockDim.x / 32, warp = (int)threadIdx.x / 32;
    const float w[3] = {p.weight[0][0] * 0x1p126f, p.weight[0][1] * 0x1p126f, p.weight[0][2] * 0x1p126f};
    const float first = p.constant[0] * io.in.white * 0x1p-23f;
    uint4 *const own = s.v[(int)threadIdx.y * beside + warp];
    for (int64_t row = blockIdx.y * blockDim.y + threadIdx.y; row < span.rows; row += gridDim.y * blockDim.y) {
        const uint8_t *const in = smp_in<uint8_t>(io.in, io.out.y0 + row);
        uint8_t *const out = smp_out<uint8_t>(io.out, io.out.y0 + row);
        const bool aligned = ((uintptr_t)in | (uintptr_t)out) % 16 == 0;
        for (int64_t x = ((int64_t)blockIdx.x * beside + warp) * SMP_GRAY_PIECE; x < span.n;
             x += (int64_t)gridDim.x * beside * SMP_GRAY_PIECE) {
            const int n = span.n - x < SMP_GRAY_PIECE ? (int)(span.n - x) : SMP_GRAY_PIECE;
            const int full = aligned ? n / GRAY_LANE : 0; /* lanes that have all their pixels */
#pragma unroll
            for (int k = 0; k < 3; k++)
                if (lane + 32 * k < 3 * full)
                    smp_copy_async<16>(own + lane + 32 * k, in + 3 * x + 16 * (lane + 32 * k));
            smp_copy_commit();
            smp_copy_wait<0>();
            __syncwarp();
            if (lane < full) {
                unsigned words[12];
#pragma unroll
                for (int k = 0; k < 3; k++) {
                    const uint4 v = own[3 * lane + k];
                    words[4 * k] = v.x, words[4 * k + 1] = v.y, words[4 * k + 2] = v.z, words[4 * k + 3] = v.w;
                }
                reinterpret_cast<uint4 *>(out + x)[lane] =
                    make_uint4(gray_word(words, w, first), gray_word(words + 3, w, first),
                               gray_word(words + 6, w, first), gray_word(words + 9, w, first));
            }
            __syncwarp();
#pragma unroll 1
            for (int i = full * GRAY_LANE + lane; i < n; i += 32) {
                const uint8_t *const from = in + 3 * (x + i);
                const float v[3] = {smp_value(from[0]), smp_value(from[1]), smp_value(from[2])};
                out[x + i] = smp_rounded<uint8_t>(smp_channel_mix_pixel(smp_pixel{v, 1, 3, 3, 0.f}, 0, &io, &p));
            }
        }
    }
}
