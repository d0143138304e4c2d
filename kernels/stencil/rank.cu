/* Order statistics on GPUs. Medians of 3 and 5 run the networks of median.cu.
 *   naive  every window from global memory, in four passes of 256 classes, whose counts lie in local memory.
 *   tiled  a tile with its halo in shared memory, as keys, and a key a thread found bit by bit: 32 passes over the
 *          window, in which neighbouring lanes read neighbouring words. Up to SMP_RANK_TILED pixels; wider ones run as
 *          naive.
 * Variant private, histograms of bytes: rank_private.cu. */
#include "stencil/rank.h"

#include "stencil/stencil.cuh"

template <typename IN, typename OUT> SMP_DEVICE void rank_naive(const smp_io &io, const smp_rank &r)
{
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) { return smp_rank_window(&io, &r, y, i); });
}

/* The key at the rank, of those round `middle`. */
SMP_DEVICE uint32_t rank_of(const uint32_t *middle, const smp_rank &r, int pitch, int channels)
{
    uint32_t found = 0;
    for (int bit = 31; bit >= 0; bit--) {
        const uint32_t tried = found | 1u << bit;
        int below = 0;
        for (int dy = -r.shape.ry; dy <= r.shape.ry; dy++) {
            const int chord = smp_morph_chord(&r.shape, dy);
            for (int dx = -chord; dx <= chord; dx++)
                below += middle[dy * pitch + dx * channels] < tried;
        }
        found = below <= r.rank ? tried : found;
    }
    return found;
}

template <typename IN, typename OUT> SMP_DEVICE void rank_tiled(const smp_io &io, const smp_rank &r)
{
    SMP_SMEM_DYNAMIC(uint32_t, keys);
    const int channels = io.in.channels, rx = r.shape.rx, ry = r.shape.ry;
    const int pitch = SMP_RANK_ACROSS + 2 * rx * channels, rows = SMP_RANK_DOWN + 2 * ry;
    const float outside = smp_morph_outside(&r.shape, io.in.white);
    const int64_t n = stencil_samples(io.out), end = io.out.y0 + io.out.rows;
    const int thread = (int)(threadIdx.x + threadIdx.y * blockDim.x), threads = (int)(blockDim.x * blockDim.y);
    unsigned clipped = 0;
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_RANK_DOWN; y0 < end; y0 += gridDim.y * SMP_RANK_DOWN)
        for (int64_t x0 = (int64_t)blockIdx.x * SMP_RANK_ACROSS; x0 < n; x0 += (int64_t)gridDim.x * SMP_RANK_ACROSS) {
            for (int k = thread; k < pitch * rows; k += threads) {
                const int64_t i = x0 - rx * channels + k % pitch;
                const int64_t x = i >= 0 ? i / channels : -((channels - 1 - i) / channels);
                keys[k] = smp_rank_key(
                    smp_morph_at(&io.in, x, y0 - ry + k / pitch, (int)(i - x * channels), r.shape.edge, outside));
            }
            __syncthreads();
            for (int k = thread; k < SMP_RANK_ACROSS * SMP_RANK_DOWN; k += threads) {
                const int row = k / SMP_RANK_ACROSS, column = k % SMP_RANK_ACROSS;
                const uint32_t key = rank_of(keys + (row + ry) * pitch + column + rx * channels, r, pitch, channels);
                if (y0 + row < end && x0 + column < n)
                    stencil_put(io, smp_out<OUT>(io.out, y0 + row), x0 + column, smp_rank_value(key), &clipped);
            }
            __syncthreads();
        }
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(rank_naive, smp_rank)
SMP_KERNEL_FORMATS(rank_tiled, smp_rank)
