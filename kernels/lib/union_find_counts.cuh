/* Running counts of what GPU kernels that join have found. */
#pragma once

#include "lib/union_find.cuh"

enum { UNION_FIND_WARPS = SMP_UNION_FIND_BLOCK / 32 };

struct union_find_sums {
    uint32_t warps[UNION_FIND_WARPS];
};

/* The sum of v over the threads before this one; *all: over the block. All threads call it. sums: of the warps. */
template <int WARPS> SMP_DEVICE uint32_t union_find_sum_before(uint32_t (&sums)[WARPS], uint32_t v, uint32_t *all)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t sum = v, before = 0, total = 0;
    for (unsigned d = 1; d < 32; d *= 2) {
        const uint32_t below = __shfl_up_sync(0xffffffffu, sum, d);
        sum += lane >= d ? below : 0u;
    }
    __syncthreads(); /* the last call's are read */
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    for (unsigned i = 0; i < WARPS; i++) {
        const uint32_t one = sums[i];
        before += i < warp ? one : 0u;
        total += one;
    }
    *all = total;
    return before + sum - v;
}

/* Returns the sum of the chunks before. */
SMP_DEVICE uint32_t union_find_chunks_before(union_find_sums &s, const uint32_t *counts, int64_t chunk)
{
    uint32_t mine = 0, all;
    for (int64_t i = threadIdx.x; i < chunk; i += SMP_UNION_FIND_BLOCK)
        mine += counts[i];
    union_find_sum_before(s.warps, mine, &all);
    return all;
}
