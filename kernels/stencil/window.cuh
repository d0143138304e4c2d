/* The GPU kernels of a formula on a window of samples (window.h).
 *   naive  every sample of the window from global memory, by the border rule: 9 loads a result for a side of 3, 25 for
 *          a side of 5, and the arithmetic that finds them.
 *   tiled  a tile with its halo in shared memory as f32 code values, each sample fetched once a tile, 16 bytes an
 *          access. A thread makes results in four rows of a column: it reads SIZE + 3 rows of SIZE samples for four
 *          windows, 4.5 reads a result for a side of 3 and 10 for a side of 5. The lanes of a warp have neighbouring
 *          columns, so that each read is of 32 neighbouring words, whatever the channels: no conflicts. */
#pragma once

#include "stencil/stencil.cuh"

#include "stencil/window.h"

/* A sample as the formula gets it, and its result as a code value. Integers are their own keys. */
template <typename IN, int KIND> SMP_DEVICE float window_in(float v)
{
    return KIND == SMP_WINDOW_ORDERED && sizeof(IN) == sizeof(float) ? smp_window_key(v) : v;
}
template <typename IN, int KIND> SMP_DEVICE float window_out(float v)
{
    return KIND == SMP_WINDOW_ORDERED && sizeof(IN) == sizeof(float) ? smp_window_turn(v) : v;
}

/* formula(w): of the window at w. */
template <typename IN, typename OUT, int SIZE, int KIND, typename FORMULA>
SMP_DEVICE void window_naive(const smp_io &io, const smp_window &g, const FORMULA &formula)
{
    const float outside = smp_window_outside(&g, io.in.white, KIND);
    const int alpha = g.alpha ? -1 : stencil_alpha(io.in);
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        if (alpha >= 0 && stencil_channel(io.in, i) == alpha)
            return smp_value(smp_in<IN>(io.in, y)[i]);
        float w[SIZE * SIZE];
        for (int k = 0; k < SIZE * SIZE; k++) {
            const int64_t at = i + (k % SIZE - SIZE / 2) * io.in.channels;
            w[k] = window_in<IN, KIND>(stencil_at<IN>(io.in, at, y + k / SIZE - SIZE / 2, g.edge, outside));
        }
        return window_out<IN, KIND>(formula(w));
    });
}

template <int SIZE> struct window_tile {
    float v[SMP_WINDOW_DOWN + SIZE - 1][SMP_WINDOW_ACROSS + SIZE / 2 * SMP_MAX_CHANNELS * 2];
};

/* Grid: smp_window_tiles. */
template <typename IN, typename OUT, int SIZE, int KIND, typename FORMULA>
SMP_DEVICE void window_tiled(const smp_io &io, const smp_window &g, const FORMULA &formula)
{
    constexpr int R = SIZE / 2, EACH = SMP_WINDOW_EACH;
    SMP_SHARED(window_tile<SIZE>, s);
    const float outside = smp_window_outside(&g, io.in.white, KIND);
    const int channels = io.in.channels, alpha = g.alpha ? -1 : stencil_alpha(io.in);
    const int side = (R * channels + 3) / 4 * 4, lane = (int)threadIdx.x, mine = EACH * (int)threadIdx.y;
    const int64_t x0 = (int64_t)blockIdx.x * SMP_WINDOW_ACROSS, n = stencil_samples(io.out);
    const int64_t end = io.out.y0 + io.out.rows;
    unsigned clipped = 0;
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_WINDOW_DOWN; top < end; top += gridDim.y * SMP_WINDOW_DOWN) {
        const int down = end - top < SMP_WINDOW_DOWN ? (int)(end - top) : SMP_WINDOW_DOWN, last = down + 2 * R - 1;
        for (int j = (int)threadIdx.y; j <= last; j += (int)blockDim.y)
            stencil_bring<IN>(s.v[j], io.in, top - R + j, x0 - side, SMP_WINDOW_ACROSS + 2 * side, lane, 32, g.edge,
                              outside);
        __syncthreads();
#pragma unroll 1
        for (int i = lane; i < SMP_WINDOW_ACROSS; i += 32) {
            smp_converge();
            if (mine >= down || x0 + i >= n)
                continue;
            float w[(SIZE + EACH - 1) * SIZE]; /* the windows of the rows below each other: each begins a row later */
#pragma unroll
            for (int j = 0; j < SIZE + EACH - 1; j++) {
                const float *at = s.v[mine + j < last ? mine + j : last] + side + i - R * channels;
#pragma unroll
                for (int k = 0; k < SIZE; k++)
                    w[j * SIZE + k] = window_in<IN, KIND>(at[k * channels]);
            }
            const bool passes = alpha >= 0 && stencil_channel(io.in, x0 + i) == alpha;
#pragma unroll
            for (int q = 0; q < EACH; q++)
                if (mine + q < down) {
                    const float v = passes ? w[(q + R) * SIZE + R] : formula(w + q * SIZE);
                    stencil_put(io, smp_out<OUT>(io.out, top + mine + q), x0 + i, window_out<IN, KIND>(v), &clipped);
                }
        }
        __syncthreads();
    }
    smp_count_clipped<OUT>(io, clipped);
}

/* The kernels NAME_naive, and for each size NAME_tiledSIZE, of a formula whose kernel parameters are `type`. */
#define WINDOW_NAIVE_(size, type, kind, formula)                                                                       \
    case size:                                                                                                         \
        window_naive<IN, OUT, size, kind>(io, g, [&](const float *w) { return formula##_float(w, size, &p); });        \
        break;
#define WINDOW_TILED_(size, name, type, kind, formula)                                                                 \
    template <typename IN, typename OUT> SMP_DEVICE void name##_tiled##size(const smp_io &io, const type &p)           \
    {                                                                                                                  \
        const smp_window &g = reinterpret_cast<const smp_window &>(p);                                                 \
        window_tiled<IN, OUT, size, kind>(io, g, [&](const float *w) { return formula##_float(w, size, &p); });        \
    }                                                                                                                  \
    SMP_KERNEL_FORMATS(name##_tiled##size, type)
#define SMP_WINDOW_GPU(name, type, kind, formula, SIZES)                                                               \
    template <typename IN, typename OUT> SMP_DEVICE void name##_naive(const smp_io &io, const type &p)                 \
    {                                                                                                                  \
        const smp_window &g = reinterpret_cast<const smp_window &>(p);                                                 \
        switch (g.size) {                                                                                              \
            SIZES(WINDOW_NAIVE_, type, kind, formula)                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    SMP_KERNEL_FORMATS(name##_naive, type)                                                                             \
    SIZES(WINDOW_TILED_, name, type, kind, formula)
