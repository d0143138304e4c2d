/* mix on GPUs: one sample a thread. Neighbouring threads read neighbouring samples of both sounds, so that memory
 * bandwidth is the limit. */
#include "audio/mix.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(mix_naive_f32_f32, smp_mix, io, p)
{
    const int64_t n = io.out.width * io.out.channels;
    smp_each(io, n, [&](int64_t y, int64_t i) { smp_out<float>(io.out, y)[i] = smp_mix_sample(&io, &p, y, (int)i); });
}
