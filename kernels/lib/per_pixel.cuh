/* What GPU kernels share that work pixel by pixel, because channels meet. A function object makes a pixel's output
 * channels of its input channels:
 *   struct swap_op {
 *       template <int C, typename PUT> SMP_DEVICE_MEMBER void operator()(const float *v, PUT &put) const
 *       {
 *           put(0, v[1]), put(1, v[0]);
 *       }
 *   };
 * C is the number of input channels, so that loops unroll and v stays in registers, or SMP_MAX_CHANNELS when they are
 * not 3 or 4: loop to C and leave out what is not there. Launch geometry: smp_geometry_pixels() for smp_pixel_each,
 * smp_geometry_pixel_tiles() for smp_pixel_tiles. */
#ifndef SMP_KERNELS_PIXEL_CUH
#define SMP_KERNELS_PIXEL_CUH

#include "lib/elementwise.cuh"
#include "lib/per_pixel.h"

/* A pixel's results, at most MOST: rounded once, clipped samples counted. Channel numbers should be constants after
 * unrolling. */
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

/* PACKED: pixels of four channels start on a multiple of their size, and are moved in one access. */
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
    const int64_t end = io.out.y0 + io.out.rows, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < io.out.width; x += step)
            smp_pixel_one<SMP_MAX_CHANNELS, false>(io, smp_in<IN>(io.in, y) + x * io.in.channels,
                                                   smp_out<OUT>(io.out, y) + x * io.out.channels, put, op);
    smp_count_clipped<OUT>(io, put.clipped);
}

/* n samples by all threads of a block, 16 bytes an access where both sides are aligned. */
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

/* Pixels of three bytes, four at a time, which are three words; into TO bytes a pixel, TO words. What is left at the
 * end of a tile is returned: the first pixel of it. */
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

/* tiled: a block brings a piece of a row into shared memory and takes the results out of it in accesses of 16 bytes,
 * whatever the size of a pixel. A pixel of four channels is one access; three bytes or three floats apart, lanes meet
 * no bank twice, six bytes apart (3 channels of 16 bits) they meet some: two wavefronts; other even numbers of channels
 * have more. WORDS: of three bytes a pixel, four pixels a thread, which reads and writes words; the operation heeds
 * PUT::most, the output's channels, or is small for eight. Blocks have one row of threads; with several the picture is
 * narrow, and goes pixel by pixel. */
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

#endif
