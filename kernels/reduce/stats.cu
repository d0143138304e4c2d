/* stats on GPUs: one record a chunk (4096 pixels, view.h) and channel; the host folds the records. The order of
 * additions in a chunk is fixed: 32 lanes add their pixels in order, then pairs of lanes at distance 16, 8, 4, 2, 1.
 *   naive        a thread a chunk and channel, directly from global memory, the lanes' sums in its local memory:
 *                threads read far from each other, so that each access brings 32 bytes for one sample, and most of the
 *                GPU is idle.
 *   interleaved  a warp a chunk and channel, a thread a lane; the lanes' sums are added in shared memory by the
 *                textbook tree with a doubling stride. The definition's distances halve, so lanes are stored in
 *                bit-reversed order: strides of 2, 4, ... 32 doubles conflict 2- to 16-way.
 *   tiled        the same with lanes in order: the stride is the distance, neighbours touch neighbours, no conflicts.
 *   shuffle      in stats_shuffle.cu: no shared memory, channels together, wide loads. */
#include "reduce/stats_chunk.cuh"

enum { STATS_WARPS = SMP_STATS_THREADS / SMP_LANES };

template <typename T, typename> SMP_DEVICE void stats_naive(const smp_io &io, const smp_no_params &)
{
    const int64_t item = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = (int)(item % io.in.channels);
    stats_chunk chunk;
    if (!chunk.find(io, item / io.in.channels))
        return;
    stats_sums lanes[SMP_LANES];
    for (int i = 0; i < SMP_LANES; i++)
        lanes[i].clear();
    const float pivot = stats_pivot<T>(chunk, channel);
    stats_walk walk;
    walk.start(chunk, 0, 1);
    for (int32_t i = 0; i < chunk.pixels; i++, walk.next())
        lanes[i % SMP_LANES].add(stats_value<T>(walk.at, channel), pivot);
    for (int distance = SMP_LANES / 2; distance > 0; distance /= 2)
        for (int i = 0; i < distance; i++) {
            const stats_sums &other = lanes[i + distance];
            lanes[i].join(other.sum, other.squares, other.min, other.max, other.count);
        }
    chunk.records[channel] = lanes[0].close(pivot);
}
SMP_KERNEL_SAME(stats_naive, smp_no_params)

/* A block's lanes, 32 for each of its warps' chunks. */
struct stats_tree {
    double sum[SMP_STATS_THREADS], squares[SMP_STATS_THREADS];
    float min[SMP_STATS_THREADS], max[SMP_STATS_THREADS];
    int32_t count[SMP_STATS_THREADS];
};

SMP_DEVICE stats_sums stats_take(const stats_tree &tree, int slot)
{
    return {tree.sum[slot], tree.squares[slot], tree.min[slot], tree.max[slot], tree.count[slot]};
}
SMP_DEVICE void stats_put(stats_tree &tree, int slot, const stats_sums &sums)
{
    tree.sum[slot] = sums.sum;
    tree.squares[slot] = sums.squares;
    tree.min[slot] = sums.min;
    tree.max[slot] = sums.max;
    tree.count[slot] = sums.count;
}
SMP_DEVICE void stats_join(stats_tree &tree, int slot, int other)
{
    stats_sums sums = stats_take(tree, slot);
    sums.join(tree.sum[other], tree.squares[other], tree.min[other], tree.max[other], tree.count[other]);
    stats_put(tree, slot, sums);
}

template <typename T, bool INTERLEAVED> SMP_DEVICE void stats_shared(const smp_io &io)
{
    SMP_SHARED(stats_tree, tree);
    const int t = (int)threadIdx.x, lane = t % SMP_LANES, warp = t / SMP_LANES;
    const int64_t item = (int64_t)blockIdx.x * STATS_WARPS + warp;
    const int channel = (int)(item % io.in.channels);
    stats_chunk chunk = {};
    const bool some = chunk.find(io, item / io.in.channels);
    float pivot = 0.f;
    stats_sums sums;
    sums.clear();
    if (some) {
        pivot = stats_pivot<T>(chunk, channel);
        stats_walk walk;
        walk.start(chunk, lane, SMP_LANES);
        for (int32_t i = lane; i < chunk.pixels; i += SMP_LANES, walk.next())
            sums.add(stats_value<T>(walk.at, channel), pivot);
    }
    if (INTERLEAVED) {
        stats_put(tree, warp * SMP_LANES + (int)(__brev((unsigned)lane) >> 27), sums);
#pragma unroll 1 // unrolled, nvcc would join the two loads of stride 1 into one, with other conflicts than this is here
                 // to show
        for (int stride = 1; stride < SMP_LANES; stride *= 2) {
            __syncthreads();
            const int slot = 2 * stride * t;
            if (slot < SMP_STATS_THREADS)
                stats_join(tree, slot, slot + stride);
        }
    } else {
        stats_put(tree, t, sums);
        for (int distance = SMP_LANES / 2; distance > 0; distance /= 2) {
            __syncthreads();
            if (lane < distance)
                stats_join(tree, t, t + distance);
        }
    }
    __syncthreads();
    if (some && lane == 0)
        chunk.records[channel] = stats_take(tree, t).close(pivot);
}

template <typename T, typename> SMP_DEVICE void stats_interleaved(const smp_io &io, const smp_no_params &)
{
    stats_shared<T, true>(io);
}
SMP_KERNEL_SAME(stats_interleaved, smp_no_params)

template <typename T, typename> SMP_DEVICE void stats_tiled(const smp_io &io, const smp_no_params &)
{
    stats_shared<T, false>(io);
}
SMP_KERNEL_SAME(stats_tiled, smp_no_params)
