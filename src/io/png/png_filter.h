/* PNG's row filters (PNG specification, chapter 9), applied before compression. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SMP_PNG_NONE, SMP_PNG_SUB, SMP_PNG_UP, SMP_PNG_AVERAGE, SMP_PNG_PAETH, SMP_PNG_FILTERS };

/* to[i] = row[i] - prediction, for n bytes with pixels of pixel_bytes. above: the row before; zeros before the first.
 * to may be row. */
void smp_png_filter(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t n, int pixel_bytes, int filter);

/* Swaps the two bytes of each 16-bit sample in n bytes. */
void smp_png_swap(uint8_t *row, int64_t n);

/* Filtered rows `from`, contiguous, each a filter byte and row_bytes, with pixels of pixel_bytes 1, 2, 3, 4, 6 or 8.
 * Row k goes to to + k * pitch. `above`: the row before the first. Reads and writes nothing but rows. False: an unknown
 * filter. */
bool smp_png_unfilter(uint8_t *to, int64_t pitch, uint8_t *above, const uint8_t *from, int64_t row_bytes, int64_t rows,
                      int pixel_bytes);

#if defined(__x86_64__)
/* Undoes a row's Sub for its first bytes. Returns how many. For processors with AVX2. */
int64_t smp_png_undo_sub_avx2(uint8_t *to, const uint8_t *from, int64_t row_bytes, int pixel_bytes);
#endif

/* Four rows with any filters. line[0] is the row above the first, row k goes to line[k + 1]. `from` is after the first
 * row's filter byte. The second function is for processors with AVX2. */
void smp_png_undo_four(uint8_t *const line[5], const uint8_t *from, int64_t row_bytes, int pixel_bytes);
#if defined(__x86_64__)
void smp_png_undo_four_avx2(uint8_t *const line[5], const uint8_t *from, int64_t row_bytes, int pixel_bytes);
#endif

/* CALL(B) for a pixel of so many bytes; B is a constant, so that every size gets its own loops. */
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
