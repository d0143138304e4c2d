/* brightness on GPUs.
 *   naive  a thread a group: neighbouring threads read four pixels apart.
 *   tiled  a pixel a lane: neighbours read neighbours, and four lanes add by shuffles. */
#include "reduce/brightness.h"

#include "lib/gpu_kernel.h"

/* The row of group `item` of the rows that are made, and its number in the row. False: there is no such group. */
SMP_DEVICE bool brightness_place(const smp_io &io, int64_t item, int64_t &y, int64_t &group)
{
    const int64_t groups = smp_brightness_groups(io.in.width);
    y = item / groups;
    group = item - y * groups;
    y += io.out.y0;
    return y < io.out.y0 + io.out.rows;
}

template <typename T, typename> SMP_DEVICE void brightness_naive(const smp_io &io, const smp_no_params &)
{
    int64_t y, group;
    if (!brightness_place(io, (int64_t)blockIdx.x * blockDim.x + threadIdx.x, y, group))
        return;
    uint32_t sum = 0;
    for (int64_t x = group * SMP_BRIGHTNESS_GROUP; x < (group + 1) * SMP_BRIGHTNESS_GROUP && x < io.in.width; x++)
        sum += smp_brightness_of(&io.in, smp_row(&io.in, y), x);
    static_cast<uint16_t *>(io.result)[y * smp_brightness_groups(io.in.width) + group] = (uint16_t)sum;
}
SMP_KERNEL_SAME(brightness_naive, smp_no_params)

/* Geometry: blocks of whole warps. */
template <typename T, typename> SMP_DEVICE void brightness_tiled(const smp_io &io, const smp_no_params &)
{
    const int64_t item = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t y, group;
    const bool inside = brightness_place(io, item / SMP_BRIGHTNESS_GROUP, y, group);
    const int64_t x = group * SMP_BRIGHTNESS_GROUP + item % SMP_BRIGHTNESS_GROUP;
    uint32_t sum = inside && x < io.in.width ? smp_brightness_of(&io.in, smp_row(&io.in, y), x) : 0u;
    sum += __shfl_down_sync(0xffffffffu, sum, 2);
    sum += __shfl_down_sync(0xffffffffu, sum, 1);
    if (inside && item % SMP_BRIGHTNESS_GROUP == 0)
        static_cast<uint16_t *>(io.result)[y * smp_brightness_groups(io.in.width) + group] = (uint16_t)sum;
}
SMP_KERNEL_SAME(brightness_tiled, smp_no_params)
