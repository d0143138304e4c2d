/* quality on GPUs: one record a chunk (4096 pixels, view.h) and channel; the host folds the records.
 *   naive  a thread a chunk and channel: 121 loads of each picture a pixel, the lanes' sums in local memory.
 *   tiled  a block a chunk and channel: eleven rows of both pictures in shared memory for 256 pixels at a time,
 * neighbours read neighbouring words: no bank conflicts. The first warp adds the results, lane by lane in order. */
#include "reduce/quality.h"

#include "lib/gpu_kernel.h"

/* Chunk number `index` of the launch. */
struct quality_chunk {
    int64_t left, right, top, bottom, number;
    int channel;
    SMP_DEVICE_MEMBER bool find(const smp_io &io, int64_t index)
    {
        const int64_t colours = smp_quality_colours(&io.in), across = smp_chunks_across(io.in.width);
        const int64_t rows = smp_chunk_rows(io.in.width), end = io.out.y0 + io.out.rows, chunk = index / colours;
        channel = (int)(index % colours);
        top = io.out.y0 + chunk / across * rows;
        bottom = top + rows < end ? top + rows : end;
        left = chunk % across * SMP_CHUNK;
        right = io.in.width - left < SMP_CHUNK ? io.in.width : left + SMP_CHUNK;
        number = (top / rows * across + left / SMP_CHUNK) * colours + channel;
        return top < end;
    }
};

/* Geometry: threads along chunks and channels. */
template <typename T, typename> SMP_DEVICE void quality_naive(const smp_io &io, const smp_quality &p)
{
    quality_chunk chunk;
    if (!chunk.find(io, (int64_t)blockIdx.x * blockDim.x + threadIdx.x))
        return;
    const int c = chunk.channel;
    smp_quality_lane lanes[SMP_LANES];
    for (int i = 0; i < SMP_LANES; i++)
        lanes[i].squares = lanes[i].absolute = lanes[i].ssim = 0., lanes[i].most = 0.f;
    int64_t i = 0, windows = 0;
    for (int64_t y = chunk.top; y < chunk.bottom; y++) {
        windows += smp_quality_windows(&io.in, chunk.left, y, chunk.right - chunk.left);
        for (int64_t x = chunk.left; x < chunk.right; x++, i++) {
            smp_quality_lane &lane = lanes[i % SMP_LANES];
            smp_quality_meet(&lane, smp_quality_first(&io, x, y, c), smp_quality_second(&p, &io, x, y, c));
            if (smp_quality_inside(&io.in, x, y))
                lane.ssim = lane.ssim + smp_quality_ssim(&p, &io, x, y, c);
        }
    }
    for (int distance = SMP_LANES / 2; distance > 0; distance /= 2)
        for (int k = 0; k < distance; k++)
            smp_quality_join(&lanes[k], &lanes[k + distance]);
    static_cast<smp_quality_chunk *>(io.result)[chunk.number] = smp_quality_close(&lanes[0], windows);
}
SMP_KERNEL_SAME(quality_naive, smp_quality)

enum { QUALITY_ACROSS = SMP_QUALITY_THREADS + 2 * SMP_QUALITY_REACH };
struct quality_tile {
    float a[SMP_QUALITY_WINDOW][QUALITY_ACROSS], b[SMP_QUALITY_WINDOW][QUALITY_ACROSS];
    double index[SMP_QUALITY_THREADS];
};

/* Geometry: a block of SMP_QUALITY_THREADS a chunk and channel. */
template <typename T, typename> SMP_DEVICE void quality_tiled(const smp_io &io, const smp_quality &p)
{
    SMP_SHARED(quality_tile, tile);
    quality_chunk chunk;
    chunk.find(io, blockIdx.x);
    const int t = (int)threadIdx.x, c = chunk.channel;
    smp_quality_lane lane = {0., 0., 0., 0.f};
    int64_t i = 0, windows = 0;
    for (int64_t y = chunk.top; y < chunk.bottom; y++) {
        windows += smp_quality_windows(&io.in, chunk.left, y, chunk.right - chunk.left);
        for (int64_t x0 = chunk.left; x0 < chunk.right; x0 += SMP_QUALITY_THREADS) {
            const int n = chunk.right - x0 < SMP_QUALITY_THREADS ? (int)(chunk.right - x0) : SMP_QUALITY_THREADS;
            for (int k = t; k < SMP_QUALITY_WINDOW * QUALITY_ACROSS; k += SMP_QUALITY_THREADS) {
                const int row = k / QUALITY_ACROSS, column = k % QUALITY_ACROSS;
                const int64_t x = x0 - SMP_QUALITY_REACH + column, line = y - SMP_QUALITY_REACH + row;
                const bool there = x >= 0 && x < io.in.width && line >= 0 && line < io.in.height;
                tile.a[row][column] = there ? smp_quality_first(&io, x, line, c) : 0.f;
                tile.b[row][column] = there ? smp_quality_second(&p, &io, x, line, c) : 0.f;
            }
            __syncthreads();
            smp_quality_moments all = {{0., 0., 0., 0., 0.}};
            for (int dy = 0; dy < SMP_QUALITY_WINDOW; dy++) {
                smp_quality_moments row = {{0., 0., 0., 0., 0.}};
                for (int dx = 0; dx < SMP_QUALITY_WINDOW; dx++)
                    smp_quality_add(&row, p.window[dx], (double)tile.a[dy][t + dx], (double)tile.b[dy][t + dx]);
                smp_quality_add_row(&all, p.window[dy], &row);
            }
            tile.index[t] = smp_quality_index(all.m[0], all.m[1], all.m[2], all.m[3], all.m[4], p.c1, p.c2);
            __syncthreads();
            if (t < SMP_LANES) /* pixel i + k of the chunk is of lane (i + k) % 32 */
                for (int k = (int)((t - i % SMP_LANES + SMP_LANES) % SMP_LANES); k < n; k += SMP_LANES) {
                    smp_converge();
                    smp_quality_meet(&lane, tile.a[SMP_QUALITY_REACH][SMP_QUALITY_REACH + k],
                                     tile.b[SMP_QUALITY_REACH][SMP_QUALITY_REACH + k]);
                    if (smp_quality_inside(&io.in, x0 + k, y))
                        lane.ssim = lane.ssim + tile.index[k];
                }
            __syncthreads();
            i += n;
        }
    }
    if (t >= SMP_LANES)
        return;
    for (int distance = SMP_LANES / 2; distance > 0; distance /= 2) {
        const smp_quality_lane other = {__shfl_down_sync(0xffffffffu, lane.squares, (unsigned)distance),
                                        __shfl_down_sync(0xffffffffu, lane.absolute, (unsigned)distance),
                                        __shfl_down_sync(0xffffffffu, lane.ssim, (unsigned)distance),
                                        __shfl_down_sync(0xffffffffu, lane.most, (unsigned)distance)};
        smp_quality_join(&lane, &other);
    }
    if (t == 0)
        static_cast<smp_quality_chunk *>(io.result)[chunk.number] = smp_quality_close(&lane, windows);
}
SMP_KERNEL_SAME(quality_tiled, smp_quality)
