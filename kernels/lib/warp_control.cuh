/* Helpers for divergent warps. */
#pragma once

#include "lib/gpu_kernel.h"

/* At the head of code for some lanes that contains an asynchronous copy: keeps nvcc from predicating the copy. CUPTI
 * counts a predicated copy for inactive lanes too, at whatever address their registers hold. Costs a vote and a branch.
 */
SMP_DEVICE void smp_diverge_fence()
{
#if defined(__CUDA_ARCH__)
    __syncwarp(__activemask());
#endif
}

/* Reconverges the warp, for the emulator's traces. No data depends on it, so tests/mutants.py does not remove it. */
SMP_DEVICE void smp_reconverge()
{
    __syncwarp((unsigned)-1);
}
