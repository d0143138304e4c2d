/* tensor on GPUs: a thread a pixel, so that a warp stores 32 neighbours of each channel. io.out has the picture's size,
 * and its data is the place in the batch. */
#include "elementwise/tensor.h"

#include "lib/gpu_kernel.h"
#include "lib/many.h"

template <typename T>
SMP_DEVICE void tensor_pixel(const smp_io &io, const smp_tensor &p, const uint8_t *from, int64_t y, int64_t x)
{
    T *const to = static_cast<T *>(io.out.data);
    const T *const table = static_cast<const T *>(io.table);
    for (int c = 0; c < p.channels; c++) {
        const uint8_t v = from[p.spread ? 0 : c];
        const int64_t at =
            p.planar ? (c * io.out.height + y) * io.out.width + x : (y * io.out.width + x) * p.channels + c;
        to[at] = sizeof(T) == 1 ? (T)v : table[256 * c + v];
    }
}

template <typename, typename> SMP_DEVICE void tensor(const smp_io &io, const smp_tensor &p)
{
    smp_each(io, io.out.width, [&](int64_t y, int64_t x) {
        const uint8_t *from = smp_in<uint8_t>(io.in, y) + x * io.in.channels;
        if (p.size == 1)
            tensor_pixel<uint8_t>(io, p, from, y, x);
        else if (p.size == 2)
            tensor_pixel<uint16_t>(io, p, from, y, x);
        else
            tensor_pixel<uint32_t>(io, p, from, y, x);
    });
}
SMP_KERNEL_MANY(tensor, u8, uint8_t, u8, uint8_t, smp_tensor)
