/* label on GPUs: the bit plane, and the pictures of it (a mask, or numbers).
 *   naive  bits: a thread a word, its 32 pixels one after the other. Pictures: a thread a sample.
 *   tiled  bits: a warp a word, a pixel a lane, so that lanes read side by side; a ballot makes the word. Pictures:
 * four samples a thread, one store. */
#include "reduce/label.h"

#include "reduce/bits.cuh"

/* Geometry: threads over words (x) and rows (y). */
template <typename T, typename> SMP_DEVICE void label_bits_naive(const smp_io &io, const smp_label &p)
{
    const int64_t words = smp_bits_words(io.in.width), end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t w = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; w < words;
             w += (int64_t)gridDim.x * blockDim.x) {
            uint32_t word = 0;
            for (int i = 0; i < SMP_BITS_WORD && w * SMP_BITS_WORD + i < io.in.width; i++)
                word |= (uint32_t)smp_label_foreground(&p, &io.in, smp_row(&io.in, y), w * SMP_BITS_WORD + i) << i;
            static_cast<uint32_t *>(io.result)[y * words + w] = word;
        }
}
SMP_KERNEL_SAME(label_bits_naive, smp_label)

/* Geometry: blocks of 256 threads along the pixels that words have room for (x), over rows (y). */
template <typename T, typename> SMP_DEVICE void label_bits_tiled(const smp_io &io, const smp_label &p)
{
    const int64_t words = smp_bits_words(io.in.width), end = io.out.y0 + io.out.rows;
    const int lane = (int)threadIdx.x % SMP_BITS_WORD;
    for (int64_t y = io.out.y0 + blockIdx.y; y < end; y += gridDim.y)
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x - lane < words * SMP_BITS_WORD;
             x += (int64_t)gridDim.x * blockDim.x) {
            const bool set = x < io.in.width && smp_label_foreground(&p, &io.in, smp_row(&io.in, y), x);
            const uint32_t word = __ballot_sync(0xffffffffu, set);
            if (lane == 0)
                static_cast<uint32_t *>(io.result)[y * words + x / SMP_BITS_WORD] = word;
        }
}
SMP_KERNEL_SAME(label_bits_tiled, smp_label)

/* ------------------------------------------------------------------------------------------------ pictures */

template <typename IN, typename OUT> SMP_DEVICE void label_naive(const smp_io &io, const smp_label &p)
{
    bits_each<OUT>(io, [&](int64_t y, int64_t i) { return smp_label_sample(&p, &io, y, i); });
}
SMP_KERNEL_FORMATS(label_naive, smp_label)
SMP_KERNEL_PAIR_(label_naive, u8, uint8_t, u16, uint16_t, smp_label)

template <typename IN, typename OUT> SMP_DEVICE void label_tiled(const smp_io &io, const smp_label &p)
{
    bits_fours<OUT>(io, [&](int64_t y, int64_t i) { return smp_label_sample(&p, &io, y, i); });
}
SMP_KERNEL_FORMATS(label_tiled, smp_label)
SMP_KERNEL_PAIR_(label_tiled, u8, uint8_t, u16, uint16_t, smp_label)
