/* GPU kernels of elementwise stages. NAME.cu makes both kernels of a formula (elementwise.h) with one line,
 * SMP_ELEMENTWISE_GPU(NAME, ...). Alpha passes.
 *     naive  one sample a thread: bound by the number of its narrow accesses.
 *     tiled  16 bytes a thread and access: each warp moves 512 bytes an instruction, and memory bandwidth is the bound.
 *            With `tables` bytes are looked up in shared memory instead of computed.
 * Kernels with work of their own give a function object that makes one code value of another:
 *   struct gain_op {
 *       static constexpr bool by_channel = false;   // true: `channel` is wanted, at the price of a division
 *       static constexpr bool with_alpha = false;   // true: alpha is a channel like the others, else it passes through
 *       float gain;
 *       SMP_DEVICE_MEMBER float operator()(float v, int channel) const { return v * gain; }
 *   };
 * Launch geometry: smp_geometry_samples() for smp_point_each, smp_geometry_packs() for smp_point_packs,
 * smp_geometry_tables() for smp_point_tables. */
#pragma once

#include "lib/gpu_kernel.h"

/* The rows of a launch. Rows that lie end to end in both pictures are one long row: sound, above all, which is one
 * pixel wide. */
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

/* Whether the channel of a sample matters. */
template <typename OP> SMP_DEVICE bool smp_point_by_channel(const smp_io &io)
{
    return OP::by_channel || (io.in.alpha && !OP::with_alpha);
}
/* The channel of sample i of a row. 64-bit remainders are slow. */
SMP_DEVICE int smp_point_channel(const smp_io &io, int64_t i)
{
    return i <= INT32_MAX ? (int)((uint32_t)i % (uint32_t)io.in.channels) : (int)(i % io.in.channels);
}

/* Rounds a result, and counts it when that clips it. */
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

/* naive: one sample at a time. FN: a function object with
 *   template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t row, int64_t i)
 * const; row: counted from io.out.y0; i: the place of the first sample in that row. */
template <typename IN, typename OUT, typename FN> SMP_DEVICE void smp_point_singles(const smp_io &io, const FN &fn)
{
    smp_each(io, io.out.width * io.out.channels, [&](int64_t y, int64_t i) {
        const IN from[1] = {smp_in<IN>(io.in, y)[i]};
        OUT to[1];
        fn(from, to, y - io.out.y0, i);
        smp_out<OUT>(io.out, y)[i] = to[0];
    });
}

/* The same with as many samples at a time as make 16 bytes on the wider side, in one access each; rows that do not
 * start on such a boundary, and what is left at their end, one at a time. Any geometry does. */
template <typename IN, typename OUT, typename FN>
SMP_DEVICE void smp_point_runs(const smp_io &io, const smp_span &span, const FN &fn)
{
    constexpr int N = 16 / (int)(sizeof(IN) > sizeof(OUT) ? sizeof(IN) : sizeof(OUT));
    typedef smp_pack<IN, N> in_pack;
    typedef smp_pack<OUT, N> out_pack;
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
            fn(from.v, to.v, row, k * N);
            reinterpret_cast<out_pack *>(out)[k] = to;
        }
        for (int64_t i = packs * N + first; i < n; i += step) {
            const IN from[1] = {in[i]};
            OUT to[1];
            fn(from, to, row, i);
            out[i] = to[0];
        }
    }
}

/* Each sample by itself. fn: an input sample and its channel (0 unless BY_CHANNEL) to an output sample. */
template <typename IN, typename OUT, bool BY_CHANNEL, typename FN> struct smp_point_singly {
    const smp_io &io;
    const FN &fn;
    template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t, int64_t i) const
    {
        int channel = BY_CHANNEL ? smp_point_channel(io, i) : 0;
#pragma unroll
        for (int j = 0; j < N; j++) {
            to[j] = fn(from[j], channel);
            channel = BY_CHANNEL && channel + 1 < io.in.channels ? channel + 1 : 0;
        }
    }
};
/* Finding the channel of a sample costs as much as a cheap operation, so there is code without it. */
template <typename IN, typename OUT, typename FN>
SMP_DEVICE void smp_point_stream(const smp_io &io, bool by_channel, const FN &fn)
{
    const smp_span span = smp_span_of<IN, OUT>(io);
    if (by_channel)
        smp_point_runs<IN, OUT>(io, span, smp_point_singly<IN, OUT, true, FN>{io, fn});
    else
        smp_point_runs<IN, OUT>(io, span, smp_point_singly<IN, OUT, false, FN>{io, fn});
}

