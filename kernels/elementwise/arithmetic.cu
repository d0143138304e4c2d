/* arithmetic on GPUs: a picture with a second one, or with a number.
 *   naive  one sample a thread.
 *   tiled  as many samples a thread as make 16 bytes on the wider side of the first picture, in one access each; of the
 *          second in accesses of 16 bytes or less where it has the same channels, else sample by sample through the
 * first cache, its alpha once a pixel. The operation is chosen once a pack. Three accesses for one operation or two:
 *          memory bandwidth is the bound, but for divisions of bytes. */
#include "elementwise/arithmetic.h"
#include "lib/elementwise.cuh"

/* The second picture: nothing, or a row of it. */
struct second_row {
    const smp_view &by;
    const smp_arithmetic_params &p;
    const void *row;

    /* For sample (pixel, channel) of the first picture, at its scale. */
    SMP_DEVICE_MEMBER float value(int64_t pixel, int channel) const
    {
        if (!row)
            return p.number;
        return smp_load(row, pixel * by.channels + (by.channels - by.alpha > 1 ? channel : 0), by.format) * p.scale;
    }
    /* Of a blend in a pixel. */
    SMP_DEVICE_MEMBER float weight(int64_t pixel) const
    {
        if (!row || !by.alpha)
            return p.opacity;
        return p.opacity * (smp_load(row, (pixel + 1) * by.channels - 1, by.format) / by.white);
    }
};

SMP_DEVICE second_row second_row_of(const smp_io &io, const smp_arithmetic_params &p, int64_t y)
{
    return second_row{io.second, p, io.second.data ? smp_row(&io.second, y) : nullptr};
}

/* One sample of the first picture; pixel and channel say where it is in its row. */
template <typename IN, typename OUT>
SMP_DEVICE OUT arithmetic_sample(const smp_io &io, const smp_arithmetic_params &p, const second_row &second, IN in,
                                 int64_t pixel, int channel, unsigned *clipped)
{
    const float a = smp_value(in);
    float r = a;
    if (!(io.in.alpha && channel == io.in.channels - 1)) {
        r = smp_arithmetic(p.operation, a, second.value(pixel, channel), io.in.white);
        if (p.operation >= SMP_BLEND_NORMAL)
            r = smp_arithmetic_mix(a, r, second.weight(pixel));
    }
    if (io.clipped)
        *clipped += smp_clipped<OUT>(r);
    return smp_rounded<OUT>(r);
}

template <typename IN, typename OUT> SMP_DEVICE void arithmetic_naive(const smp_io &io, const smp_arithmetic_params &p)
{
    unsigned clipped = 0;
    const int64_t n = io.out.width * io.out.channels, end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y) {
        const second_row second = second_row_of(io, p, y);
        const IN *in = smp_in<IN>(io.in, y);
        OUT *out = smp_out<OUT>(io.out, y);
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
            out[i] = arithmetic_sample<IN, OUT>(io, p, second, in[i], i / io.in.channels, (int)(i % io.in.channels),
                                                &clipped);
    }
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(arithmetic_naive, smp_arithmetic_params)

/* N samples of a second picture of the same channels, from sample `at` on, a multiple of N. */
template <typename BY, int N> SMP_DEVICE void second_pack(const second_row &second, int64_t at, float (&b)[N])
{
    constexpr int M = N * (int)sizeof(BY) > 16 ? 16 / (int)sizeof(BY) : N;
    typedef smp_pack<BY, M> pack;
    const pack *from = reinterpret_cast<const pack *>(static_cast<const BY *>(second.row) + at);
#pragma unroll
    for (int i = 0; i < N / M; i++) {
        const pack v = from[i];
#pragma unroll
        for (int j = 0; j < M; j++)
            b[i * M + j] = smp_value(v.v[j]) * second.p.scale;
    }
}

template <int OPERATION, int N>
SMP_DEVICE void operate_as(float (&r)[N], const float (&a)[N], const float (&b)[N], float white)
{
#pragma unroll
    for (int j = 0; j < N; j++)
        r[j] = smp_arithmetic(OPERATION, a[j], b[j], white);
}

/* One loop an operation. */
template <int N>
SMP_DEVICE void operate(int operation, float (&r)[N], const float (&a)[N], const float (&b)[N], float white)
{
    switch (operation) {
#define CASE(name)                                                                                                     \
    case name:                                                                                                         \
        operate_as<name>(r, a, b, white);                                                                              \
        break;
        CASE(SMP_ADD)
        CASE(SMP_SUBTRACT)
        CASE(SMP_MULTIPLY)
        CASE(SMP_DIVIDE)
        CASE(SMP_BLEND_MULTIPLY)
        CASE(SMP_BLEND_SCREEN)
        CASE(SMP_BLEND_OVERLAY)
        CASE(SMP_BLEND_HARDLIGHT)
        CASE(SMP_BLEND_SOFTLIGHT)
        CASE(SMP_BLEND_DARKEN)
        CASE(SMP_BLEND_LIGHTEN)
        CASE(SMP_BLEND_DODGE)
        CASE(SMP_BLEND_BURN)
        CASE(SMP_BLEND_DIFFERENCE)
        CASE(SMP_BLEND_EXCLUSION)
        CASE(SMP_BLEND_AVERAGE)
        CASE(SMP_BLEND_ADD)
#undef CASE
    default:
        operate_as<SMP_BLEND_NORMAL>(r, a, b, white);
    }
}

