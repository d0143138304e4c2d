/* PNG's row filters (PNG specification, chapter 9), applied before compression. */
#pragma once

#include <stdint.h>

enum { SMP_PNG_NONE, SMP_PNG_SUB, SMP_PNG_UP, SMP_PNG_AVERAGE, SMP_PNG_PAETH, SMP_PNG_FILTERS };

/* to[i] = row[i] - prediction, for n bytes with pixels of pixel_bytes. above: the row before; zeros before the first.
 * to may be row. */
void smp_png_filter(uint8_t *to, const uint8_t *row, const uint8_t *above, int64_t n, int pixel_bytes, int filter);

/* Swaps the two bytes of each 16-bit sample in n bytes. */
void smp_png_swap(uint8_t *row, int64_t n);
