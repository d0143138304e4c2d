/* resample on GPUs: one channel a block, a frame a thread.
 *   naive     a global read for every tap of every frame.
 *   tiled     the frames that a block reads in shared memory. Lanes read M / L apart: where that is 2, 4, 8, as many of
 *             them meet in one bank.
 *   swizzled  every 32 frames are exchanged by another XOR, so that these lanes have banks of their own wherever the
 *             first frame lies. (A frame more behind every 32 would leave conflicts between both ends of a warp.)
 * Weights come from global memory: neighbouring frames have other phases, whose rows stay in the caches. */
#include "audio/resample.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(resample_naive_f32_f32, smp_resample, io, p)
{
    smp_each(io, io.in.channels, [&](int64_t y, int64_t c) {
        const smp_resample_place at = smp_resample_at(&p, y);
        const float *w = static_cast<const float *>(io.table) + (int64_t)at.phase * 2 * p.half;
        float s = 0.f;
        for (int k = 0; k < 2 * p.half; k++)
            s = fmaf(w[k], smp_frame_at(&io.in, at.first + k, (int)c), s);
        smp_out<float>(io.out, y)[c] = smp_one_nan(s);
    });
}

template <bool SWIZZLED> SMP_DEVICE int resample_place(const smp_resample &p, int i)
{
    return SWIZZLED ? i ^ (i / 32 & p.exchange) : i;
}

/* Geometry: a block of SMP_RESAMPLE_TILE threads for as many frames (x) of a channel (y); dynamic shared memory. */
template <bool SWIZZLED> SMP_DEVICE void resample_blocks(const smp_io &io, const smp_resample &p)
{
    SMP_SMEM_DYNAMIC(float, s);
    const int me = (int)threadIdx.x, channel = (int)blockIdx.y, span = (int)smp_resample_span(&p, SMP_RESAMPLE_TILE);
    const int64_t end = io.out.y0 + io.out.rows;
    const int64_t top = io.out.y0 + (int64_t)blockIdx.x * SMP_RESAMPLE_TILE;
    const int64_t first = smp_resample_at(&p, top).first;
    for (int i = me; i < span; i += SMP_RESAMPLE_TILE)
        s[resample_place<SWIZZLED>(p, i)] = smp_frame_at(&io.in, first + i, channel);
    __syncthreads();
    if (top + me < end) {
        const smp_resample_place at = smp_resample_at(&p, top + me);
        const float *w = static_cast<const float *>(io.table) + (int64_t)at.phase * 2 * p.half;
        const int from = (int)(at.first - first);
        float sum = 0.f;
        for (int k = 0; k < 2 * p.half; k++)
            sum = fmaf(w[k], s[resample_place<SWIZZLED>(p, from + k)], sum);
        smp_out<float>(io.out, top + me)[channel] = smp_one_nan(sum);
    }
}

SMP_KERNEL(resample_tiled_f32_f32, smp_resample, io, p)
{
    resample_blocks<false>(io, p);
}
SMP_KERNEL(resample_swizzled_f32_f32, smp_resample, io, p)
{
    resample_blocks<true>(io, p);
}
