/* mix on GPUs: one sample a thread. Neighbouring threads read neighbouring samples of both sounds, so that memory
 * bandwidth is the limit. */
#include "audio/mix.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(mix_naive_f32_f32, smp_mix, io, p)
{
    const int64_t n = io.out.width * io.out.channels, end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + (int64_t)blockIdx.y * blockDim.y + threadIdx.y; y < end;
         y += (int64_t)gridDim.y * blockDim.y)
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
            smp_out<float>(io.out, y)[i] = smp_mix_sample(&io, &p, y, (int)i);
}
