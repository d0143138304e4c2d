/* guided on GPUs: two launches, each with sums of windows of doubles.
 *   naive  a thread a sample, every window from global memory: 4 (2 r + 1)^2 loads.
 *   tiled  a block of 32 x 8 samples: sums along the rows that its windows have in shared memory, a plane a sum, and
 *          from there the sums of rows: lanes side by side, no bank conflicts (two wavefronts for 32 doubles, which is
 *          what they need). Radii whose sums do not fit 48 KB run as naive. */
#include "stencil/guided.h"

#include "stencil/stencil.cuh"

SMP_DEVICE void guided_put_line(const smp_io &io, int64_t y, int64_t i, smp_guided_line line)
{
    float *const row = smp_out<float>(io.out, y);
    row[i] = line.a;
    row[smp_guided_second_half(&io.out) + i] = line.b;
}

/* Stores what the sums make of sample i of row y. */
SMP_DEVICE void guided_put_fit(const smp_io &io, const smp_guided &p, int64_t y, int64_t i, const smp_guided_sums &sums)
{
    smp_guided_line line = smp_guided_fit(&p, &sums, smp_guided_count(&p));
    if (smp_guided_is_alpha(&io.in, i)) {
        line.a = 0.f;
        line.b = smp_load(smp_row(&io.in, y), i, io.in.format);
    }
    guided_put_line(io, y, i, line);
}
template <typename OUT>
SMP_DEVICE void guided_put_result(const smp_io &io, const smp_guided &p, int64_t y, int64_t i,
                                  const smp_guided_sums &sums, unsigned *clipped)
{
    const int64_t x = i / io.out.channels;
    const float guide = smp_guided_guide(&p, &io.second, io.out.white, x, y, (int)(i - x * io.out.channels));
    float v = smp_guided_result(&sums, smp_guided_count(&p), guide);
    if (smp_guided_is_alpha(&io.out, i))
        v = smp_in<float>(io.in, y)[smp_guided_second_half(&io.in) + i];
    stencil_put(io, smp_out<OUT>(io.out, y), i, v, clipped);
}

/* Geometry: threads over samples of the picture (x) and rows (y). */
template <typename IN, typename OUT> SMP_DEVICE void guided_fit_naive(const smp_io &io, const smp_guided &p)
{
    const int64_t n = io.in.width * io.in.channels;
    smp_each(io, n, [&](int64_t y, int64_t i) {
        const int64_t x = i / io.in.channels;
        guided_put_fit(io, p, y, i, smp_guided_window(&p, &io, x, y, (int)(i - x * io.in.channels), 1));
    });
}
SMP_KERNEL_INTO_F32(guided_fit_naive, smp_guided)

template <typename IN, typename OUT> SMP_DEVICE void guided_apply_naive(const smp_io &io, const smp_guided &p)
{
    const int64_t n = io.out.width * io.out.channels;
    unsigned clipped = 0;
    smp_each(io, n, [&](int64_t y, int64_t i) {
        const int64_t x = i / io.out.channels;
        guided_put_result<OUT>(io, p, y, i, smp_guided_window(&p, &io, x, y, (int)(i - x * io.out.channels), 0),
                               &clipped);
    });
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FROM_F32(guided_apply_naive, smp_guided)

/* Sums of a block's windows. Every thread of the block calls it; y may lie past the rows. The first `count` sums. */
template <bool FIT, int COUNT>
SMP_DEVICE smp_guided_sums guided_window(const smp_io &io, const smp_guided &p, double *shared, int64_t i, int64_t y0,
                                         int channels, int64_t samples, int64_t end)
{
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y, rows = SMP_GUIDED_DOWN + 2 * p.radius;
    const int64_t x = i / channels;
    const int c = (int)(i - x * channels);
    smp_guided_sums all = smp_guided_none();
    for (int r = ty; r < rows; r += SMP_GUIDED_DOWN) {
        smp_guided_sums row = smp_guided_none();
        const int64_t y = y0 - p.radius + r;
        for (int64_t dx = -p.radius; i < samples && y < end + p.radius && dx <= p.radius; dx++) {
            const smp_guided_sums one =
                FIT ? smp_guided_fit_of(&p, &io, x + dx, y, c) : smp_guided_line_of(&p, &io, x + dx, y, c);
            smp_guided_add(&row, &one);
        }
        for (int k = 0; k < COUNT; k++)
            shared[(k * rows + r) * SMP_GUIDED_ACROSS + tx] = row.v[k];
    }
    __syncthreads();
    for (int r = ty; r <= ty + 2 * p.radius; r++)
        for (int k = 0; k < COUNT; k++)
            all.v[k] = all.v[k] + shared[(k * rows + r) * SMP_GUIDED_ACROSS + tx];
    __syncthreads();
    return all;
}

/* Geometry: blocks of SMP_GUIDED_ACROSS x SMP_GUIDED_DOWN threads over samples of the picture (x) and rows (y). */
template <typename IN, typename OUT> SMP_DEVICE void guided_fit_tiled(const smp_io &io, const smp_guided &p)
{
    SMP_SMEM_DYNAMIC(double, shared);
    const int64_t n = io.in.width * io.in.channels, end = io.out.y0 + io.out.rows;
    const int64_t i = (int64_t)blockIdx.x * SMP_GUIDED_ACROSS + threadIdx.x;
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_GUIDED_DOWN; y0 < end;
         y0 += (int64_t)gridDim.y * SMP_GUIDED_DOWN) {
        const smp_guided_sums sums = guided_window<true, SMP_GUIDED_SUMS>(io, p, shared, i, y0, io.in.channels, n, end);
        if (i < n && y0 + threadIdx.y < end)
            guided_put_fit(io, p, y0 + threadIdx.y, i, sums);
    }
}
SMP_KERNEL_INTO_F32(guided_fit_tiled, smp_guided)

template <typename IN, typename OUT> SMP_DEVICE void guided_apply_tiled(const smp_io &io, const smp_guided &p)
{
    SMP_SMEM_DYNAMIC(double, shared);
    const int64_t n = io.out.width * io.out.channels, end = io.out.y0 + io.out.rows;
    const int64_t i = (int64_t)blockIdx.x * SMP_GUIDED_ACROSS + threadIdx.x;
    unsigned clipped = 0;
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_GUIDED_DOWN; y0 < end;
         y0 += (int64_t)gridDim.y * SMP_GUIDED_DOWN) {
        const smp_guided_sums sums = guided_window<false, 2>(io, p, shared, i, y0, io.out.channels, n, end);
        if (i < n && y0 + threadIdx.y < end)
            guided_put_result<OUT>(io, p, y0 + threadIdx.y, i, sums, &clipped);
    }
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FROM_F32(guided_apply_tiled, smp_guided)
