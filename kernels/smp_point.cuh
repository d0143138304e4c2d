/* What GPU kernels share that work sample by sample. A function object says what becomes of one code value:
 *   struct gain_op {
 *       static constexpr bool by_channel = false;   // true: `channel` is wanted, at the price of a division
 *       float gain;
 *       SMP_MEMBER float operator()(float v, int channel) const { return v * gain; }
 *   };
 * Alpha, where there is one and the view says so, is passed through. Launch geometry: smp_geometry_samples() for
 * smp_point_each, smp_geometry_packs() for smp_point_packs. */
#ifndef SMP_KERNELS_POINT_CUH
#define SMP_KERNELS_POINT_CUH

#include "smp_kernel.h"

/* Rows that lie end to end in both pictures are one long row: sound, above all, which is one pixel wide. */
struct smp_span {
    int64_t n, rows; /* samples of a row, rows */
};
template <typename IN, typename OUT> SMP_DEVICE smp_span smp_span_of(const smp_io &io)
{
    smp_span span = {io.out.width * io.out.channels, io.out.rows};
    if (io.in.stride == span.n * (int64_t)sizeof(IN) && io.out.stride == span.n * (int64_t)sizeof(OUT)) {
        span.n *= span.rows;
        span.rows = 1;
    }
    return span;
}

/* The channel of sample i, when anything depends on it: 64-bit remainders are slow. */
template <typename OP> SMP_DEVICE int smp_point_channel(const smp_io &io, int64_t i)
{
    if (!OP::by_channel && !io.in.alpha)
        return 0;
    return i <= INT32_MAX ? (int)((uint32_t)i % (uint32_t)io.in.channels) : (int)(i % io.in.channels);
}

template <typename IN, typename OUT, typename OP>
SMP_DEVICE OUT smp_point_sample(const smp_io &io, IN in, int channel, const OP &op, unsigned *clipped)
{
    float v = smp_value(in);
    if (!(io.in.alpha && channel == io.in.channels - 1))
        v = op(v, channel);
    if (io.clipped)
        *clipped += smp_clipped<OUT>(v);
    return smp_rounded<OUT>(v);
}

/* naive: one sample at a time. */
template <typename IN, typename OUT, typename OP> SMP_DEVICE void smp_point_each(const smp_io &io, const OP &op)
{
    unsigned clipped = 0;
    int64_t n = io.out.width * io.out.channels;
    int64_t end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y) {
        const IN *in = smp_in<IN>(io.in, y);
        OUT *out = smp_out<OUT>(io.out, y);
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
            out[i] = smp_point_sample<IN, OUT>(io, in[i], smp_point_channel<OP>(io, i), op, &clipped);
    }
    smp_count_clipped(io, clipped);
}

/* tiled: as many samples at a time as make 16 bytes on the wider side, in one access each; rows that do not start on
 * such a boundary, and what is left at their end, sample by sample. Any geometry does. */
template <typename IN, typename OUT, typename OP> SMP_DEVICE void smp_point_packs(const smp_io &io, const OP &op)
{
    constexpr int N = 16 / (int)(sizeof(IN) > sizeof(OUT) ? sizeof(IN) : sizeof(OUT));
    typedef smp_pack<IN, N> in_pack;
    typedef smp_pack<OUT, N> out_pack;
    unsigned clipped = 0;
    const smp_span span = smp_span_of<IN, OUT>(io);
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t row = blockIdx.y * blockDim.y + threadIdx.y; row < span.rows; row += gridDim.y * blockDim.y) {
        const IN *in = smp_in<IN>(io.in, io.out.y0 + row);
        OUT *out = smp_out<OUT>(io.out, io.out.y0 + row);
        const bool aligned = ((uintptr_t)in % sizeof(in_pack) | (uintptr_t)out % sizeof(out_pack)) == 0;
        const int64_t packs = aligned ? span.n / N : 0;
        for (int64_t k = first; k < packs; k += step) {
            const in_pack from = reinterpret_cast<const in_pack *>(in)[k];
            out_pack to;
            int channel = smp_point_channel<OP>(io, k * N);
#pragma unroll
            for (int j = 0; j < N; j++) {
                to.v[j] = smp_point_sample<IN, OUT>(io, from.v[j], channel, op, &clipped);
                channel = channel + 1 < io.in.channels ? channel + 1 : 0;
            }
            reinterpret_cast<out_pack *>(out)[k] = to;
        }
        for (int64_t i = packs * N + first; i < span.n; i += step)
            out[i] = smp_point_sample<IN, OUT>(io, in[i], smp_point_channel<OP>(io, i), op, &clipped);
    }
    smp_count_clipped(io, clipped);
}

#endif
