/* Running sums over the threads of a block, of bit lengths and of spans (jpeg_encode.h): exact, in any order. */
#pragma once

#include "jpeg/jpeg_encode.h"
#include "lib/gpu_kernel.h"

enum { JPEG_LANES = 32, JPEG_WARPS = SMP_JPEG_SCAN / JPEG_LANES };

SMP_DEVICE smp_jpeg_span jpeg_join(smp_jpeg_span a, smp_jpeg_span b)
{
    return smp_jpeg_join(a, b);
}
SMP_DEVICE int64_t jpeg_join(int64_t a, int64_t b)
{
    return a + b;
}
SMP_DEVICE smp_jpeg_span jpeg_from_lane(smp_jpeg_span v, int lane)
{
    const smp_jpeg_span other = {(int64_t)__shfl_sync(0xffffffffu, (long long)v.before, lane),
                                 (int64_t)__shfl_sync(0xffffffffu, (long long)v.after, lane)};
    return other;
}
SMP_DEVICE int64_t jpeg_from_lane(int64_t v, int lane)
{
    return (int64_t)__shfl_sync(0xffffffffu, (long long)v, lane);
}

template <typename T> struct jpeg_totals {
    T warp[JPEG_WARPS];
};

/* Joins the values of all threads before this one; `none` joins to nothing. *all: of all. Called once a kernel. */
template <typename T> SMP_DEVICE T jpeg_join_before(T v, T none, T *all)
{
    typedef jpeg_totals<T> totals_type;
    SMP_SHARED(totals_type, totals);
    const int lane = (int)threadIdx.x % JPEG_LANES, warp = (int)threadIdx.x / JPEG_LANES;
    const int warps = (int)blockDim.x / JPEG_LANES;
    T sum = v;
    for (int distance = 1; distance < JPEG_LANES; distance *= 2) {
        const T other = jpeg_from_lane(sum, lane >= distance ? lane - distance : lane);
        if (lane >= distance)
            sum = jpeg_join(other, sum);
    }
    if (lane == JPEG_LANES - 1)
        totals.warp[warp] = sum;
    __syncthreads();
    T before = none, whole = none;
    for (int i = 0; i < warps; i++) {
        if (i == warp)
            before = whole;
        const T next = totals.warp[i];
        whole = jpeg_join(whole, next);
    }
    const T left = jpeg_from_lane(sum, lane > 0 ? lane - 1 : 0);
    *all = whole;
    return lane > 0 ? jpeg_join(before, left) : before;
}
