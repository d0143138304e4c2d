/* jitter on GPUs: each channel works its pixel out. jitter_sum: a warp a row, whose lanes add through registers. */
#include "elementwise/jitter.h"
#include "lib/many.h"
#include "lib/per_pixel.cuh"

SMP_PIXEL_FUNCTIONS(jitter, smp_jitter, true, false, io.in.channels)
SMP_KERNEL_PAIR_(jitter_naive, u8, uint8_t, u8, uint8_t, smp_jitter)
SMP_KERNEL_PAIR_(jitter_tiled, u8, uint8_t, u8, uint8_t, smp_jitter)
SMP_KERNEL_MANY(jitter_tiled, u8, uint8_t, u8, uint8_t, smp_jitter)

/* Geometry: blocks of whole warps along the rows. */
template <typename, typename> SMP_DEVICE void jitter_sum(const smp_io &io, const smp_jitter &p)
{
    const int32_t lane = (int32_t)threadIdx.x % 32;
    const int64_t y = io.out.y0 + ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (y >= io.out.y0 + io.out.rows) /* whole warps */
        return;
    unsigned long long sum = 0;
    for (int64_t x = lane; x < io.in.width; x += 32)
        sum += smp_jitter_seen(&io.in, y, x, &p);
    for (int distance = 16; distance; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        static_cast<unsigned long long *>(io.result)[y] = sum;
}
SMP_KERNEL_PAIR_(jitter_sum, u8, uint8_t, u8, uint8_t, smp_jitter)
SMP_KERNEL_MANY(jitter_sum, u8, uint8_t, u8, uint8_t, smp_jitter)
