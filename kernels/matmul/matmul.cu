/* matmul on GPUs: out = L x R, a plane of a picture at a time (blockIdx.z). Every variant makes the same fmaf of an
 * output sample in the same order.
 *
 *   naive     A thread an output sample; both operands from global memory for every k. A warp shares L's sample and
 *             reads 32 adjacent ones of R: coalesced, but two loads for one fmaf. The limit is the first-level cache's
 *             loads. Seen in: sectors of global loads, 16 times those of tiled.
 *   tiled     A block takes 32 x 32 of each operand to shared memory and uses each sample 32 times. A thread makes 4
 *             output samples of a column, which share R's sample in a register: 5 shared loads for 4 fmaf. L's tile is
 *             transposed, [k][y], as a product in registers needs it; storing a row of L into a column of the tile puts
 *             32 lanes on one bank. Seen in: 32 wavefronts a shared store instead of 1.
 *   padded    A sample more a row: the 32 lanes of that store use 32 banks. The limit is still shared loads, 5 for 4
 *             fmaf.
 *   register  A block makes 128 x 128, a warp 64 x 32 of it, a thread 8 x 8: two by two blocks of 4 x 4, spaced so that
 *             the lanes of a warp read adjacent 16-byte vectors, or the same: 4 shared loads of 16 bytes, 8 wavefronts,
 *             for 64 fmaf, one k ahead. Asynchronous copies bring the next tiles while the present ones are used (two
 *             buffers, one barrier for 16 k). A row of L's tile has 132 samples: copies of 4 bytes that read 8 k of 4
 *             rows of L, whole sectors, store to 32 banks. The limit is fmaf, of which one in seven waits because its
 *             registers are in one bank. Costs 33 KiB of shared memory and 128 registers a thread, so two blocks an SM,
 *             and small products leave SMs idle. Integers are converted on the way, through registers. Seen in: fmaf
 *             issued near the peak, the stall "dispatch" of Nsight Compute.
 *
 * The register variant is in matmul_register.cu, its tiles in matmul.cuh. */
#include "lib/gpu_kernel.h"
#include "matmul/matmul.h"

template <typename OUT>
SMP_DEVICE void matmul_put(const smp_io &io, OUT *row, int64_t at, float value, unsigned *clipped)
{
    if (io.clipped)
        *clipped += smp_clipped<OUT>(value);
    row[at] = smp_rounded<OUT>(value);
}

template <typename IN, typename OUT> SMP_DEVICE void matmul_naive(const smp_io &io, const smp_matmul_params &p)
{
    const smp_view &l = *smp_matmul_l(&io, &p), &r = *smp_matmul_r(&io, &p);
    const int64_t n = io.out.width * io.out.channels;
    unsigned clipped = 0;
    smp_each(io, n, [&](int64_t y, int64_t i) {
        const int64_t x = i / io.out.channels;
        const int c = (int)(i - x * io.out.channels);
        const int64_t lc = smp_matmul_plane(&l, c), at = x * r.channels + smp_matmul_plane(&r, c);
        float sum = 0.f;
        for (int64_t k = 0; k < l.width; k++)
            sum = fmaf(smp_load(smp_row(&l, y), k * l.channels + lc, l.format), smp_load(smp_row(&r, k), at, r.format),
                       sum);
        matmul_put<OUT>(io, smp_out<OUT>(io.out, y), i, smp_matmul_value(sum, p.divisor), &clipped);
    });
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(matmul_naive, smp_matmul_params)

/* Sample (row, column) of plane c, 0 outside. */
SMP_DEVICE float matmul_sample(const smp_view &v, int c, int64_t row, int64_t column)
{
    if (row >= v.height || column >= v.width)
        return 0.f;
    return smp_load(smp_row(&v, row), column * v.channels + c, v.format);
}

/* A block of an output of `across` tiles a row: blockIdx.x counts them row by row. */
template <typename IN, typename OUT, int PAD> SMP_DEVICE void matmul_tile(const smp_io &io, const smp_matmul_params &p)
{
    constexpr int SIDE = SMP_MATMUL_SIDE, ROWS = SMP_MATMUL_ROWS, EACH = SIDE / ROWS;
    struct tiles {
        float l[SIDE][SIDE + PAD]; /* [k][y] */
        float r[SIDE][SIDE];       /* [k][x] */
    };
    SMP_SHARED(tiles, s);
    const smp_view &l = *smp_matmul_l(&io, &p), &r = *smp_matmul_r(&io, &p);
    const int64_t across = (io.out.width + SIDE - 1) / SIDE, end = io.out.y0 + io.out.rows;
    const int64_t y0 = io.out.y0 + blockIdx.x / across * SIDE, x = blockIdx.x % across * SIDE + threadIdx.x;
    const int c = (int)blockIdx.z, lc = smp_matmul_plane(&l, c), rc = smp_matmul_plane(&r, c);
    float sum[EACH] = {};
    for (int64_t k0 = 0; k0 < l.width; k0 += SIDE) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int row = (int)threadIdx.y + i * ROWS;
            s.l[threadIdx.x][row] = matmul_sample(l, lc, y0 + row, k0 + threadIdx.x);
            s.r[row][threadIdx.x] = matmul_sample(r, rc, k0 + row, x);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            const float right = s.r[k][threadIdx.x];
#pragma unroll
            for (int i = 0; i < EACH; i++)
                sum[i] = fmaf(s.l[k][threadIdx.y + i * ROWS], right, sum[i]);
        }
        __syncthreads();
    }
    unsigned clipped = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int64_t y = y0 + threadIdx.y + i * ROWS;
        if (y < end && x < io.out.width)
            matmul_put<OUT>(io, smp_out<OUT>(io.out, y), x * io.out.channels + c, smp_matmul_value(sum[i], p.divisor),
                            &clipped);
    }
    smp_count_clipped<OUT>(io, clipped);
}

template <typename IN, typename OUT> SMP_DEVICE void matmul_tiled(const smp_io &io, const smp_matmul_params &p)
{
    matmul_tile<IN, OUT, 0>(io, p);
}
SMP_KERNEL_FORMATS(matmul_tiled, smp_matmul_params)

template <typename IN, typename OUT> SMP_DEVICE void matmul_padded(const smp_io &io, const smp_matmul_params &p)
{
    matmul_tile<IN, OUT, 1>(io, p);
}
SMP_KERNEL_FORMATS(matmul_padded, smp_matmul_params)
