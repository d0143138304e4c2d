/* tempo and pitch on GPUs: one sample a thread. Neighbouring threads read
 * neighbouring frames, and the taps of the same few phases: the caches serve all but the first of them. */
#include "audio/grains.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(grains_naive_f32_f32, smp_grains, io, p)
{
    const int64_t n = io.out.width * io.out.channels;
    smp_each(io, n,
             [&](int64_t y, int64_t i) { smp_out<float>(io.out, y)[i] = smp_grains_sample(&io, &p, y, (int)i); });
}
