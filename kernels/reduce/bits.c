/* Pictures of bit planes on the CPU.
 *   naive  a look-up a sample.
 *   tiled  a word at a time, its samples in vectors. */
#include "reduce/bits.h"

#include <string.h>

SMP_CPU_KERNEL(bits_fill_naive)
{
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->in.width * io->in.channels; i++)
            smp_store(smp_row(&io->out, y), i, io->out.format, smp_one_nan(smp_bits_sample(io, y, i)));
}

/* All samples of a row of one channel. */
#define FILL(T, WHITE)                                                                                                 \
    SMP_INLINE void SMP_PASTE(fill, T)(T *restrict to, const uint32_t *restrict words, int64_t n, const T white)       \
    {                                                                                                                  \
        int64_t x = 0;                                                                                                 \
        for (; x + SMP_BITS_WORD <= n; x += SMP_BITS_WORD) {                                                           \
            const uint32_t word = words[x / SMP_BITS_WORD];                                                            \
            if (!word)                                                                                                 \
                memset(to + x, 0, SMP_BITS_WORD * sizeof(T));                                                          \
            else                                                                                                       \
                for (int i = 0; i < SMP_BITS_WORD; i++)                                                                \
                    to[x + i] = word >> i & 1 ? white : (T)0;                                                          \
        }                                                                                                              \
        for (; x < n; x++)                                                                                             \
            to[x] = words[x / SMP_BITS_WORD] >> x % SMP_BITS_WORD & 1 ? white : (T)0;                                  \
    }
FILL(uint8_t, 255)
FILL(uint16_t, 65535)
FILL(float, white)

SMP_CPU_KERNEL(bits_fill_tiled)
{
    if (io->in.channels > 1) {
        SMP_PASTE(bits_fill_naive, SMP_ISA)(io, params, scratch, y0, y1);
        return;
    }
    for (int64_t y = y0; y < y1; y++) {
        const int64_t n = io->in.width;
        const uint32_t *words = (const uint32_t *)io->table + y * smp_bits_words(n);
        void *to = smp_row(&io->out, y);
        if (io->out.format == SMP_U8)
            SMP_PASTE(fill, uint8_t)(to, words, n, 255);
        else if (io->out.format == SMP_U16)
            SMP_PASTE(fill, uint16_t)(to, words, n, 65535);
        else
            SMP_PASTE(fill, float)(to, words, n, io->out.white);
    }
}
