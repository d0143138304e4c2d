/* The trace of a sound on GPUs: one number a thread. Memory bandwidth is the bound, but for frames that several numbers
 * turn into whole numbers anew. */
#include "audio/trace.h"

#include "lib/gpu_kernel.h"

SMP_KERNEL(trace_naive_f32_f32, smp_trace, io, p)
{
    int16_t *const to = static_cast<int16_t *>(io.result);
    const int64_t end = io.out.y0 + io.out.rows, step = (int64_t)gridDim.x * blockDim.x;
    int64_t i = (io.out.y0 + p.every - 1) / p.every + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i * p.every < end; i += step)
        to[i] = smp_trace_number(&io, &p, i);
}
