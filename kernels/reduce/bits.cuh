/* What GPU kernels share that make a picture sample by sample of something small: a bit plane, numbers. */
#ifndef SMP_KERNELS_REDUCE_BITS_CUH
#define SMP_KERNELS_REDUCE_BITS_CUH

#include "lib/gpu_kernel.h"
#include "reduce/bits.h"

template <typename OUT, typename SAMPLE> SMP_DEVICE void bits_each(const smp_io &io, const SAMPLE &sample)
{
    const int64_t n = io.out.width * io.out.channels, end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
            smp_out<OUT>(io.out, y)[i] = smp_rounded<OUT>(smp_one_nan(sample(y, i)));
}

/* Geometry: four samples a thread (x), rows (y). */
template <typename OUT, typename SAMPLE> SMP_DEVICE void bits_fours(const smp_io &io, const SAMPLE &sample)
{
    typedef smp_pack<OUT, 4> pack;
    const int64_t n = io.out.width * io.out.channels, end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t i = 4 * ((int64_t)blockIdx.x * blockDim.x + threadIdx.x); i < n;
             i += 4 * (int64_t)gridDim.x * blockDim.x) {
            OUT *const row = smp_out<OUT>(io.out, y);
            const bool whole = i + 4 <= n && (uintptr_t)(row + i) % sizeof(pack) == 0;
            pack four = {};
            for (int k = 0; k < 4 && i + k < n; k++) {
                const OUT v = smp_rounded<OUT>(smp_one_nan(sample(y, i + k)));
                if (whole)
                    four.v[k] = v;
                else
                    row[i + k] = v;
            }
            if (whole)
                *reinterpret_cast<pack *>(row + i) = four;
        }
}

#endif
