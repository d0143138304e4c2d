/* silence on the CPU.
 *   naive  frame by frame.
 *   tiled  32 frames as one row of samples: comparisons in vectors, then the bits. */
#include "audio/silence.h"

#include "lib/constants.h"

/* Words of rows y0 .. y1-1, which begin at whole words. */
SMP_INLINE void words_of(const smp_io *io, const smp_silence *p, int64_t y0, int64_t y1)
{
    uint32_t *words = io->result;
    for (int64_t y = y0; y < y1; y += SMP_SILENCE_WORD) {
        uint32_t word = 0;
        for (int64_t i = 0; i < SMP_SILENCE_WORD && y + i < y1; i++)
            word |= (uint32_t)smp_silent(p, smp_row(&io->in, y + i), io->in.channels) << i;
        words[y / SMP_SILENCE_WORD] = word;
    }
}

SMP_CPU_KERNEL(silence_naive)
{
    words_of(io, params, y0, y1);
}

/* channels is a constant in the usual cases. */
SMP_INLINE uint32_t word_of(const float *restrict from, const smp_silence *p, const int channels)
{
    uint8_t below[SMP_SILENCE_WORD];
    uint32_t word = 0;
    for (int i = 0; i < SMP_SILENCE_WORD; i++) {
        int silent = 1;
        for (int c = 0; c < channels; c++)
            silent &= smp_abs(from[i * channels + c]) < p->threshold;
        below[i] = (uint8_t)silent;
    }
    for (int i = 0; i < SMP_SILENCE_WORD; i++)
        word |= (uint32_t)below[i] << i;
    return word;
}

SMP_CPU_KERNEL(silence_tiled)
{
    const int channels = io->in.channels;
    uint32_t *words = io->result;
    int64_t y = y0;
    if (io->in.stride == channels * (int64_t)sizeof(float))
        for (; y + SMP_SILENCE_WORD <= y1; y += SMP_SILENCE_WORD) {
            const float *from = smp_row(&io->in, y);
            SMP_BY_CHANNELS(channels, words[y / SMP_SILENCE_WORD] = word_of(from, params, N))
        }
    if (y < y1)
        words_of(io, params, y, y1);
}
