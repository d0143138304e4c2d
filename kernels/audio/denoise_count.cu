/* denoise's first pass on GPUs: levels of frames, in shared memory (audio/frames.cuh); counts go to device memory.
 *   naive   numbers end to end.
 *   padded  a number more after every sixteen: the transform's passes meet more banks. */
#include "audio/denoise.h"

#include "audio/frames.cuh"

/* Geometry: a block for each frame that may begin in the strip (x) and channel (y). */
template <typename MEMORY>
SMP_DEVICE void denoise_count(const smp_io &io, const smp_denoise &p, smp_number *shared, int numbers)
{
    const MEMORY a = {shared}, b = {shared + numbers};
    const int c = (int)blockIdx.y;
    unsigned long long *const counts = static_cast<unsigned long long *>(io.result);
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t t = (io.out.y0 + p.f.hop - 1) / p.f.hop + blockIdx.x; t * p.f.hop < end; t += gridDim.x) {
        if (!smp_denoise_listens(&p, t))
            continue;
        __syncthreads(); /* all threads are done with the frame before */
        smp_frames_block(p.f, static_cast<const float *>(io.table), io.in, c, t, a, b, [=](int k, float re, float im) {
            const int level = smp_denoise_class(re * re + im * im);
            if (level >= 0)
                atomicAdd(counts + smp_denoise_counts(&p, c, k) + level, 1ull);
        });
    }
}

SMP_FRAMES_GPU(denoise_count, smp_denoise, p.f.bins + 1, denoise_count)
