/* stack on GPUs: one sample a thread, which reads its place in all pictures. Neighbouring threads read neighbouring
 * samples, a median again for each bit, out of the caches. */
#include "elementwise/stack.h"
#include "lib/gpu_kernel.h"

template <typename IN, typename OUT> SMP_DEVICE void stack_naive(const smp_io &io, const smp_stack &p)
{
    unsigned clipped = 0;
    smp_each(io, io.out.width * io.out.channels, [&](int64_t y, int64_t i) {
        const float v = smp_stack_sample(&io, &p, y, i, smp_sample<IN>::format);
        clipped += smp_clipped<OUT>(v);
        smp_out<OUT>(io.out, y)[i] = smp_rounded<OUT>(v);
    });
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(stack_naive, smp_stack)
