/* Bytes through a table a channel, on the CPU: one load and one store for eight look-ups. */
#ifndef SMP_KERNELS_BYTE_TABLE_H
#define SMP_KERNELS_BYTE_TABLE_H

#include <string.h>

#include "smp_cpu.h"

#ifdef SMP_ISA

/* One byte of v from its channel's table, at its place in the word. The empty statement keeps the value in a general
 * register: gcc otherwise packs some of the bytes into vectors, through memory, at five times the cost. */
SMP_INLINE uint64_t smp_look_up_byte(uint64_t v, const uint8_t *table, int k)
{
    uint64_t found = table[(uint8_t)(v >> (8 * k))];
    __asm__("" : "+r"(found));
    return found << (8 * k);
}

/* channels: 1 to 4, a constant after inlining. */
SMP_INLINE void smp_look_up_as(uint8_t *restrict to, const uint8_t *restrict from, int64_t n, uint8_t (*table)[256],
                               const int channels)
{
    const int words = channels == 3 ? 3 : 1; /* eight-byte words of a block that holds whole pixels */
    int64_t i = 0;
    for (; i + 8 * words <= n; i += 8 * words) {
#pragma GCC unroll 3
        for (int word = 0; word < words; word++) {
            uint64_t v, found = 0;
            memcpy(&v, from + i + 8 * word, sizeof v);
#pragma GCC unroll 8
            for (int k = 0; k < 8; k++)
                found |= smp_look_up_byte(v, table[(8 * word + k) % channels], k);
            memcpy(to + i + 8 * word, &found, sizeof found);
        }
    }
    for (int k = 0; i < n; i++, k++)
        to[i] = table[k % channels][from[i]];
}

/* n bytes, beginning with channel 0, a multiple of channels. */
SMP_INLINE void smp_look_up(uint8_t *restrict to, const uint8_t *restrict from, int64_t n, uint8_t (*table)[256],
                            int channels)
{
    if (channels == 1)
        smp_look_up_as(to, from, n, table, 1);
    else if (channels == 2)
        smp_look_up_as(to, from, n, table, 2);
    else if (channels == 3)
        smp_look_up_as(to, from, n, table, 3);
    else if (channels == 4)
        smp_look_up_as(to, from, n, table, 4);
    else
        for (int64_t i = 0; i < n; i += channels)
            for (int c = 0; c < channels; c++)
                to[i + c] = table[c][from[i + c]];
}

#endif

#endif
