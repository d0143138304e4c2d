/* GPU kernels of stages that make each pixel of one of the picture and one of a second picture (pixel_pair.h).
 *   naive  one pixel a thread, channel by channel.
 *   tiled  pieces of rows of the first picture go through shared memory, in and out in accesses of 16 bytes; the second
 *          is read pixel by pixel through the first-level cache, since its rows begin anywhere. Memory bandwidth is the
 *          bound. */
#pragma once

#include "lib/per_pixel.cuh"
#include "lib/pixel_pair.h"

/* For smp_pixel_one: pixel (x, y), with that of the second picture where they meet. */
template <typename FORMULA> struct smp_pair_op {
    const smp_io &io;
    const smp_place_at &at;
    const FORMULA &formula;
    int64_t x, y;

    template <int C, typename PUT> SMP_DEVICE_MEMBER void operator()(const float *v, PUT &put) const
    {
        const smp_pair_span span = smp_pair_span_of(&io, &at, y);
        const int others = io.second.data ? io.second.channels : 0;
        const bool meet = x >= span.from && x < span.to;
        float w[SMP_MAX_CHANNELS], own[C];
        smp_pixel from = {own, 1, io.in.channels, C, v[0]},
                  by = {others ? w : nullptr, 1, others, SMP_MAX_CHANNELS, 0.f};
#pragma unroll
        for (int c = 0; c < C; c++)
            own[c] = C == SMP_MAX_CHANNELS && smp_pair_gray(&io) ? v[0] : v[c];
#pragma unroll
        for (int c = 1; c < C; c++)
            from.last = c == io.in.channels - 1 ? v[c] : from.last;
#pragma unroll
        for (int c = 0; c < SMP_MAX_CHANNELS; c++) {
            w[c] = meet && c < others
                       ? smp_load(smp_row(&io.second, y - at.y), (x - at.x) * others + c, io.second.format)
                       : 0.f;
            by.last = c == others - 1 ? w[c] : by.last;
        }
#pragma unroll
        for (int c = 0; c < PUT::most; c++)
            if (c < io.out.channels)
                put(c, meet                                ? formula(from, by, c)
                       : io.in.channels == io.out.channels ? v[c < C ? c : C - 1]
                       : smp_pair_channel(&io, c) == 0     ? v[0]
                                                           : from.last);
    }
};

template <typename IN, typename OUT, typename FORMULA>
SMP_DEVICE void smp_pair_each(const smp_io &io, const smp_place_at &at, const FORMULA &formula)
{
    smp_pixel_put<OUT> put = smp_pixel_put_to<OUT>(io);
    const int64_t end = io.out.y0 + io.out.rows, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < io.out.width; x += step)
            smp_pixel_one<SMP_MAX_CHANNELS, false>(io, smp_in<IN>(io.in, y) + x * io.in.channels,
                                                   smp_out<OUT>(io.out, y) + x * io.out.channels, put,
                                                   smp_pair_op<FORMULA>{io, at, formula, x, y});
    smp_count_clipped<OUT>(io, put.clipped);
}

template <int C, typename IN, typename OUT, typename FORMULA>
SMP_DEVICE void smp_pair_rows(const smp_io &io, smp_pixel_sides &s, smp_pixel_put<OUT> &put, const smp_place_at &at,
                              const FORMULA &formula)
{
    const int64_t tile = smp_pixel_tile(&io), end = io.out.y0 + io.out.rows;
    IN *const in = reinterpret_cast<IN *>(s.in);
    OUT *const out = reinterpret_cast<OUT *>(s.out);
    for (int64_t y = io.out.y0 + blockIdx.y; y < end; y += gridDim.y)
        for (int64_t x = blockIdx.x * tile; x < io.out.width; x += gridDim.x * tile) {
            const int n = (int)(io.out.width - x < tile ? io.out.width - x : tile);
            smp_pixel_copy(in, smp_in<IN>(io.in, y) + x * io.in.channels, (int64_t)n * io.in.channels);
            __syncthreads();
            for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
                smp_pixel_one<C, true>(io, in + i * io.in.channels, out + i * io.out.channels, put,
                                       smp_pair_op<FORMULA>{io, at, formula, x + i, y});
            __syncthreads();
            smp_pixel_copy(smp_out<OUT>(io.out, y) + x * io.out.channels, out, (int64_t)n * io.out.channels);
        }
}

/* Blocks have one row of threads; where they have several, the picture is narrow and goes pixel by pixel. */
template <typename IN, typename OUT, typename FORMULA>
SMP_DEVICE void smp_pair_tiles(const smp_io &io, const smp_place_at &at, const FORMULA &formula)
{
    SMP_SHARED(smp_pixel_sides, s);
    smp_pixel_put<OUT> put = smp_pixel_put_to<OUT>(io);
    if (blockDim.y > 1) {
        smp_pair_each<IN, OUT>(io, at, formula);
        return;
    }
    if (io.in.channels == 3)
        smp_pair_rows<3, IN, OUT>(io, s, put, at, formula);
    else if (io.in.channels == 4)
        smp_pair_rows<4, IN, OUT>(io, s, put, at, formula);
    else
        smp_pair_rows<SMP_MAX_CHANNELS, IN, OUT>(io, s, put, at, formula);
    smp_count_clipped<OUT>(io, put.clipped);
}

/* Both kernels of a formula. The parameters' field `at` is the place. */
#define SMP_PAIR_GPU(NAME)                                                                                             \
    struct NAME##_formula {                                                                                            \
        const smp_io &io;                                                                                              \
        const smp_##NAME &p;                                                                                           \
        SMP_DEVICE_MEMBER float operator()(smp_pixel from, smp_pixel by, int channel) const                            \
        {                                                                                                              \
            return smp_##NAME##_pair(from, by, channel, &io, &p);                                                      \
        }                                                                                                              \
    };                                                                                                                 \
    template <typename IN, typename OUT> SMP_DEVICE void NAME##_naive(const smp_io &io, const smp_##NAME &p)           \
    {                                                                                                                  \
        smp_pair_each<IN, OUT>(io, p.at, NAME##_formula{io, p});                                                       \
    }                                                                                                                  \
    template <typename IN, typename OUT> SMP_DEVICE void NAME##_tiled(const smp_io &io, const smp_##NAME &p)           \
    {                                                                                                                  \
        smp_pair_tiles<IN, OUT>(io, p.at, NAME##_formula{io, p});                                                      \
    }                                                                                                                  \
    SMP_KERNEL_FORMATS(NAME##_naive, smp_##NAME)                                                                       \
    SMP_KERNEL_FORMATS(NAME##_tiled, smp_##NAME)
