/* label on the CPU: the bit plane, and the picture of numbers.
 *   naive  pixel by pixel.
 *   tiled  comparisons of bytes in vectors, whose signs are the bits; numbers copied by rows. */
#include "reduce/label.h"

#include <string.h>

SMP_INLINE void word_of(const smp_io *io, const smp_label *p, const void *row, int64_t y, int64_t x)
{
    const int64_t width = io->in.width, end = width - x < SMP_BITS_WORD ? width - x : SMP_BITS_WORD;
    uint32_t word = 0;
    for (int64_t i = 0; i < end; i++)
        word |= (uint32_t)smp_label_foreground(p, &io->in, row, x + i) << i;
    ((uint32_t *)io->result)[y * smp_bits_words(width) + x / SMP_BITS_WORD] = word;
}

/* The words of row y from pixel x on, also those behind the width. Nothing is joined here. */
SMP_INLINE void words_from(const smp_io *io, const smp_label *p, int64_t y, int64_t x)
{
    const void *row = smp_row(&io->in, y);
    if (y == 0)
        *(uint64_t *)(void *)((char *)io->result + p->sets.head_at) = 0;
    for (; x < smp_bits_words(io->in.width) * SMP_BITS_WORD; x += SMP_BITS_WORD)
        word_of(io, p, row, y, x);
}

SMP_CPU_KERNEL(label_bits_naive)
{
    for (int64_t y = y0; y < y1; y++)
        words_from(io, params, y, 0);
}

/* Bytes whose least foreground value is 1..255. Returns the pixels done. */
SMP_INLINE int64_t bytes_of(uint32_t *restrict words, const uint8_t *restrict row, int64_t n, int32_t least)
{
    int64_t x = 0;
#ifdef __AVX2__
    const __m256i level = _mm256_set1_epi8((char)(uint8_t)least);
    for (; x + SMP_BITS_WORD <= n; x += SMP_BITS_WORD) {
        const __m256i v = _mm256_loadu_si256((const __m256i_u *)(const void *)(row + x));
        words[x / SMP_BITS_WORD] = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(v, level), v));
    }
#else
    for (; x + SMP_BITS_WORD <= n; x += SMP_BITS_WORD) {
        uint8_t above[SMP_BITS_WORD];
        uint32_t word = 0;
        for (int i = 0; i < SMP_BITS_WORD; i++)
            above[i] = row[x + i] >= least;
        for (int i = 0; i < SMP_BITS_WORD; i++)
            word |= (uint32_t)above[i] << i;
        words[x / SMP_BITS_WORD] = word;
    }
#endif
    return x;
}

SMP_CPU_KERNEL(label_bits_tiled)
{
    const smp_label *p = params;
    const smp_view *in = &io->in;
    for (int64_t y = y0; y < y1; y++) {
        uint32_t *words = (uint32_t *)io->result + y * smp_bits_words(in->width);
        int64_t x = 0;
        if (in->format == SMP_U8 && in->channels == 1 && p->least >= 1 && p->least <= 255)
            x = bytes_of(words, smp_row(in, y), in->width, p->least);
        words_from(io, p, y, x);
    }
}

SMP_CPU_KERNEL(label_naive)
{
    const int64_t n = io->out.width * io->out.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < n; i++)
            smp_store(smp_row(&io->out, y), i, io->out.format, smp_one_nan(smp_label_sample(params, io, y, i)));
}

SMP_CPU_KERNEL(label_tiled)
{
    const smp_label *p = params;
    const int64_t n = io->out.width;
    if (!p->numbers) {
        SMP_PASTE(bits_fill_tiled, SMP_ISA)(io, params, scratch, y0, y1);
        return;
    }
    for (int64_t y = y0; y < y1; y++) {
        const uint16_t *restrict from = (const uint16_t *)io->table + y * n;
        float *restrict to = smp_row(&io->out, y);
        if (io->out.format == SMP_U16)
            memcpy(to, from, (size_t)n * sizeof *from);
        else
            for (int64_t i = 0; i < n; i++)
                to[i] = (float)from[i];
    }
}
