/* trim on GPUs.
 *   naive  one sample a thread, and of several spans each sample looks for its own.
 *   tiled  16 bytes a thread and access where both sides are so aligned: memory bandwidth is the limit. Of several
 *          spans a thread looks for its first, and goes on from there. */
#include "audio/trim.h"
#include "lib/elementwise.cuh"

struct trim_op {
    static constexpr bool by_channel = false, with_alpha = true;
    SMP_DEVICE_MEMBER float operator()(float v, int) const { return v; }
};

template <bool WALK> SMP_DEVICE void trim_spans(const smp_io &io, const smp_trim &p)
{
    const smp_row_span *const spans = static_cast<const smp_row_span *>(io.table);
    const int64_t across = io.out.width * io.out.channels, all = io.out.rows * across;
    const int64_t threads = (int64_t)blockDim.x * blockDim.y, blocks = (int64_t)gridDim.x * gridDim.y;
    int64_t i = ((int64_t)blockIdx.y * gridDim.x + blockIdx.x) * threads + threadIdx.y * blockDim.x + threadIdx.x;
    int32_t k = WALK ? smp_row_span_of(spans, p.spans, io.out.y0 + i / across) : 0;
    for (; i < all; i += threads * blocks) {
        const int64_t y = io.out.y0 + i / across;
        if (!WALK)
            k = smp_row_span_of(spans, p.spans, y);
        while (WALK && k + 1 < p.spans && spans[k + 1].at <= y)
            k++;
        static_cast<float *>(smp_row(&io.out, y))[i % across] =
            static_cast<const float *>(smp_row(&io.in, smp_row_span_row(&spans[k], y)))[i % across];
    }
}

template <typename IN, typename OUT> SMP_DEVICE void trim_naive(const smp_io &io, const smp_trim &p)
{
    if (p.spans)
        trim_spans<false>(io, p);
    else
        smp_point_each<IN, OUT>(smp_trim_io(&io, p.start), trim_op{});
}
SMP_KERNEL_PAIR_(trim_naive, f32, float, f32, float, smp_trim)

template <typename IN, typename OUT> SMP_DEVICE void trim_tiled(const smp_io &io, const smp_trim &p)
{
    if (p.spans)
        trim_spans<true>(io, p);
    else
        smp_point_packs<IN, OUT>(smp_trim_io(&io, p.start), trim_op{});
}
SMP_KERNEL_PAIR_(trim_tiled, f32, float, f32, float, smp_trim)
