/* dither on GPUs: one sample a thread; ten rounds of the generator cost more than memory. */
#include "audio/dither.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(dither_naive_f32_f32, smp_dither, io, p)
{
    const int64_t n = io.out.width * io.out.channels;
    smp_each(io, n, [&](int64_t y, int64_t i) {
        smp_out<float>(io.out, y)[i] = smp_dither_sample(smp_in<float>(io.in, y)[i], y, (int)i, &p);
    });
}
