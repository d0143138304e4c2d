/* local_threshold on GPUs.
 *   naive  every sample of every square from global memory: size^2 loads a sample.
 *   tiled  8 and 16 bits: a block owns a line of samples and walks down. The sums of its columns and their squares stay
 *          in shared memory: a row enters and a row leaves, two loads a column; each thread then adds the columns of
 * its square, neighbours from neighbouring words: no bank conflicts. Sums of floats have an order, and run as naive. */
#include "stencil/local_threshold.h"

#include "stencil/stencil.cuh"

template <typename IN, typename OUT>
SMP_DEVICE void local_threshold_naive(const smp_io &io, const smp_local_threshold &p)
{
    stencil_each<OUT>(io, [&](int64_t y, int64_t i) {
        const int64_t x = stencil_pixel(i, io.in.channels);
        return smp_local_sample(&p, &io, x, y, (int)(i - x * io.in.channels));
    });
}
SMP_KERNEL_FORMATS(local_threshold_naive, smp_local_threshold)

/* The code of sample i of row y; both may lie outside the picture. */
template <typename IN> SMP_DEVICE uint32_t local_code(const smp_view &in, int64_t i, int64_t y, int edge, float outside)
{
    const int64_t inside = stencil_border(y, in.height, edge);
    const float v = inside < 0 ? outside : stencil_across(smp_in<IN>(in, inside), in, i, edge, outside);
    return (uint32_t)(int32_t)smp_round_to(v, in.white);
}

/* Geometry: blocks of SMP_LOCAL_ACROSS threads over as many samples of a row; SMP_LOCAL_DOWN rows each. */
template <typename IN, typename OUT>
SMP_DEVICE void local_threshold_tiled(const smp_io &io, const smp_local_threshold &p)
{
    SMP_SMEM_DYNAMIC(unsigned long long, squares);
    const int channels = io.in.channels, line = smp_local_line(&p, channels), r = p.size / 2;
    uint32_t *const sums = reinterpret_cast<uint32_t *>(squares + line);
    const int thread = (int)threadIdx.x, alpha = stencil_alpha(io.in);
    const int64_t n = stencil_samples(io.in), end = io.out.y0 + io.out.rows;
    const float outside = smp_outside(p.edge, p.fill, io.in.white);
    const uint64_t count = (uint64_t)p.size * (uint64_t)p.size;
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_LOCAL_DOWN; y0 < end;
         y0 += (int64_t)gridDim.y * SMP_LOCAL_DOWN) {
        const int64_t first = (int64_t)blockIdx.x * SMP_LOCAL_ACROSS, left = first - (int64_t)r * channels;
        const int64_t y1 = y0 + SMP_LOCAL_DOWN < end ? y0 + SMP_LOCAL_DOWN : end;
        for (int k = thread; k < line; k += SMP_LOCAL_ACROSS) {
            uint32_t s = 0;
            unsigned long long q = 0;
            for (int64_t y = y0 - r; y <= y0 + r; y++) {
                const uint32_t v = local_code<IN>(io.in, left + k, y, p.edge, outside);
                s += v;
                q += (unsigned long long)v * v;
            }
            sums[k] = s;
            squares[k] = q;
        }
        __syncthreads();
        for (int64_t y = y0; y < y1; y++) {
            const int64_t i = first + thread;
            uint64_t s = 0, q = 0;
            for (int k = 0; k < p.size; k++) {
                s += sums[thread + k * channels];
                q += squares[thread + k * channels];
            }
            if (i < n) {
                const IN *const row = smp_in<IN>(io.in, y);
                const double level = smp_local_level(p.method, p.k, p.r, p.offset, (double)count, (double)s,
                                                     smp_local_difference(count, s, q));
                const float v = alpha >= 0 && stencil_channel(io.in, i) == alpha
                                    ? smp_value(row[i])
                                    : smp_local_verdict(row, i, io.in.format, io.in.white, level);
                smp_out<OUT>(io.out, y)[i] = smp_rounded<OUT>(smp_one_nan(v));
            }
            __syncthreads();
            for (int k = thread; k < line && y + 1 < y1; k += SMP_LOCAL_ACROSS) {
                const uint32_t v = local_code<IN>(io.in, left + k, y + r + 1, p.edge, outside);
                const uint32_t old = local_code<IN>(io.in, left + k, y - r, p.edge, outside);
                sums[k] = sums[k] + v - old;
                squares[k] = squares[k] + (unsigned long long)v * v - (unsigned long long)old * old;
            }
            __syncthreads();
        }
    }
}
SMP_KERNEL_FORMATS(local_threshold_tiled, smp_local_threshold)
