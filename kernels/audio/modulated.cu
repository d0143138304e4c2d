/* tremolo, vibrato, chorus and flanger on GPUs: one sample a thread. Neighbouring threads read neighbouring samples,
 * for a delay swings slowly: the first-level cache serves three of a tap's four, and device memory is read once. */
#include "audio/modulated.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(modulated_naive_f32_f32, smp_modulated, io, p)
{
    const int64_t n = io.out.width * io.out.channels;
    smp_each(io, n,
             [&](int64_t y, int64_t i) { smp_out<float>(io.out, y)[i] = smp_modulated_sample(&io, &p, y, (int)i); });
}
