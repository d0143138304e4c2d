/* LZW as TIFF has it: codes of 9 to 12 bits, the highest bit first, wider one code early. Source: TIFF 6.0, section 13.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SMP_LZW_SLOTS = 1 << 14 };

/* Strings that have a code: a shorter one's code and a byte. */
typedef struct smp_lzw {
    uint32_t string[SMP_LZW_SLOTS]; /* code << 8 | byte, plus 1; 0: the slot is free */
    uint16_t code[SMP_LZW_SLOTS];
} smp_lzw;

/* The most bytes that `size` bytes become. */
size_t smp_lzw_room(size_t size);

/* Compresses; returns the bytes written. */
size_t smp_lzw_pack(smp_lzw *lzw, const uint8_t *from, size_t size, uint8_t *to);
