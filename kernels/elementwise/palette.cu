/* palette on GPUs. Colours lie in the first-level cache, where all lanes read the same one. Counting:
 *   naive  four atomics a pixel, in the second-level cache.
 *   tiled  a thread takes pixels of a row that follow each other, and those in one bin together. */
#include "elementwise/palette.h"

#include "lib/per_pixel.cuh"

SMP_PIXEL_GPU(palette, smp_palette, true, false, p.colours)

SMP_DEVICE void palette_add(const smp_io &io, const smp_palette &p, int32_t bin, int64_t pixels, const int64_t *sums)
{
    if (bin < 0)
        return;
    unsigned long long *to = static_cast<unsigned long long *>(io.result) + (int64_t)bin * SMP_PALETTE_PARTS;
    atomicAdd(to, (unsigned long long)pixels);
    for (int c = 0; c < p.colours; c++)
        atomicAdd(to + 1 + c, (unsigned long long)sums[c]);
}

template <typename T, typename> SMP_DEVICE void palette_count_naive(const smp_io &io, const smp_palette &p)
{
    smp_each(io, io.in.width, [&](int64_t y, int64_t x) {
        const smp_palette_sample s = smp_palette_sample_of(&p, &io.in, smp_row(&io.in, y), x);
        const int64_t sums[3] = {s.code[0], s.code[1], s.code[2]};
        palette_add(io, p, s.bin, 1, sums);
    });
}
SMP_KERNEL_SAME(palette_count_naive, smp_palette)

template <typename T, typename> SMP_DEVICE void palette_count_tiled(const smp_io &io, const smp_palette &p)
{
    smp_each<SMP_PALETTE_RUN>(io, io.in.width, [&](int64_t y, int64_t from) {
        int64_t pixels = 0, sums[3] = {0, 0, 0};
        int32_t bin = -1;
        for (int64_t x = from; x < from + SMP_PALETTE_RUN && x < io.in.width; x++) {
            const smp_palette_sample s = smp_palette_sample_of(&p, &io.in, smp_row(&io.in, y), x);
            if (s.bin != bin) {
                palette_add(io, p, bin, pixels, sums);
                bin = s.bin;
                pixels = sums[0] = sums[1] = sums[2] = 0;
            }
            pixels++;
            for (int c = 0; c < 3; c++)
                sums[c] += s.code[c];
        }
        palette_add(io, p, bin, pixels, sums);
    });
}
SMP_KERNEL_SAME(palette_count_tiled, smp_palette)
