/* What GPU kernels share that work sample by sample. A function object says what becomes of one code value:
 *   struct gain_op {
 *       static constexpr bool by_channel = false;   // true: `channel` is wanted, at the price of a division
 *       static constexpr bool with_alpha = false;   // true: alpha is a channel like the others, else it passes through
 *       float gain;
 *       SMP_DEVICE_MEMBER float operator()(float v, int channel) const { return v * gain; }
 *   };
 * Launch geometry: smp_geometry_samples() for smp_point_each, smp_geometry_packs() for smp_point_packs,
 * smp_geometry_tables() for smp_point_tables. */
#ifndef SMP_KERNELS_POINT_CUH
#define SMP_KERNELS_POINT_CUH

#include "lib/gpu_kernel.h"

/* Rows that lie end to end in both pictures are one long row: sound, above all, which is one pixel wide. */
struct smp_span {
    int64_t n, rows; /* pixels of a row, rows */
};
template <typename IN, typename OUT> SMP_DEVICE smp_span smp_span_of(const smp_io &io)
{
    smp_span span = {io.out.width, io.out.rows};
    if (io.in.stride == span.n * io.in.channels * (int64_t)sizeof(IN) &&
        io.out.stride == span.n * io.out.channels * (int64_t)sizeof(OUT)) {
        span.n *= span.rows;
        span.rows = 1;
    }
    return span;
}

/* Whether the channel of a sample matters. 64-bit remainders are slow. */
template <typename OP> SMP_DEVICE bool smp_point_by_channel(const smp_io &io)
{
    return OP::by_channel || (io.in.alpha && !OP::with_alpha);
}
SMP_DEVICE int smp_point_channel(const smp_io &io, int64_t i)
{
    return i <= INT32_MAX ? (int)((uint32_t)i % (uint32_t)io.in.channels) : (int)(i % io.in.channels);
}

/* A result rounded, and counted when that clips it. */
template <typename OUT> SMP_DEVICE OUT smp_point_rounded(const smp_io &io, float v, unsigned *clipped)
{
    if (io.clipped)
        *clipped += smp_clipped<OUT>(v);
    return smp_rounded<OUT>(v);
}

template <typename IN, typename OUT, typename OP>
SMP_DEVICE OUT smp_point_sample(const smp_io &io, IN in, int channel, const OP &op, unsigned *clipped)
{
    float v = smp_value(in);
    if (OP::with_alpha || !(io.in.alpha && channel == io.in.channels - 1))
        v = op(v, channel);
    return smp_point_rounded<OUT>(io, v, clipped);
}

/* naive: one sample at a time. */
template <typename IN, typename OUT, typename OP> SMP_DEVICE void smp_point_each(const smp_io &io, const OP &op)
{
    unsigned clipped = 0;
    const bool by_channel = smp_point_by_channel<OP>(io);
    const int64_t n = io.out.width * io.out.channels, end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y) {
        const IN *in = smp_in<IN>(io.in, y);
        OUT *out = smp_out<OUT>(io.out, y);
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
            out[i] = smp_point_sample<IN, OUT>(io, in[i], by_channel ? smp_point_channel(io, i) : 0, op, &clipped);
    }
    smp_count_clipped<OUT>(io, clipped);
}

/* As many samples at a time as make 16 bytes on the wider side, in one access each; rows that do not start on such a
 * boundary, and what is left at their end, one at a time. Any geometry does. FN: a function object with
 *   template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t i) const;
 * i: the place of the first of them in the row. */
