/* integral on GPUs.
 *   naive   a thread a block of SMP_INTEGRAL_ROWS rows, which it walks along with a running sum a row, from global
 *           memory: few threads, whose reads are a row apart. Where columns alone are summed, a thread a column.
 *   tiled   a block owns SMP_INTEGRAL_ROWS rows and walks along them, 32 columns at a time. In shared memory a thread a
 *           row continues the row's sum, then a thread a column adds the rows: each sample is read once. The threads of
 *           the first step are a row of the tile apart, all in one bank: 16-way conflicts.
 *   padded  the same with one unused element a row: no conflicts.
 * These have the order that sums of floats need. Of 8 and 16 bits a running sum need not go from pixel to pixel: the
 * rungs tree, padded and shuffle of integral_scan.cu. */
#include "reduce/integral.h"

#include "lib/gpu_kernel.h"

/* Geometry: threads in a line, one a walk. */
SMP_DEVICE void integral_walk_all(const smp_io &io, const smp_integral &p, bool applies)
{
    const int64_t walks = smp_integral_walks(&p, &io), end = io.out.y0 + io.out.rows;
    const int64_t blocks = (io.out.rows + SMP_INTEGRAL_ROWS - 1) / SMP_INTEGRAL_ROWS;
    for (int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; k < blocks * walks;
         k += (int64_t)gridDim.x * blockDim.x) {
        const int64_t top = io.out.y0 + k / walks * SMP_INTEGRAL_ROWS, bottom = top + SMP_INTEGRAL_ROWS;
        smp_integral_walk(&p, &io, top, bottom < end ? bottom : end, k % walks, applies);
    }
}

template <typename T, typename> SMP_DEVICE void integral_blocks_naive(const smp_io &io, const smp_integral &p)
{
    integral_walk_all(io, p, false);
}
SMP_KERNEL_SAME(integral_blocks_naive, smp_integral)

template <typename IN, typename> SMP_DEVICE void integral_naive(const smp_io &io, const smp_integral &p)
{
    integral_walk_all(io, p, true);
}

template <int PITCH> struct integral_tile {
    double sums[SMP_INTEGRAL_ROWS][PITCH];
};

/* Rows top .. bottom-1 of channel c. FINAL: the picture; else the sums of the block's rows. Geometry: blocks of one
 * warp; x a channel, y a block of rows. */
template <typename IN, int PITCH, bool FINAL> SMP_DEVICE void integral_walk(const smp_io &io, const smp_integral &p)
{
    typedef integral_tile<PITCH> tile_type;
    SMP_SHARED(tile_type, tile);
    const int t = (int)threadIdx.x, channels = io.in.channels, c = (int)blockIdx.x;
    const int64_t n = io.in.width * channels, end = io.out.y0 + io.out.rows;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * SMP_INTEGRAL_ROWS; top < end;
         top += (int64_t)gridDim.y * SMP_INTEGRAL_ROWS) {
        const int rows = end - top < SMP_INTEGRAL_ROWS ? (int)(end - top) : SMP_INTEGRAL_ROWS;
        const int64_t at = top / SMP_INTEGRAL_ROWS * n;
        smp_integral_run run = {0., 0., 0};
        for (int64_t x0 = 0; x0 < io.in.width; x0 += SMP_INTEGRAL_ACROSS) {
            const int64_t i = (x0 + t) * channels + c;
            const int across = io.in.width - x0 < SMP_INTEGRAL_ACROSS ? (int)(io.in.width - x0) : SMP_INTEGRAL_ACROSS;
            for (int r = 0; r < rows; r++) {
                smp_converge();
                if (t < across)
                    tile.sums[r][t] = smp_integral_value(smp_row(&io.in, top + r), i, io.in.format, io.in.white);
            }
            __syncwarp();
            if (p.along != SMP_ALONG_COLUMNS && t < rows)
                for (int k = 0; k < across; k++) {
                    smp_converge();
                    tile.sums[t][k] = smp_integral_next(&run, tile.sums[t][k], 1);
                }
            __syncwarp();
            if (t < across) {
                double sum = FINAL && p.along != SMP_ALONG_ROWS ? static_cast<const double *>(io.table)[at + i] : 0.;
                for (int r = 0; r < rows; r++) {
                    smp_converge();
                    sum = p.along == SMP_ALONG_ROWS ? tile.sums[r][t] : sum + tile.sums[r][t];
                    if (FINAL)
                        smp_out<float>(io.out, top + r)[i] = smp_integral_result(sum, p.white);
                }
                if (!FINAL)
                    static_cast<double *>(io.result)[at + i] = smp_integral_one_nan(sum);
            } /* no wait: a thread loads into the column that it alone has just read */
        }
    }
}

#define INTEGRAL(name, PITCH)                                                                                          \
    template <typename T, typename> SMP_DEVICE void integral_blocks_##name(const smp_io &io, const smp_integral &p)    \
    {                                                                                                                  \
        integral_walk<T, PITCH, false>(io, p);                                                                         \
    }                                                                                                                  \
    SMP_KERNEL_SAME(integral_blocks_##name, smp_integral)                                                              \
    template <typename IN, typename OUT> SMP_DEVICE void integral_##name(const smp_io &io, const smp_integral &p)      \
    {                                                                                                                  \
        integral_walk<IN, PITCH, true>(io, p);                                                                         \
    }                                                                                                                  \
    SMP_KERNEL_INTO_F32(integral_##name, smp_integral)
SMP_KERNEL_INTO_F32(integral_naive, smp_integral)
INTEGRAL(tiled, SMP_INTEGRAL_ACROSS)
INTEGRAL(padded, SMP_INTEGRAL_ACROSS + 1)
