/* sobel and laplacian on GPUs.
 *   naive  nine global reads for a result, through the border rule. Caches serve most of them; the limit is the
 *          instructions that find and load nine samples, far below memory bandwidth.
 *   tiled  a tile with its halo in shared memory, as f32 code values; each sample is fetched once a tile. A thread
 *          makes four samples in four rows: it reads three float4s of each of six rows, keeps three rows in registers
 *          and stores float4s. Neighbouring lanes read neighbouring float4s: no conflicts. The distance of the
 *          neighbours, the channels, is a constant of the kernel up to 4; beyond, single samples are read, four lanes a
 *          bank, which the conflict count shows.
 *   warp   sobel of u8 and f32 with 1, 3 or 4 channels, none of them alpha (sobel_warp.cu): 13 instructions a u8 sample
 *          instead of 101. The others as tiled. */
#include "stencil/sobel.h"

#include "stencil/stencil.cuh"

template <typename IN, typename OUT> SMP_DEVICE void sobel_naive(const smp_io &io, const smp_sobel &g)
{
    const float outside = smp_outside(g.edge, g.fill, io.in.white);
    const int alpha = stencil_alpha(io.in);
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        float p[9];
        if (alpha >= 0 && stencil_channel(io.in, i) == alpha)
            return smp_value(smp_in<IN>(io.in, y)[i]);
        for (int k = 0; k < 9; k++)
            p[k] = stencil_at<IN>(io.in, i + (k % 3 - 1) * io.in.channels, y + k / 3 - 1, g.edge, outside);
        return smp_sobel_at(p, g.output);
    });
}
SMP_KERNEL_FORMATS(sobel_naive, smp_sobel)

enum { SOBEL_HALO = 8 }; /* samples of halo: at least the channels, whole float4s */

struct sobel_tile {
    float v[SMP_SOBEL_DOWN + 2][SMP_SOBEL_ACROSS + 2 * SOBEL_HALO];
};

/* A float4 with its left and right neighbours. */
struct sobel_three {
    float left[4], middle[4], right[4];
};

/* The last C samples of the float4 before `at`, and the first C of the one after it. One or two channels load no more:
 * nvcc would drop the rest anyway; written out, the emulator counts the same accesses. */
template <int C> SMP_DEVICE void sobel_neighbours(const float *at, float (&before)[4], float (&after)[4])
{
    constexpr int N = C < 3 ? C : 4;
    typedef smp_pack<float, N> pack;
    const pack last = *reinterpret_cast<const pack *>(at - N), first = *reinterpret_cast<const pack *>(at + 4);
#pragma unroll
    for (int q = 0; q < N; q++) {
        before[4 - N + q] = last.v[q];
        after[q] = first.v[q];
    }
}

/* C: channels, or 0 when they are not constant. sides: left and right are needed. */
template <int C> SMP_DEVICE sobel_three sobel_read(const float *at, int channels, bool sides = true)
{
    sobel_three three;
    const stencil_float4 middle = stencil_load4(at);
    if constexpr (C > 0) {
        float all[12], before[4] = {0, 0, 0, 0}, after[4] = {0, 0, 0, 0};
        if (sides)
            sobel_neighbours<C>(at, before, after);
#pragma unroll
        for (int q = 0; q < 4; q++) {
            all[q] = before[q];
            all[4 + q] = middle.v[q];
            all[8 + q] = after[q];
        }
#pragma unroll
        for (int q = 0; q < 4; q++) {
            three.left[q] = all[4 - C + q];
            three.middle[q] = middle.v[q];
            three.right[q] = all[4 + C + q];
        }
        (void)channels;
    } else {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            three.left[q] = at[q - channels];
            three.middle[q] = middle.v[q];
            three.right[q] = at[q + channels];
        }
    }
    return three;
}

SMP_DEVICE stencil_float4 sobel_float4(const sobel_three &a, const sobel_three &b, const sobel_three &c, int output,
                                       int alpha, int channel, int channels)
{
    stencil_float4 four;
#pragma unroll
    for (int q = 0; q < 4; q++) {
        const float p[9] = {a.left[q],  a.middle[q], a.right[q],  b.left[q], b.middle[q],
                            b.right[q], c.left[q],   c.middle[q], c.right[q]};
        four.v[q] = channel == alpha ? b.middle[q] : smp_sobel_at(p, output);
        channel = channel + 1 < channels ? channel + 1 : 0;
    }
    return four;
}

/* Grid: smp_sobel_tiled(). */
template <typename IN, typename OUT, int C> SMP_DEVICE void sobel_tile_each(const smp_io &io, const smp_sobel &g)
{
    SMP_SHARED(sobel_tile, s);
    const float outside = smp_outside(g.edge, g.fill, io.in.white);
    const int channels = C ? C : io.in.channels, mine = 4 * (int)threadIdx.y;
    const int64_t x0 = (int64_t)blockIdx.x * SMP_SOBEL_ACROSS, x = x0 + 4 * threadIdx.x;
    const int64_t end = io.out.y0 + io.out.rows;
    const int alpha = stencil_alpha(io.in), channel = alpha < 0 ? 0 : stencil_channel(io.in, x);
    unsigned clipped = 0;
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_SOBEL_DOWN; top < end; top += gridDim.y * SMP_SOBEL_DOWN) {
        const int down = end - top < SMP_SOBEL_DOWN ? (int)(end - top) : SMP_SOBEL_DOWN;
        for (int j = (int)threadIdx.y; j < down + 2; j += (int)blockDim.y)
            stencil_bring<IN>(s.v[j], io.in, top - 1 + j, x0 - SOBEL_HALO, SMP_SOBEL_ACROSS + 2 * SOBEL_HALO,
                              (int)threadIdx.x, 32, g.edge, outside);
        __syncthreads();
        if (mine < down && x < stencil_samples(io.out)) {
            const float *at = s.v[mine] + SOBEL_HALO + 4 * threadIdx.x;
            constexpr int PITCH = SMP_SOBEL_ACROSS + 2 * SOBEL_HALO;
            const bool corners = C != 1 || g.output != SMP_LAPLACE_4;
            sobel_three a = sobel_read<C>(at, channels, corners), b = sobel_read<C>(at + PITCH, channels);
#pragma unroll
            for (int q = 0; q < 4; q++)
                if (mine + q < down) {
                    const sobel_three c = sobel_read<C>(at + (q + 2) * PITCH, channels, q < 3 || corners);
                    stencil_put4(io, smp_out<OUT>(io.out, top + mine + q), x,
                                 sobel_float4(a, b, c, g.output, alpha, channel, channels), &clipped);
                    a = b;
                    b = c;
                }
        }
        __syncthreads();
    }
    smp_count_clipped<OUT>(io, clipped);
}

#define SOBEL_TILED(C)                                                                                                 \
    template <typename IN, typename OUT> SMP_DEVICE void sobel_tiled##C(const smp_io &io, const smp_sobel &p)          \
    {                                                                                                                  \
        sobel_tile_each<IN, OUT, C>(io, p);                                                                            \
    }                                                                                                                  \
    SMP_KERNEL_FORMATS(sobel_tiled##C, smp_sobel)
SOBEL_TILED(0)
SOBEL_TILED(1)
SOBEL_TILED(2)
SOBEL_TILED(3)
SOBEL_TILED(4)