/* What the second picture means for a pack, sample by sample. weighted: its alpha counts. */
template <int N>
SMP_DEVICE void second_gather(const smp_io &io, const second_row &second, int64_t at, bool weighted, float (&b)[N],
                              float (&weight)[N])
{
    int64_t pixel = at <= INT32_MAX ? (int64_t)((uint32_t)at / (uint32_t)io.in.channels) : at / io.in.channels;
    int channel = (int)(at - pixel * io.in.channels);
    const int colours = io.in.channels - io.in.alpha;
    float w = weighted ? second.weight(pixel) : second.p.opacity;
#pragma unroll
    for (int j = 0; j < N; j++) {
        b[j] = channel < colours ? second.value(pixel, channel) : 0.f;
        weight[j] = w;
        if (++channel == io.in.channels) {
            channel = 0;
            pixel++;
            if (weighted && j + 1 < N)
                w = second.weight(pixel);
        }
    }
}

template <typename IN, typename OUT, int N>
SMP_DEVICE smp_pack<OUT, N> arithmetic_pack(const smp_io &io, const smp_arithmetic_params &p, const second_row &second,
                                            bool packed, smp_pack<IN, N> in, int64_t at, unsigned *clipped)
{
    const bool blends = p.operation >= SMP_BLEND_NORMAL;
    float a[N], b[N], r[N], weight[N];
#pragma unroll
    for (int j = 0; j < N; j++) {
        a[j] = smp_value(in.v[j]);
        b[j] = p.number;
        weight[j] = p.opacity;
    }
    if (second.row && !packed)
        second_gather(io, second, at, blends && io.second.alpha, b, weight);
    else if (second.row && io.second.format == SMP_U8)
        second_pack<uint8_t>(second, at, b);
    else if (second.row && io.second.format == SMP_U16)
        second_pack<uint16_t>(second, at, b);
    else if (second.row)
        second_pack<float>(second, at, b);
    operate(p.operation, r, a, b, io.in.white);
    smp_pack<OUT, N> out;
    int channel = io.in.alpha ? smp_point_channel(io, at) : 0;
#pragma unroll
    for (int j = 0; j < N; j++) {
        if (blends)
            r[j] = smp_arithmetic_mix(a[j], r[j], weight[j]);
        if (io.in.alpha) {
            r[j] = channel == io.in.channels - 1 ? a[j] : r[j];
            channel = channel + 1 < io.in.channels ? channel + 1 : 0;
        }
        if (io.clipped)
            *clipped += smp_clipped<OUT>(r[j]);
        out.v[j] = smp_rounded<OUT>(r[j]);
    }
    return out;
}

template <typename IN, typename OUT> SMP_DEVICE void arithmetic_tiled(const smp_io &io, const smp_arithmetic_params &p)
{
    constexpr int N = 16 / (int)(sizeof(IN) > sizeof(OUT) ? sizeof(IN) : sizeof(OUT));
    typedef smp_pack<IN, N> in_pack;
    typedef smp_pack<OUT, N> out_pack;
    unsigned clipped = 0;
    smp_span span = smp_span_of<IN, OUT>(io);
    if (io.second.data && io.second.stride != io.second.width * io.second.channels * smp_sample_size(io.second.format))
        span = smp_span{io.out.width, io.out.rows};
    const int64_t n = span.n * io.in.channels;
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, step = (int64_t)gridDim.x * blockDim.x;
    const bool alike = io.second.channels == io.in.channels && io.second.alpha == io.in.alpha &&
                       !(io.second.alpha && p.operation >= SMP_BLEND_NORMAL);
    for (int64_t row = blockIdx.y * blockDim.y + threadIdx.y; row < span.rows; row += gridDim.y * blockDim.y) {
        const second_row second = second_row_of(io, p, io.out.y0 + row);
        const IN *in = smp_in<IN>(io.in, io.out.y0 + row);
        OUT *out = smp_out<OUT>(io.out, io.out.y0 + row);
        const bool aligned = ((uintptr_t)in % sizeof(in_pack) | (uintptr_t)out % sizeof(out_pack)) == 0;
        const bool packed = alike && (uintptr_t)second.row % 16 == 0;
        const int64_t packs = aligned ? n / N : 0;
        for (int64_t k = first; k < packs; k += step)
            reinterpret_cast<out_pack *>(out)[k] = arithmetic_pack<IN, OUT, N>(
                io, p, second, packed, reinterpret_cast<const in_pack *>(in)[k], k * N, &clipped);
        for (int64_t i = packs * N + first; i < n; i += step)
            out[i] = arithmetic_sample<IN, OUT>(io, p, second, in[i], i / io.in.channels, (int)(i % io.in.channels),
                                                &clipped);
    }
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(arithmetic_tiled, smp_arithmetic_params)
