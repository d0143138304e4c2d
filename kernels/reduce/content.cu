/* content on GPUs.
 *   naive  a thread a row: neighbouring threads read far from each other.
 *   tiled  a warp a row, a pixel a lane: a ballot tells which of 32 pixels differ. */
#include "reduce/content.h"

#include "lib/gpu_kernel.h"

template <typename T, typename> SMP_DEVICE void content_naive(const smp_io &io, const smp_content &p)
{
    smp_content_row *const rows = static_cast<smp_content_row *>(io.result);
    const int64_t y = io.out.y0 + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= io.out.y0 + io.out.rows)
        return;
    float ground[SMP_MAX_CHANNELS] = {0};
    smp_content_ground(&io.in, ground);
    smp_content_row found = {(int32_t)io.in.width, -1};
    for (int32_t x = 0; x < (int32_t)io.in.width; x++)
        if (smp_content_differs(&io.in, &p, ground, smp_row(&io.in, y), x)) {
            found.first = found.first < x ? found.first : x;
            found.last = x;
        }
    rows[y] = found;
}
SMP_KERNEL_SAME(content_naive, smp_content)

/* Geometry: blocks of whole warps along the rows. */
template <typename T, typename> SMP_DEVICE void content_tiled(const smp_io &io, const smp_content &p)
{
    smp_content_row *const rows = static_cast<smp_content_row *>(io.result);
    const int32_t lane = (int32_t)threadIdx.x % 32, width = (int32_t)io.in.width;
    const int64_t y = io.out.y0 + ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (y >= io.out.y0 + io.out.rows) /* whole warps */
        return;
    float ground[SMP_MAX_CHANNELS] = {0};
    smp_content_ground(&io.in, ground);
    smp_content_row found = {width, -1};
    for (int32_t x = 0; x < width; x += 32) {
        const bool differs = x + lane < width && smp_content_differs(&io.in, &p, ground, smp_row(&io.in, y), x + lane);
        const uint32_t some = __ballot_sync(0xffffffffu, differs);
        if (some) {
            const int32_t last = x + 31 - __clz((int)some);
            found.first = found.last < 0 ? x + __ffs((int)some) - 1 : found.first;
            found.last = last;
        }
    }
    if (lane == 0)
        rows[y] = found;
}
SMP_KERNEL_SAME(content_tiled, smp_content)
