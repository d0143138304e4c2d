/* Shared by GPU kernels that make a picture sample by sample of something small: a bit plane, numbers. */
#pragma once

#include "lib/gpu_kernel.h"
#include "reduce/bits.h"

template <typename OUT, typename SAMPLE> SMP_DEVICE void bits_each(const smp_io &io, const SAMPLE &sample)
{
    const int64_t n = io.out.width * io.out.channels;
    smp_each(io, n,
             [&](int64_t y, int64_t i) { smp_out<OUT>(io.out, y)[i] = smp_rounded<OUT>(smp_one_nan(sample(y, i))); });
}

/* Geometry: four samples a thread (x), rows (y). */
template <typename OUT, typename SAMPLE> SMP_DEVICE void bits_fours(const smp_io &io, const SAMPLE &sample)
{
    typedef smp_pack<OUT, 4> pack;
    const int64_t n = io.out.width * io.out.channels;
    smp_each<4>(io, n, [&](int64_t y, int64_t i) {
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
    });
}
