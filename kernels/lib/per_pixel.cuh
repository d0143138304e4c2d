/* GPU kernels of stages in which the channels of a pixel meet. NAME.cu makes both kernels of a formula (per_pixel.h)
 * with one line, SMP_PIXEL_GPU(NAME, ...).
 *   naive  one pixel a thread, channel by channel: neighbouring threads are a pixel apart, so that each access wastes
 *          part of what it moves.
 *   tiled  pieces of rows go through shared memory, in and out in accesses of 16 bytes.
 * Kernels with work of their own give a function object: template <int C, typename PUT> operator()(const float *v, PUT
 * &put) makes a pixel's output channels, put(c, value), of its input channels v. C is the number of input channels
 * where there are 3 or 4, so that loops unroll and v stays in registers; else it is SMP_MAX_CHANNELS: loop to C and
 * leave out what is not there. Launch geometry: smp_geometry_pixels() for smp_pixel_each, smp_geometry_pixel_tiles()
 * for smp_pixel_tiles. */
#pragma once

#include "lib/elementwise.cuh"
#include "lib/per_pixel.h"

/* The results of a pixel, at most MOST. Each is rounded once; clipped samples are counted. Channel numbers should be
 * constants after unrolling. */
template <typename OUT, int MOST = SMP_MAX_CHANNELS> struct smp_pixel_put {
    static constexpr int most = MOST;
    OUT v[MOST];
    bool counts;
    unsigned clipped;
    SMP_DEVICE_MEMBER void operator()(int channel, float value)
    {
        if (counts)
            clipped += smp_clipped<OUT>(value);
        v[channel] = smp_rounded<OUT>(value);
    }
};
template <typename OUT> SMP_DEVICE smp_pixel_put<OUT> smp_pixel_put_to(const smp_io &io)
{
    smp_pixel_put<OUT> put = {};
    put.counts = io.clipped != nullptr;
    return put;
}

/* One pixel. PACKED: pixels of four channels start on a multiple of their size and are moved in one access. */
template <int C, bool PACKED, typename IN, typename OUT, typename OP>
SMP_DEVICE void smp_pixel_one(const smp_io &io, const IN *in, OUT *out, smp_pixel_put<OUT> &put, const OP &op)
{
    float v[C];
    if constexpr (PACKED && C == 4) {
        const smp_pack<IN, 4> pixel = *reinterpret_cast<const smp_pack<IN, 4> *>(in);
#pragma unroll
        for (int c = 0; c < C; c++)
            v[c] = smp_value(pixel.v[c]);
    } else {
#pragma unroll
        for (int c = 0; c < C; c++)
            v[c] = c < io.in.channels ? smp_value(in[c]) : 0.f;
    }
    op.template operator()<C>(v, put);
    if (PACKED && io.out.channels == 4) {
        smp_pack<OUT, 4> pixel;
#pragma unroll
        for (int c = 0; c < 4; c++)
            pixel.v[c] = put.v[c];
        *reinterpret_cast<smp_pack<OUT, 4> *>(out) = pixel;
        return;
    }
#pragma unroll
    for (int c = 0; c < SMP_MAX_CHANNELS; c++)
        if (c < io.out.channels)
            out[c] = put.v[c];
}

/* naive: one pixel a thread, channel by channel. */
template <typename IN, typename OUT, typename OP> SMP_DEVICE void smp_pixel_each(const smp_io &io, const OP &op)
{
    smp_pixel_put<OUT> put = smp_pixel_put_to<OUT>(io);
    smp_each(io, io.out.width, [&](int64_t y, int64_t x) {
        smp_pixel_one<SMP_MAX_CHANNELS, false>(io, smp_in<IN>(io.in, y) + x * io.in.channels,
                                               smp_out<OUT>(io.out, y) + x * io.out.channels, put, op);
    });
    smp_count_clipped<OUT>(io, put.clipped);
}

