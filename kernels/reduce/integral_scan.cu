/* integral of 8 and 16 bits on GPUs: the ladder of a scan. Their sums are whole numbers, exact in any order, so that
 * the running sum of 32 pixels needs no 32 steps. A warp owns SMP_INTEGRAL_ROWS rows and walks along them, 32 columns
 * at a time, as in integral.cu; what differs is how running sums of the 32 pixels of each row are made.
 *
 *   tree    in shared memory, up and down a tree (Blelloch 1990, GPU Gems 3 chapter 39): pairs 1, 2, 4, 8, 16 apart,
 *           9 passes of log2(32). Lanes access every second, fourth, .. element, and rows begin in the same bank: 2, 4
 *           and up to 16 lanes meet in one.
 *   padded  the same with an unused element at the end of each row: rows begin in different banks, and what is left are
 *           pairs of lanes at the low levels.
 *   shuffle lanes add what the lanes 1, 2, 4, 8, 16 below have, through registers (Hillis and Steele 1986; Chen et al.
 *           2018 for summed area tables): no shared memory, 5 passes, more additions.
 *
 * What comes before a row's 32 pixels, and above a column, stays in registers. Floats have an order: integral.cu. */
#include "reduce/integral.h"

#include "lib/gpu_kernel.h"

template <int PITCH> struct integral_rows {
    uint32_t sums[SMP_INTEGRAL_ROWS][PITCH];
};

/* One level of the tree: element `second` of every pair gets what `first` has. They lie d apart in groups of 2 d. */
template <int PITCH> SMP_DEVICE void integral_level(integral_rows<PITCH> &tile, int d, int first, int pairs)
{
    for (int p = (int)threadIdx.x; p < pairs * SMP_INTEGRAL_ROWS; p += SMP_INTEGRAL_ACROSS) {
        smp_converge();
        uint32_t *const row = tile.sums[p / pairs];
        const int at = p % pairs * 2 * d + first;
        row[at + d] = row[at + d] + row[at];
    }
    __syncwarp();
}

/* v: a lane's column of 16 rows; becomes the running sums along the rows; total: theirs of 32 pixels. */
template <int PITCH>
SMP_DEVICE void integral_by_tree(uint32_t (&v)[SMP_INTEGRAL_ROWS], uint32_t (&total)[SMP_INTEGRAL_ROWS])
{
    typedef integral_rows<PITCH> tile_type;
    SMP_SHARED(tile_type, tile);
    const int t = (int)threadIdx.x;
    for (int r = 0; r < SMP_INTEGRAL_ROWS; r++)
        tile.sums[r][t] = v[r];
    __syncwarp();
    for (int d = 1; d < SMP_INTEGRAL_ACROSS; d *= 2)
        integral_level<PITCH>(tile, d, d - 1, SMP_INTEGRAL_ACROSS / (2 * d));
    for (int d = SMP_INTEGRAL_ACROSS / 4; d; d /= 2)
        integral_level<PITCH>(tile, d, 2 * d - 1, SMP_INTEGRAL_ACROSS / (2 * d) - 1);
    for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) {
        v[r] = tile.sums[r][t];
        total[r] = tile.sums[r][SMP_INTEGRAL_ACROSS - 1];
    }
    __syncwarp();
}

SMP_DEVICE void integral_by_shuffle(uint32_t (&v)[SMP_INTEGRAL_ROWS], uint32_t (&total)[SMP_INTEGRAL_ROWS])
{
    const unsigned t = threadIdx.x;
    for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) {
        for (unsigned d = 1; d < SMP_INTEGRAL_ACROSS; d *= 2) {
            const uint32_t below = __shfl_up_sync(0xffffffffu, v[r], d);
            v[r] += t >= d ? below : 0u;
        }
        total[r] = __shfl_sync(0xffffffffu, v[r], SMP_INTEGRAL_ACROSS - 1);
    }
}

/* Rows top .. bottom-1 of channel c. PITCH 0: by shuffles. FINAL: the picture; else the sums of the block's rows.
 * Geometry: blocks of one warp; x a channel, y a block of rows. */
template <typename IN, int PITCH, bool FINAL> SMP_DEVICE void integral_scan(const smp_io &io, const smp_integral &p)
{
    const int t = (int)threadIdx.x, channels = io.in.channels, c = (int)blockIdx.x;
    const int64_t n = io.in.width * channels, end = io.out.y0 + io.out.rows;
    for (int64_t top = io.out.y0 + (int64_t)blockIdx.y * SMP_INTEGRAL_ROWS; top < end;
         top += (int64_t)gridDim.y * SMP_INTEGRAL_ROWS) {
        const int rows = end - top < SMP_INTEGRAL_ROWS ? (int)(end - top) : SMP_INTEGRAL_ROWS;
        const int64_t at = top / SMP_INTEGRAL_ROWS * n;
        double before[SMP_INTEGRAL_ROWS];
        for (int r = 0; r < SMP_INTEGRAL_ROWS; r++)
            before[r] = 0.;
        for (int64_t x0 = 0; x0 < io.in.width; x0 += SMP_INTEGRAL_ACROSS) {
            const int64_t i = (x0 + t) * channels + c;
            const bool inside = x0 + t < io.in.width;
            uint32_t v[SMP_INTEGRAL_ROWS], total[SMP_INTEGRAL_ROWS];
            for (int r = 0; r < SMP_INTEGRAL_ROWS; r++)
                v[r] = inside && r < rows
                           ? (uint32_t)smp_integral_value(smp_row(&io.in, top + r), i, io.in.format, io.in.white)
                           : 0u;
            if (PITCH)
                integral_by_tree<PITCH ? PITCH : 1>(v, total);
            else
                integral_by_shuffle(v, total);
            double sum =
                FINAL && inside && p.along != SMP_ALONG_ROWS ? static_cast<const double *>(io.table)[at + i] : 0.;
            for (int r = 0; r < SMP_INTEGRAL_ROWS; r++) {
                const double along = before[r] + (double)v[r];
                before[r] = before[r] + (double)total[r];
                sum = p.along == SMP_ALONG_ROWS ? along : sum + along;
                if (FINAL && inside && r < rows)
                    smp_out<float>(io.out, top + r)[i] = smp_integral_result(sum, p.white);
                if (!FINAL && inside && r == rows - 1)
                    static_cast<double *>(io.result)[at + i] = sum;
            }
        }
    }
}

#define INTEGRAL_SCAN(name, PITCH)                                                                                     \
    template <typename T, typename> SMP_DEVICE void integral_blocks_##name(const smp_io &io, const smp_integral &p)    \
    {                                                                                                                  \
        integral_scan<T, PITCH, false>(io, p);                                                                         \
    }                                                                                                                  \
    SMP_KERNEL_SAME(integral_blocks_##name, smp_integral)                                                              \
    template <typename IN, typename OUT> SMP_DEVICE void integral_##name(const smp_io &io, const smp_integral &p)      \
    {                                                                                                                  \
        integral_scan<IN, PITCH, true>(io, p);                                                                         \
    }                                                                                                                  \
    SMP_KERNEL_INTO_F32(integral_##name, smp_integral)
INTEGRAL_SCAN(tree, SMP_INTEGRAL_ACROSS)
INTEGRAL_SCAN(tree_padded, SMP_INTEGRAL_ACROSS + 1)
INTEGRAL_SCAN(shuffle, 0)
