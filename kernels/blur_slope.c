/* blur_slope on the CPU: the definition alone, every blurred sample anew. CPUs keep the rows between a chain's stages
 * in their caches, and take the chain's own kernels. */
#include "blur_slope.h"

SMP_CPU_KERNEL(blur_slope_naive)
{
    (void)scratch;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->in.width; x++)
            stencil_put(io, y, x, smp_blur_slope_at(&io->in, params, x, y));
}
