/* convolve and correlate on GPUs.
 *   naive  a global read and a multiplication for every element of the kernel, through the border rule.
 *   tiled  rows with a halo in shared memory as f32 code values, in batches where the kernel is large. A thread makes
 *          16 results, four samples in four rows, so that four reads and four weights serve 16 multiplications. Its
 *          samples are 32 apart: neighbouring lanes read neighbouring words, without conflicts, for any number of
 *          channels. Weights of kernels up to 15 x 15 come from the constant bank. From 5 x 5 on arithmetic is the
 *          limit.
 *   warp   squares of 3, 5 and 7 of u8 and f32 (convolve_warp.cu): 60 instructions a sample of 7 x 7 instead of 246.
 * The others as tiled. */
#include "stencil/convolve.h"

#include "stencil/stencil.cuh"

template <typename IN, typename OUT> SMP_DEVICE void convolve_naive(const smp_io &io, const smp_convolve &kernel)
{
    const float *k = smp_convolve_kernel(&kernel, io.table),
                outside = smp_outside(kernel.edge, kernel.fill, io.in.white);
    const int kept = kernel.keep_alpha ? stencil_alpha(io.in) : -1;
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        if (kept >= 0 && stencil_channel(io.in, i) == kept)
            return smp_value(smp_in<IN>(io.in, y)[i]);
        float s = smp_convolve_first(&kernel, io.in.white);
        for (int row = 0; row < kernel.rows; row++)
            for (int col = 0; col < kernel.cols; col++)
                s = smp_convolve_tap(s, k[row * kernel.cols + col],
                                     stencil_at<IN>(io.in, i + (int64_t)(col - kernel.left) * io.in.channels,
                                                    y - kernel.up + row, kernel.edge, outside));
        return s;
    });
}
SMP_KERNEL_FORMATS(convolve_naive, smp_convolve)

/* The source of the weights. */
struct convolve_inline {
    const smp_convolve &kernel;
    SMP_DEVICE_MEMBER float operator[](int i) const { return kernel.k[i]; }
};
struct convolve_table {
    const float *k;
    SMP_DEVICE_MEMBER float operator[](int i) const { return k[i]; }
};

/* Adds one row of the tile, from the first tap of the thread's first sample on, to four rows of sums. Sum row q takes
 * it with kernel row `row` - q, where there is one. */
template <typename WEIGHTS>
SMP_DEVICE void convolve_add_row(float sum[4][4], const float *at, int row, int rows, int cols, int channels,
                                 const WEIGHTS &k)
{
    const bool every = row >= 3 && row < rows;
    for (int col = 0; col < cols; col++, at += channels) {
        float v[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = at[32 * i];
#pragma unroll
        for (int q = 0; q < 4; q++)
            if (every || (row >= q && row - q < rows)) {
                const float weight = k[(row - q) * cols + col];
#pragma unroll
                for (int i = 0; i < 4; i++)
                    sum[q][i] = smp_convolve_tap(sum[q][i], weight, v[i]);
            }
    }
}

/* Grid: tiled() of src/stages/shared/stencil/kernel_matrix.c. */
template <typename IN, typename OUT, typename WEIGHTS>
SMP_DEVICE void convolve_tile(const smp_io &io, const smp_convolve &kernel, const WEIGHTS &k, float *shared)
{
    const float outside = smp_outside(kernel.edge, kernel.fill, io.in.white);
    const int channels = io.in.channels, kept = kernel.keep_alpha ? stencil_alpha(io.in) : -1;
    const int margin = smp_convolve_margin(&kernel, channels), line = smp_convolve_line(&kernel, channels);
    const int batch = smp_convolve_batch(&kernel, channels), lane = (int)threadIdx.x, mine = 4 * (int)threadIdx.y;
    const int64_t x0 = (int64_t)blockIdx.x * SMP_CONVOLVE_ACROSS, n = stencil_samples(io.out);
    const int64_t end = io.out.y0 + io.out.rows;
    unsigned clipped = 0;
    for (int64_t top = io.out.y0 + blockIdx.y * SMP_CONVOLVE_DOWN; top < end; top += gridDim.y * SMP_CONVOLVE_DOWN) {
        const int down = end - top < SMP_CONVOLVE_DOWN ? (int)(end - top) : SMP_CONVOLVE_DOWN,
                  rows = down + kernel.rows - 1;
        float sum[4][4];
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[q][i] = smp_convolve_first(&kernel, io.in.white);
        for (int base = 0; base < rows; base += batch) {
            const int have = rows - base < batch ? rows - base : batch;
            for (int j = (int)threadIdx.y; j < have; j += (int)blockDim.y)
                stencil_bring<IN>(shared + j * line, io.in, top - kernel.up + base + j, x0 - margin, line, lane, 32,
                                  kernel.edge, outside);
            __syncthreads();
            const int from = mine > base ? mine : base;
            const int to = mine + 3 + kernel.rows < base + have ? mine + 3 + kernel.rows : base + have;
            for (int j = from; j < to; j++)
                convolve_add_row(sum, shared + (j - base) * line + margin - kernel.left * channels + lane, j - mine,
                                 kernel.rows, kernel.cols, channels, k);
            __syncthreads();
        }
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int64_t y = top + mine + q, at = x0 + lane + 32 * i;
                if (mine + q >= down || at >= n)
                    continue;
                const bool keeps = kept >= 0 && stencil_channel(io.in, at) == kept;
                stencil_put(io, smp_out<OUT>(io.out, y), at, keeps ? smp_value(smp_in<IN>(io.in, y)[at]) : sum[q][i],
                            &clipped);
            }
    }
    smp_count_clipped<OUT>(io, clipped);
}

template <typename IN, typename OUT> SMP_DEVICE void convolve_tiled(const smp_io &io, const smp_convolve &kernel)
{
    SMP_SMEM_DYNAMIC(float, shared);
    const convolve_inline few = {kernel};
    convolve_tile<IN, OUT>(io, kernel, few, shared);
}
template <typename IN, typename OUT> SMP_DEVICE void convolve_tiled_table(const smp_io &io, const smp_convolve &kernel)
{
    SMP_SMEM_DYNAMIC(float, shared);
    const convolve_table many = {static_cast<const float *>(io.table)};
    convolve_tile<IN, OUT>(io, kernel, many, shared);
}
SMP_KERNEL_FORMATS(convolve_tiled, smp_convolve)
SMP_KERNEL_FORMATS(convolve_tiled_table, smp_convolve)
