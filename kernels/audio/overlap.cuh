/* A sound of frames on GPUs, as istft has it (audio/stft.h): `size` samples a block, whose sums of frames lie in shared
 * memory. Geometry: a block for each `size` samples (x) and channel (y). */
#pragma once

#include "audio/stft.h"

#include "audio/frames.cuh"

/* back(t): turns frame t back and returns the memory of its samples, with a barrier behind the last that was written.
 * Other threads may still read the frame before. sums: `size` floats. */
template <typename BACK>
SMP_DEVICE void smp_overlap_add(const smp_io &io, const smp_frames &f, int64_t frames, float gain, float *sums,
                                const BACK &back)
{
    const float *const table = static_cast<const float *>(io.table);
    const int me = (int)threadIdx.x, threads = (int)blockDim.x, c = (int)blockIdx.y;
    const int64_t last = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + (int64_t)blockIdx.x * f.size; y < last; y += (int64_t)gridDim.x * f.size) {
        const int n = (int)min((int64_t)f.size, last - y);
        int64_t t, end;
        for (int i = me; i < n; i += threads)
            sums[i] = 0.f;
        smp_stft_holding(&f, frames, y, y + n, &t, &end);
        for (; t < end; t++) {
            const int at = (int)(smp_frames_first(&f, t) - y); /* of the frame among the samples */
            const auto x = back(t);
            for (int i = me; i < n; i += threads) {
                smp_converge();
                if (i >= at && i < at + f.size)
                    sums[i] = sums[i] + smp_frames_sample_of(x, i - at) * table[i - at];
            }
        }
        for (int i = me; i < n; i += threads) { /* a thread's own sums */
            smp_converge();
            smp_out<float>(io.out, y + i)[c] = smp_stft_sample(&f, table, frames, gain, sums[i], y + i);
        }
    }
}
