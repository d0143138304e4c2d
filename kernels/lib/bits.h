/* Bit planes: which pixels of a picture have a property, a bit a pixel, for stages that find shapes (label, canny).
 * Bit x % 32 of word x / 32 of a row is pixel x; rows have smp_bits_words() words, an even number; bits behind the
 * width are 0. */
#pragma once

#include "lib/view.h"

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
