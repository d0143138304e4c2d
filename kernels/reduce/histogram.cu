/* histogram on GPUs, and the counts of every stage that needs one (percentiles, equalize, levels, threshold).
 *   naive    one 64-bit atomic in global memory a sample. The second-level cache executes them, and those on one
 *            address wait for each other: a dark picture is slowest.
 *   tiled    a histogram a block in shared memory, added to the result at its end. Lanes that meet different counters
 *            of one bank still wait for each other; the trace counts it as conflicts of shared atomics.
 *   private  in histogram_private.cu: a counter for each bank, so that no lane waits.
 * An atomicAdd(p, 1) without use of its result costs nothing extra when lanes meet in one counter, so that smooth and
 * constant pictures are no slower than noise.
 *
 * A histogram too large for shared memory (65536 bins) is cut into gridDim.y parts: each reads all samples and counts
 * its own. The grid's x divides the picture. Counters have 32 bits: a block sees fewer than 2^32 samples. */
#include "reduce/histogram_shared.cuh"

template <typename T, typename> SMP_DEVICE void histogram_naive(const smp_io &io, const smp_histogram_params &p)
{
    const auto add = [&](int32_t slot) { atomicAdd(static_cast<unsigned long long *>(io.result) + slot, 1ull); };
    smp_each(io, io.in.width,
             [&](int64_t y, int64_t x) { histogram_pixel(smp_in<T>(io.in, y) + x * io.in.channels, io, p, add); });
}
SMP_KERNEL_SAME(histogram_naive, smp_histogram_params)

template <typename T, typename> SMP_DEVICE void histogram_tiled(const smp_io &io, const smp_histogram_params &p)
{
    SMP_SMEM_DYNAMIC(unsigned, shared);
    histogram_shared partial;
    partial.start(io, p, shared, 1);
    partial.clear();
    histogram_pixels<T>(io, p, partial);
    partial.finish(io, p);
}
SMP_KERNEL_SAME(histogram_tiled, smp_histogram_params)
