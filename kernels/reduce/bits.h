/* Bit planes: which pixels of a picture have a property, a bit a pixel, for stages that find shapes (label, canny).
 * Bit x % 32 of word x / 32 of a row is pixel x; rows have smp_bits_words() words, an even number; bits behind the
 * width are 0. A reduction makes them (SMP_RESULT_CHUNKS: the words of a row are written by one thread, or as whole
 * words), the host follows the shapes, and bits_fill makes a picture of what is left: full scale and 0. */
#ifndef SMP_KERNELS_REDUCE_BITS_H
#define SMP_KERNELS_REDUCE_BITS_H

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

enum { SMP_BITS_WORD = 32 /* pixels */ };

/* smp_launch.tiles of kernels that make four samples a thread. */
#define SMP_BITS_TILES                                                                                                 \
    {                                                                                                                  \
        1024, 1, 256, 1                                                                                                \
    }

/* Words of a row. Even, so that the host can read 64 bits at a time. */
SMP_HOST_DEVICE int64_t smp_bits_words(int64_t width)
{
    return (width + 2 * SMP_BITS_WORD - 1) / (2 * SMP_BITS_WORD) * 2;
}
SMP_HOST_DEVICE int smp_bits_at(const void *plane, int64_t width, int64_t x, int64_t y)
{
    return (int)(((const uint32_t *)plane)[y * smp_bits_words(width) + x / SMP_BITS_WORD] >> x % SMP_BITS_WORD & 1);
}

/* Sample i of row y of what bits_fill makes of the plane io->table; alpha passes. */
SMP_HOST_DEVICE float smp_bits_sample(const smp_io *io, int64_t y, int64_t i)
{
    const int channels = io->in.channels;
    const int64_t x = channels == 1 ? i : i / channels;
    if (channels > 1 && io->in.alpha && i - x * channels == channels - 1)
        return smp_load(smp_row(&io->in, y), i, io->in.format);
    return smp_bits_at(io->table, io->in.width, x, y) ? io->out.white : 0.f;
}

#ifdef __cplusplus
extern "C" {
#endif
SMP_CPU_DECLARE(bits_fill_naive);
SMP_CPU_DECLARE(bits_fill_tiled);
#ifdef __cplusplus
}
#endif

#endif
