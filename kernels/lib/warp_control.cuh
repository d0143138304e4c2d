/* Lanes of a warp that go ways of their own. */
#ifndef SMP_APART_CUH
#define SMP_APART_CUH

#include "lib/gpu_kernel.h"

/* At the head of what only some lanes do, where an asynchronous copy is in it: keeps nvcc from putting the copy under a
 * predicate. CUPTI counts a copy under a predicate for lanes too that are switched off, at whatever address their
 * registers hold. Costs a vote and a branch. */
SMP_DEVICE void smp_diverge_fence()
{
#if defined(__CUDA_ARCH__)
    __syncwarp(__activemask());
#endif
}

/* All lanes pass here together, whatever each did before: for the emulator's traces; no data depends on it (so that
 * tests/mutants.py does not try without). */
SMP_DEVICE void smp_reconverge()
{
    __syncwarp((unsigned)-1);
}

#endif
