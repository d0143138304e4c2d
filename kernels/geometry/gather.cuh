/* The GPU kernels of stages that move pixels (gather.h).
 *   naive  a sample a thread: a warp stores 32 neighbouring samples, of bytes no more than 32 bytes.
 *   tiled  16 bytes of output a thread and store. Where they come from one run of the input, in the same format, the
 *          thread loads the two 16-byte words that hold them and shifts them into place, so that it does not matter
 *          where the run begins. Neighbouring threads load one word in common, which the first-level cache has: shared
 *          memory would save nothing. */
#pragma once

#include "geometry/gather.h"
#include "geometry/vec128.cuh"
#include "lib/elementwise.cuh"

/* The input sample that becomes output sample i of a row, and how many from there on become those that follow. */
template <typename IN> struct gather_place {
    const unsigned char *row; /* of the input */
    const IN *at;             /* null: the fill */
    int64_t left;
};

/* A stage without a fill, and one with. */
struct gather_nothing {
    static constexpr bool any = false;
    SMP_DEVICE_MEMBER float operator()(int) const { return 0.f; }
};
template <typename FN> struct gather_fill {
    static constexpr bool any = true;
    const FN &fn;
    SMP_DEVICE_MEMBER float operator()(int channel) const { return fn(channel); }
};
template <typename FN> SMP_DEVICE gather_fill<FN> gather_fill_of(const FN &fn)
{
    return {fn};
}

/* source(x, y): where the pixel comes from. */
template <typename IN, bool FILL, typename SOURCE>
SMP_DEVICE gather_place<IN> gather_find(const smp_io &io, const SOURCE &source, int64_t i, int64_t y)
{
    const int64_t channels = io.in.channels;
    const int64_t x = i <= INT32_MAX ? (int64_t)((uint32_t)i / (uint32_t)channels) : i / channels, c = i - x * channels;
    const smp_source from = source(x, y);
    if (FILL && from.y < 0)
        return {nullptr, nullptr, from.run * channels - c};
    const IN *row = smp_in<IN>(io.in, from.y);
    return {reinterpret_cast<const unsigned char *>(row), row + from.x * channels + c, from.run * channels - c};
}

template <typename IN, typename OUT, typename SOURCE, typename FILL>
SMP_DEVICE void gather_naive(const smp_io &io, const SOURCE &source, const FILL &fill)
{
    unsigned clipped = 0;
    const int64_t n = io.out.width * io.out.channels;
    smp_each(io, n, [&](int64_t y, int64_t i) {
        const IN *at = gather_find<IN, FILL::any>(io, source, i, y).at;
        const float v = !FILL::any || at ? smp_value(*at) : fill((int)(i % io.in.channels));
        smp_out<OUT>(io.out, y)[i] = smp_point_rounded<OUT>(io, v, &clipped);
    });
    smp_count_clipped<OUT>(io, clipped);
}

/* 16 bytes of a row of `size` bytes to `to`. False where the words that hold them leave the row. */
template <typename T> SMP_DEVICE bool gather_word(const gather_place<T> &from, int64_t size, T *to)
{
    const vec128_bytes<16, (int)sizeof(T)> bytes(reinterpret_cast<const unsigned char *>(from.at), 0, 16);
    uint32_t w[4 * bytes.loads + 4];
    if (bytes.vec + 16 * bytes.first < from.row || bytes.vec + 16 * bytes.last > from.row + size)
        return false;
    bytes.load(w);
    vec128 words;
#pragma unroll
    for (int j = 0; j < 4; j++)
        words.v[j] = w[j];
    *reinterpret_cast<vec128 *>(to) = words;
    return true;
}

/* Geometry: smp_geometry_packs. */
template <typename IN, typename OUT, typename SOURCE, typename FILL>
SMP_DEVICE void gather_tiled(const smp_io &io, const SOURCE &source, const FILL &fill)
{
    constexpr int N = 16 / (int)sizeof(OUT);
    unsigned clipped = 0;
    const int64_t n = io.out.width * io.out.channels, end = io.out.y0 + io.out.rows;
    const int64_t size = io.in.width * io.in.channels * (int64_t)sizeof(IN);
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y) {
        OUT *out = smp_out<OUT>(io.out, y);
        for (int64_t i = N * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x); i < n;
             i += N * (int64_t)gridDim.x * blockDim.x) {
            gather_place<IN> from = gather_find<IN, FILL::any>(io, source, i, y);
            if constexpr (smp_sample<IN>::format == smp_sample<OUT>::format)
                if ((!FILL::any || from.at) && from.left >= N && i + N <= n && (uintptr_t)(out + i) % 16 == 0 &&
                    gather_word(from, size, out + i))
                    continue;
#pragma unroll 1
            for (int k = 0; k < N && i + k < n; k++) {
                const float v = !FILL::any || from.at ? smp_value(*from.at++) : fill((int)((i + k) % io.in.channels));
                out[i + k] = smp_point_rounded<OUT>(io, v, &clipped);
                if (--from.left == 0 && i + k + 1 < n)
                    from = gather_find<IN, FILL::any>(io, source, i + k + 1, y);
            }
        }
    }
    smp_count_clipped<OUT>(io, clipped);
}

/* The kernels NAME_naive and NAME_tiled of a stage whose kernel parameters are `type`; with a fill, of the parameters
 * and a channel. */
#define SMP_GATHER_GPU(name, type, source) SMP_GATHER_WITH_GPU(name, type, source, gather_nothing())
#define SMP_GATHER_FILL_GPU(name, type, source, fill)                                                                  \
    SMP_GATHER_WITH_GPU(name, type, source, gather_fill_of([&](int channel) { return fill(&p, channel); }))
#define SMP_GATHER_WITH_GPU(name, type, source, fill)                                                                  \
    template <typename IN, typename OUT> SMP_DEVICE void name##_naive(const smp_io &io, const type &p)                 \
    {                                                                                                                  \
        gather_naive<IN, OUT>(                                                                                         \
            io, [&](int64_t x, int64_t y) { return source(&io, &p, x, y); }, fill);                                    \
    }                                                                                                                  \
    SMP_KERNEL_FORMATS(name##_naive, type)                                                                             \
    template <typename IN, typename OUT> SMP_DEVICE void name##_tiled(const smp_io &io, const type &p)                 \
    {                                                                                                                  \
        gather_tiled<IN, OUT>(                                                                                         \
            io, [&](int64_t x, int64_t y) { return source(&io, &p, x, y); }, fill);                                    \
    }                                                                                                                  \
    SMP_KERNEL_FORMATS(name##_tiled, type)
