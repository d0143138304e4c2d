/* The kernels of `bench`: a device's peak rates, and the cost of patterns of shared-memory addresses. */
#pragma once

#include "lib/cpu_kernel.h"

/* Streams take pictures with packed rows. A buffer is many rows of this length. */
enum { BENCH_ROW_SAMPLES = 16384 }; /* f32 */

/* One pattern of a warp on shared memory: lane n accesses element n / share * stride, of 4, 8 or 16 bytes by the
 * kernel's name. */
typedef struct bench_pattern {
    int32_t stride; /* elements */
    int32_t share;  /* neighbouring lanes with one element: 1, 4 (multicast), 32 (broadcast) */
    int32_t rounds; /* each BENCH_UNROLL accesses */
    int32_t blocks; /* 0: one an SM */
    int32_t warps;  /* a block */
} bench_pattern;

/* Shared memory of a block: 32 lanes of 16 bytes at stride 33. */
enum { BENCH_UNROLL = 8, BENCH_SHARED_BYTES = (31 * 33 + 1) * 16, BENCH_MAX_WARPS = 32 };

/* Byte offset of a lane. */
SMP_HOST_DEVICE int32_t bench_offset(const bench_pattern *p, int width, int lane)
{
    return lane / p->share * p->stride * width;
}

SMP_CPU_DECLARE(bench_copy);
SMP_CPU_DECLARE(bench_read);
SMP_CPU_DECLARE(bench_write);
SMP_CPU_DECLARE(bench_nothing);