template <typename IN, typename OUT, typename FN> SMP_DEVICE void smp_point_runs(const smp_io &io, const FN &fn)
{
    constexpr int N = 16 / (int)(sizeof(IN) > sizeof(OUT) ? sizeof(IN) : sizeof(OUT));
    typedef smp_pack<IN, N> in_pack;
    typedef smp_pack<OUT, N> out_pack;
    const smp_span span = smp_span_of<IN, OUT>(io);
    const int64_t n = span.n * io.in.channels;
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t row = blockIdx.y * blockDim.y + threadIdx.y; row < span.rows; row += gridDim.y * blockDim.y) {
        const IN *in = smp_in<IN>(io.in, io.out.y0 + row);
        OUT *out = smp_out<OUT>(io.out, io.out.y0 + row);
        const bool aligned = ((uintptr_t)in % sizeof(in_pack) | (uintptr_t)out % sizeof(out_pack)) == 0;
        const int64_t packs = aligned ? n / N : 0;
        for (int64_t k = first; k < packs; k += step) {
            const in_pack from = reinterpret_cast<const in_pack *>(in)[k];
            out_pack to;
            fn(from.v, to.v, k * N);
            reinterpret_cast<out_pack *>(out)[k] = to;
        }
        for (int64_t i = packs * N + first; i < n; i += step) {
            const IN from[1] = {in[i]};
            OUT to[1];
            fn(from, to, i);
            out[i] = to[0];
        }
    }
}

/* Sample by sample. fn: an input sample and its channel (0 unless BY_CHANNEL) to an output sample. */
template <typename IN, typename OUT, bool BY_CHANNEL, typename FN> struct smp_point_singly {
    const smp_io &io;
    const FN &fn;
    template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t i) const
    {
        int channel = BY_CHANNEL ? smp_point_channel(io, i) : 0;
#pragma unroll
        for (int j = 0; j < N; j++) {
            to[j] = fn(from[j], channel);
            channel = BY_CHANNEL && channel + 1 < io.in.channels ? channel + 1 : 0;
        }
    }
};
/* Which channel a sample is of costs as much as a cheap operation: known not to matter, nothing of that is left. */
template <typename IN, typename OUT, typename FN>
SMP_DEVICE void smp_point_stream(const smp_io &io, bool by_channel, const FN &fn)
{
    if (by_channel)
        smp_point_runs<IN, OUT>(io, smp_point_singly<IN, OUT, true, FN>{io, fn});
    else
        smp_point_runs<IN, OUT>(io, smp_point_singly<IN, OUT, false, FN>{io, fn});
}

/* tiled: packs of 16 bytes, computed. */
template <typename IN, typename OUT, typename OP> SMP_DEVICE void smp_point_packs(const smp_io &io, const OP &op)
{
    unsigned clipped = 0;
    smp_point_stream<IN, OUT>(io, smp_point_by_channel<OP>(io), [&](IN v, int channel) {
        return smp_point_sample<IN, OUT>(io, v, channel, op, &clipped);
    });
    smp_count_clipped<OUT>(io, clipped);
}

/* tiled, for operations that cost more than a look-up: bytes find their result in a table in shared memory, a plane a
 * channel where channels differ, that each block computes first. 256 byte results are two words a bank, so that a
 * look-up costs a warp at most two wavefronts; 256 floats are eight. Wider samples are computed. What a byte becomes
 * must not clip: it is not counted. */
template <typename OUT> struct smp_byte_planes {
    OUT v[SMP_MAX_CHANNELS * 256];
};
template <typename IN, typename OUT, typename OP> SMP_DEVICE void smp_point_tables(const smp_io &io, const OP &op)
{
    if constexpr (sizeof(IN) > 1) {
        smp_point_packs<IN, OUT>(io, op);
    } else {
        SMP_SHARED(smp_byte_planes<OUT>, table);
        unsigned none = 0;
        const bool by_channel = smp_point_by_channel<OP>(io);
        const int size = by_channel ? io.in.channels * 256 : 256;
        for (int i = (int)(threadIdx.x + threadIdx.y * blockDim.x); i < size; i += (int)(blockDim.x * blockDim.y))
            table.v[i] = smp_point_sample<IN, OUT>(io, (IN)i, i / 256, op, &none);
        __syncthreads();
        smp_point_stream<IN, OUT>(io, by_channel, [&](IN v, int channel) { return table.v[channel * 256 + v]; });
    }
}

#endif