/* Copies n samples by all threads of a block, in accesses of 16 bytes where both sides are aligned. */
template <typename T> SMP_DEVICE void smp_pixel_copy(T *to, const T *from, int64_t n)
{
    constexpr int N = 16 / (int)sizeof(T);
    const int64_t packs = ((uintptr_t)to | (uintptr_t)from) % 16 == 0 ? n / N : 0;
    for (int64_t i = threadIdx.x; i < packs; i += blockDim.x)
        reinterpret_cast<uint4 *>(to)[i] = reinterpret_cast<const uint4 *>(from)[i];
    for (int64_t i = packs * N + threadIdx.x; i < n; i += blockDim.x)
        to[i] = from[i];
}

struct smp_pixel_sides {
    uint4 in[SMP_PIXEL_TILE / 16], out[SMP_PIXEL_TILE / 16];
};

/* Takes pixels of three bytes four at a time, which are three words, and makes TO bytes a pixel of them, TO words.
 * Returns the number of pixels done, a multiple of four. */
template <int TO, typename OP>
SMP_DEVICE int smp_pixel_words(const smp_io &io, smp_pixel_sides &s, int n, unsigned *clipped, const OP &op)
{
    const unsigned *const in = reinterpret_cast<const unsigned *>(s.in);
    unsigned *const out = reinterpret_cast<unsigned *>(s.out);
    smp_pixel_put<uint8_t, TO> put = {};
    put.counts = io.clipped != nullptr;
    for (int i = (int)threadIdx.x; i < n / 4; i += (int)blockDim.x) {
        unsigned from[3], to[TO];
#pragma unroll
        for (int k = 0; k < 3; k++)
            from[k] = in[3 * i + k];
#pragma unroll
        for (int k = 0; k < TO; k++)
            to[k] = 0;
#pragma unroll
        for (int pixel = 0; pixel < 4; pixel++) {
            float v[3];
#pragma unroll
            for (int c = 0; c < 3; c++)
                v[c] = smp_value((uint8_t)(from[(3 * pixel + c) / 4] >> (3 * pixel + c) % 4 * 8));
            op.template operator()<3>(v, put);
#pragma unroll
            for (int c = 0; c < TO; c++)
                to[(TO * pixel + c) / 4] |= (unsigned)put.v[c] << (TO * pixel + c) % 4 * 8;
        }
#pragma unroll
        for (int k = 0; k < TO; k++)
            out[TO * i + k] = to[k];
    }
    *clipped += put.clipped;
    return n / 4 * 4;
}

template <int C, bool WORDS, typename IN, typename OUT, typename OP>
SMP_DEVICE void smp_pixel_rows(const smp_io &io, smp_pixel_sides &s, smp_pixel_put<OUT> &put, const OP &op)
{
    const smp_span span = smp_span_of<IN, OUT>(io);
    const int64_t tile = smp_pixel_tile(&io);
    IN *const in = reinterpret_cast<IN *>(s.in);
    OUT *const out = reinterpret_cast<OUT *>(s.out);
    for (int64_t row = blockIdx.y; row < span.rows; row += gridDim.y)
        for (int64_t x = blockIdx.x * tile; x < span.n; x += gridDim.x * tile) {
            const int n = (int)(span.n - x < tile ? span.n - x : tile);
            smp_pixel_copy(in, smp_in<IN>(io.in, io.out.y0 + row) + x * io.in.channels, (int64_t)n * io.in.channels);
            __syncthreads();
            int done = 0;
            if constexpr (WORDS && C == 3 && sizeof(IN) == 1 && sizeof(OUT) == 1) {
                if (io.out.channels == 1)
                    done = smp_pixel_words<1>(io, s, n, &put.clipped, op);
                else if (io.out.channels == 3)
                    done = smp_pixel_words<3>(io, s, n, &put.clipped, op);
            }
            for (int i = done + (int)threadIdx.x; i < n; i += (int)blockDim.x)
                smp_pixel_one<C, true>(io, in + i * io.in.channels, out + i * io.out.channels, put, op);
            __syncthreads();
            smp_pixel_copy(smp_out<OUT>(io.out, io.out.y0 + row) + x * io.out.channels, out,
                           (int64_t)n * io.out.channels);
        }
}

