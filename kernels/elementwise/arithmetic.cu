/* arithmetic on GPUs: a picture with a second one, or with a number.
 *   naive  one sample a thread.
 *   tiled  as many samples a thread as make 16 bytes on the wider side of the first picture, in one access each; of the
 *          second in accesses of 16 bytes or less where it has the same channels, else sample by sample through the
 *          first-level cache, its alpha once a pixel. The operation is chosen once a pack. Memory bandwidth is the
 * bound: three accesses for one operation or two; arithmetic is for divisions of bytes. */
#include "elementwise/arithmetic.h"
#include "lib/elementwise.cuh"

/* A row of the second picture; row is null where there is none. */
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
    /* The weight of a blend in a pixel. */
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

/* One loop an operation. */
template <int N>
SMP_DEVICE void operate(int operation, float (&r)[N], const float (&a)[N], const float (&b)[N], float white)
{
    switch (operation) {
    default:
#define O(name)                                                                                                        \
    case SMP_##name:                                                                                                   \
        _Pragma("unroll") for (int j = 0; j < N; j++) r[j] = smp_arithmetic(SMP_##name, a[j], b[j], white);            \
        break;
        SMP_OPERATION_LIST(O)
#undef O
    }
}

/* The second picture for a pack, sample by sample. weighted: its alpha counts. */
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

/* For smp_point_singles and smp_point_runs. alike: a sample of the second picture for each of the first, and no
 * weights.
 */
template <typename IN, typename OUT> struct arithmetic_run {
    const smp_io &io;
    const smp_arithmetic_params &p;
    bool alike;
    unsigned &clipped;

    template <int N> SMP_DEVICE_MEMBER void operator()(const IN (&from)[N], OUT (&to)[N], int64_t row, int64_t i) const
    {
        const second_row second = second_row_of(io, p, io.out.y0 + row);
        const bool blends = p.operation >= SMP_BLEND_NORMAL;
        const bool packed = N > 1 && alike && (uintptr_t)second.row % 16 == 0;
        float a[N], b[N], r[N], weight[N];
#pragma unroll
        for (int j = 0; j < N; j++) {
            a[j] = smp_value(from[j]);
            b[j] = p.number;
            weight[j] = p.opacity;
        }
        if (second.row && !packed)
            second_gather(io, second, i, blends && io.second.alpha, b, weight);
        else if (second.row && io.second.format == SMP_U8)
            second_pack<uint8_t>(second, i, b);
        else if (second.row && io.second.format == SMP_U16)
            second_pack<uint16_t>(second, i, b);
        else if (second.row)
            second_pack<float>(second, i, b);
        operate(p.operation, r, a, b, io.in.white);
        int channel = io.in.alpha ? smp_point_channel(io, i) : 0;
#pragma unroll
        for (int j = 0; j < N; j++) {
            if (blends)
                r[j] = smp_arithmetic_mix(a[j], r[j], weight[j]);
            if (io.in.alpha) {
                r[j] = channel == io.in.channels - 1 ? a[j] : r[j];
                channel = channel + 1 < io.in.channels ? channel + 1 : 0;
            }
            to[j] = smp_point_rounded<OUT>(io, r[j], &clipped);
        }
    }
};

template <typename IN, typename OUT> SMP_DEVICE void arithmetic_naive(const smp_io &io, const smp_arithmetic_params &p)
{
    unsigned clipped = 0;
    smp_point_singles<IN, OUT>(io, arithmetic_run<IN, OUT>{io, p, false, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(arithmetic_naive, smp_arithmetic_params)

template <typename IN, typename OUT> SMP_DEVICE void arithmetic_tiled(const smp_io &io, const smp_arithmetic_params &p)
{
    unsigned clipped = 0;
    smp_span span = smp_span_of<IN, OUT>(io);
    if (io.second.data && io.second.stride != io.second.width * io.second.channels * smp_sample_size(io.second.format))
        span = smp_span{io.out.width, io.out.rows};
    const bool alike = io.second.channels == io.in.channels && io.second.alpha == io.in.alpha &&
                       !(io.second.alpha && p.operation >= SMP_BLEND_NORMAL);
    smp_point_runs<IN, OUT>(io, span, arithmetic_run<IN, OUT>{io, p, alike, clipped});
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(arithmetic_tiled, smp_arithmetic_params)
