/* Programs of plain operations on single samples (smp_map_is_plain), for GPU kernels that end in one: over the samples
 * that a thread has in registers, an operation at a time behind a branch that all threads take alike. Others, a power
 * say, would take every such kernel's registers.
 *
 * No sample may be NaN: then a clamp is a maximum and a minimum, an instruction each. They may make +0 of -0, which no
 * operation here and no store to integers tells apart. */
#ifndef SMP_KERNELS_SAMPLE_MAP_CUH
#define SMP_KERNELS_SAMPLE_MAP_CUH

#include "sample_map.h"
#include "smp_kernel.h"

template <int N> SMP_DEVICE void smp_map_plain(const smp_map &map, float (&v)[N])
{
#pragma unroll 1
    for (int k = 0; k < map.count; k++) {
        const smp_map_op &op = map.op[k];
        if (op.kind == SMP_MAP_LINE) {
#pragma unroll
            for (int i = 0; i < N; i++)
                v[i] = fminf(fmaxf((v[i] - op.a) * op.b, 0.f), op.c); /* smp_levels_line() */
        } else if (op.kind == SMP_MAP_STEP) {
#pragma unroll
            for (int i = 0; i < N; i++)
                v[i] = smp_threshold_sample(v[i], op.a, op.white);
        } else {
#pragma unroll
            for (int i = 0; i < N; i++)
                v[i] = op.white - v[i]; /* smp_invert() */
        }
    }
}

#endif
