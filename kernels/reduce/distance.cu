/* distance on GPUs: distances in columns go to the scratch picture, as integers; a second launch finds the best of a
 * row. naive  a thread a pixel looks up and down its block of 16 rows, and along the row as far as a column can be
 * nearer, all in global memory. tiled  columns: a thread a column walks its block twice. Rows: a piece of the row, and
 * 64 columns on either side, in shared memory; neighbours read neighbouring words. Only distances above 64 read
 * further. */
#include "reduce/distance.h"

#include "lib/gpu_kernel.h"

/* Geometry: threads along columns (x), over blocks of rows (y). */
template <typename T, typename> SMP_DEVICE void distance_blocks_naive(const smp_io &io, const smp_distance &p)
{
    const int64_t end = io.out.y0 + io.out.rows, width = io.in.width;
    for (int64_t y = io.out.y0 + (int64_t)(blockIdx.y * blockDim.y + threadIdx.y) * SMP_DISTANCE_ROWS; y < end;
         y += (int64_t)gridDim.y * blockDim.y * SMP_DISTANCE_ROWS) {
        const int rows = end - y < SMP_DISTANCE_ROWS ? (int)(end - y) : SMP_DISTANCE_ROWS;
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < width;
             x += (int64_t)gridDim.x * blockDim.x)
            static_cast<uint16_t *>(io.result)[y / SMP_DISTANCE_ROWS * width + x] =
                smp_distance_block(&p, &io.in, x, y, rows);
    }
}
SMP_KERNEL_SAME(distance_blocks_naive, smp_distance)

template <typename IN, typename> SMP_DEVICE void distance_columns_naive(const smp_io &io, const smp_distance &p)
{
    smp_each(io, io.in.width,
             [&](int64_t y, int64_t x) { smp_out<int32_t>(io.out, y)[x] = smp_distance_column(&p, &io, x, y); });
}
SMP_KERNEL_INTO_F32(distance_columns_naive, smp_distance)

/* Geometry: as distance_blocks_naive. */
template <typename IN, typename> SMP_DEVICE void distance_columns_tiled(const smp_io &io, const smp_distance &p)
{
    const int64_t end = io.out.y0 + io.out.rows, width = io.in.width, height = io.in.height;
    for (int64_t y = io.out.y0 + (int64_t)(blockIdx.y * blockDim.y + threadIdx.y) * SMP_DISTANCE_ROWS; y < end;
         y += (int64_t)gridDim.y * blockDim.y * SMP_DISTANCE_ROWS) {
        const int32_t *const table = static_cast<const int32_t *>(io.table) + 2 * (y / SMP_DISTANCE_ROWS) * width;
        const int rows = end - y < SMP_DISTANCE_ROWS ? (int)(end - y) : SMP_DISTANCE_ROWS;
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < width;
             x += (int64_t)gridDim.x * blockDim.x) {
            int64_t above = table[x], below = table[width + x];
            unsigned ground = 0;
            for (int k = 0; k < rows; k++)
                ground |= (unsigned)smp_distance_ground(&p, &io.in, smp_row(&io.in, y + k), x) << k;
            for (int k = 0; k < rows; k++) {
                const unsigned rest = ground >> k;
                above = rest & 1 ? y + k : above;
                const int64_t next = rest ? y + k + __ffs((int)rest) - 1 : below;
                smp_out<int32_t>(io.out, y + k)[x] = smp_distance_nearer(y + k, above, next, height);
            }
        }
    }
}
SMP_KERNEL_INTO_F32(distance_columns_tiled, smp_distance)

template <typename, typename> SMP_DEVICE void distance_rows_naive(const smp_io &io, const smp_distance &p)
{
    smp_each(io, io.out.width, [&](int64_t y, int64_t x) {
        smp_out<float>(io.out, y)[x] = smp_distance_row(p.metric, smp_in<int32_t>(io.in, y), x, io.out.width);
    });
}
SMP_KERNEL_PAIR_(distance_rows_naive, f32, float, f32, float, smp_distance)

struct distance_line {
    int32_t g[SMP_DISTANCE_ACROSS + 2 * SMP_DISTANCE_HALO];
};

/* Geometry: blocks of SMP_DISTANCE_ACROSS threads along rows (x), over rows (y). */
template <typename, typename> SMP_DEVICE void distance_rows_tiled(const smp_io &io, const smp_distance &p)
{
    SMP_SHARED(distance_line, line);
    const int64_t end = io.out.y0 + io.out.rows, width = io.out.width;
    const int t = (int)threadIdx.x;
    for (int64_t y = io.out.y0 + blockIdx.y; y < end; y += gridDim.y) {
        const int64_t x0 = (int64_t)blockIdx.x * SMP_DISTANCE_ACROSS, x = x0 + t;
        const int32_t *const g = smp_in<int32_t>(io.in, y);
        for (int k = t; k < SMP_DISTANCE_ACROSS + 2 * SMP_DISTANCE_HALO; k += SMP_DISTANCE_ACROSS) {
            const int64_t from = x0 - SMP_DISTANCE_HALO + k;
            line.g[k] = from >= 0 && from < width ? g[from] : SMP_DISTANCE_FAR;
        }
        __syncthreads();
        if (x < width) {
            const int at = t + SMP_DISTANCE_HALO;
            int64_t best = smp_distance_by(p.metric, 0, line.g[at]);
            int aside = 1;
            for (; aside <= SMP_DISTANCE_HALO && smp_distance_least(p.metric, aside) < best; aside++) {
                const int64_t left = smp_distance_by(p.metric, aside, line.g[at - aside]);
                const int64_t right = smp_distance_by(p.metric, aside, line.g[at + aside]);
                best = left < best ? left : best;
                best = right < best ? right : best;
            }
            smp_out<float>(io.out, y)[x] = aside > SMP_DISTANCE_HALO ? smp_distance_row(p.metric, g, x, width)
                                                                     : smp_distance_result(p.metric, best);
        }
        __syncthreads();
    }
}
SMP_KERNEL_PAIR_(distance_rows_tiled, f32, float, f32, float, smp_distance)