/* naive: one sample a thread. */
template <typename IN, typename OUT, typename OP> SMP_DEVICE void smp_point_each(const smp_io &io, const OP &op)
{
    const bool by_channel = smp_point_by_channel<OP>(io);
    unsigned clipped = 0;
    smp_point_singles<IN, OUT>(io, [&](const IN(&from)[1], OUT(&to)[1], int64_t, int64_t i) {
        to[0] = smp_point_sample<IN, OUT>(io, from[0], by_channel ? smp_point_channel(io, i) : 0, op, &clipped);
    });
    smp_count_clipped<OUT>(io, clipped);
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

/* tiled, for bytes: each block first fills a table in shared memory, a plane a channel where channels differ, and looks
 * results up. 256 byte results are two words a bank, so that a look-up costs a warp at most two wavefronts; 256 floats
 * are eight. Wider samples are computed. Clipped samples are not counted: bytes must not become values that clip. */
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

/* The formula smp_NAME_sample as a function object. BY_CHANNEL: whether the channel matters. */
#define SMP_ELEMENTWISE_OP(NAME)                                                                                       \
    template <bool BY_CHANNEL> struct NAME##_op {                                                                      \
        static constexpr bool by_channel = BY_CHANNEL, with_alpha = false;                                             \
        const smp_##NAME &p;                                                                                           \
        SMP_DEVICE_MEMBER float operator()(float v, int channel) const                                                 \
        {                                                                                                              \
            return smp_##NAME##_sample(v, BY_CHANNEL ? channel : 0, &p);                                               \
        }                                                                                                              \
    };

/* Both kernels of a formula. HOW: tables, or packs where the formula takes no longer than a look-up or bytes can become
 * values that clip. */
#define SMP_ELEMENTWISE_GPU(NAME, HOW, BY_CHANNEL)                                                                     \
    SMP_ELEMENTWISE_GPU_(NAME, HOW, BY_CHANNEL)                                                                        \
    SMP_KERNEL_FORMATS(NAME##_naive, smp_##NAME)                                                                       \
    SMP_KERNEL_FORMATS(NAME##_tiled, smp_##NAME)

/* The same for sound, which is f32: with packs. */
#define SMP_ELEMENTWISE_GPU_F32(NAME, BY_CHANNEL)                                                                      \
    SMP_ELEMENTWISE_GPU_(NAME, packs, BY_CHANNEL)                                                                      \
    SMP_KERNEL_PAIR_(NAME##_naive, f32, float, f32, float, smp_##NAME)                                                 \
    SMP_KERNEL_PAIR_(NAME##_tiled, f32, float, f32, float, smp_##NAME)

#define SMP_ELEMENTWISE_GPU_(NAME, HOW, BY_CHANNEL)                                                                    \
    SMP_ELEMENTWISE_OP(NAME)                                                                                           \
    template <typename IN, typename OUT> SMP_DEVICE void NAME##_naive(const smp_io &io, const smp_##NAME &p)           \
    {                                                                                                                  \
        smp_point_each<IN, OUT>(io, NAME##_op<BY_CHANNEL>{p});                                                         \
    }                                                                                                                  \
    template <typename IN, typename OUT> SMP_DEVICE void NAME##_tiled(const smp_io &io, const smp_##NAME &p)           \
    {                                                                                                                  \
        smp_point_##HOW<IN, OUT>(io, NAME##_op<BY_CHANNEL>{p});                                                        \
    }
