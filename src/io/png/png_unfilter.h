/* Undoes PNG's row filters (PNG specification, chapter 9). */
#ifndef SMP_IO_PNG_PNG_UNFILTER_H
#define SMP_IO_PNG_PNG_UNFILTER_H

#include <stdbool.h>
#include <stdint.h>

/* Filtered rows `from`, one behind the other, each a byte that names its filter and row_bytes; pixels of pixel_bytes 1,
 * 2, 3, 4, 6 or 8. Row k goes to to + k * pitch; `above` is the row before the first. Nothing but rows is read or
 * written. False: an unknown filter. */
bool smp_png_unfilter(uint8_t *to, int64_t pitch, uint8_t *above, const uint8_t *from, int64_t row_bytes, int64_t rows,
                      int pixel_bytes);

#if defined(__x86_64__)
/* Undoes a row's Sub for the first bytes; says how many. For processors that have AVX2. */
int64_t smp_png_undo_sub_avx2(uint8_t *to, const uint8_t *from, int64_t row_bytes, int pixel_bytes);
#endif

/* Four rows, whatever their filters: line[0] is the row above the first, row k goes to line[k + 1]; `from` is behind
 * the first row's filter byte. The second one is for processors that have AVX2. */
void smp_png_undo_four(uint8_t *const line[5], const uint8_t *from, int64_t row_bytes, int pixel_bytes);
#if defined(__x86_64__)
void smp_png_undo_four_avx2(uint8_t *const line[5], const uint8_t *from, int64_t row_bytes, int pixel_bytes);
#endif

/* CALL(B) for a pixel of so many bytes, B a constant, so that every size gets loops of its own. */
#define SMP_PNG_BY_PIXEL(bytes, CALL)                                                                                  \
    switch (bytes) {                                                                                                   \
    case 1:                                                                                                            \
        CALL(1);                                                                                                       \
        break;                                                                                                         \
    case 2:                                                                                                            \
        CALL(2);                                                                                                       \
        break;                                                                                                         \
    case 3:                                                                                                            \
        CALL(3);                                                                                                       \
        break;                                                                                                         \
    case 4:                                                                                                            \
        CALL(4);                                                                                                       \
        break;                                                                                                         \
    case 6:                                                                                                            \
        CALL(6);                                                                                                       \
        break;                                                                                                         \
    default:                                                                                                           \
        CALL(8);                                                                                                       \
        break;                                                                                                         \
    }

#endif