/* tiled: a block copies a piece of a row into shared memory, and its results out of it, in accesses of 16 bytes
 * whatever the size of a pixel. Bank conflicts between: pixels of four channels are one access and have none; neither
 * have three bytes or three floats; three channels of 16 bits take two wavefronts; other even numbers of channels take
 * more. WORDS: for three bytes a pixel, a thread takes four pixels and reads and writes words. The operation must then
 * heed PUT::most, the number of output channels, or be small for eight. Blocks have one row of threads; where they have
 * several, the picture is narrow and goes pixel by pixel. */
template <typename IN, typename OUT, bool WORDS = false, typename OP>
SMP_DEVICE void smp_pixel_tiles(const smp_io &io, const OP &op)
{
    SMP_SHARED(smp_pixel_sides, s);
    smp_pixel_put<OUT> put = smp_pixel_put_to<OUT>(io);
    if (blockDim.y > 1) {
        smp_pixel_each<IN, OUT>(io, op);
        return;
    }
    if (io.in.channels == 3)
        smp_pixel_rows<3, WORDS, IN, OUT>(io, s, put, op);
    else if (io.in.channels == 4)
        smp_pixel_rows<4, WORDS, IN, OUT>(io, s, put, op);
    else
        smp_pixel_rows<SMP_MAX_CHANNELS, WORDS, IN, OUT>(io, s, put, op);
    smp_count_clipped<OUT>(io, put.clipped);
}

/* The formula smp_NAME_pixel as a function object. SAME: the result has the input's channels, or fewer. READS: how many
 * channels the formula reads, an expression of `io` and of the parameters `p`. */
#define SMP_PIXEL_OP(NAME, TYPE, SAME, READS)                                                                          \
    struct NAME##_op {                                                                                                 \
        const smp_io &io;                                                                                              \
        const TYPE &p;                                                                                                 \
        template <int C, typename PUT> SMP_DEVICE_MEMBER void operator()(const float *v, PUT &put) const               \
        {                                                                                                              \
            constexpr int outs = (SAME) && C < PUT::most ? C : PUT::most;                                              \
            smp_pixel from = {v, 1, READS, C, v[0]};                                                                   \
            _Pragma("unroll") for (int c = 1; c < C; c++) from.last = c == io.in.channels - 1 ? v[c] : from.last;      \
            _Pragma("unroll") for (int c = 0; c < outs; c++) if (outs == 1 || c < io.out.channels)                     \
                put(c, smp_##NAME##_pixel(from, c, &io, &p));                                                          \
        }                                                                                                              \
    };

/* The template functions NAME_naive and NAME_tiled of a formula. WORDS: as in smp_pixel_tiles. */
#define SMP_PIXEL_FUNCTIONS(NAME, TYPE, SAME, WORDS, READS)                                                            \
    SMP_PIXEL_OP(NAME, TYPE, SAME, READS)                                                                              \
    template <typename IN, typename OUT> SMP_DEVICE void NAME##_naive(const smp_io &io, const TYPE &p)                 \
    {                                                                                                                  \
        smp_pixel_each<IN, OUT>(io, NAME##_op{io, p});                                                                 \
    }                                                                                                                  \
    template <typename IN, typename OUT> SMP_DEVICE void NAME##_tiled(const smp_io &io, const TYPE &p)                 \
    {                                                                                                                  \
        smp_pixel_tiles<IN, OUT, WORDS>(io, NAME##_op{io, p});                                                         \
    }

/* Their kernels in all formats. */
#define SMP_PIXEL_GPU(NAME, TYPE, SAME, WORDS, READS)                                                                  \
    SMP_PIXEL_FUNCTIONS(NAME, TYPE, SAME, WORDS, READS)                                                                \
    SMP_KERNEL_FORMATS(NAME##_naive, TYPE)                                                                             \
    SMP_KERNEL_FORMATS(NAME##_tiled, TYPE)

/* The same of a stage whose result is always float. */
#define SMP_PIXEL_GPU_F32(NAME, TYPE, SAME, WORDS, READS)                                                              \
    SMP_PIXEL_FUNCTIONS(NAME, TYPE, SAME, WORDS, READS)                                                                \
    SMP_KERNEL_INTO_F32(NAME##_naive, TYPE)                                                                            \
    SMP_KERNEL_INTO_F32(NAME##_tiled, TYPE)
