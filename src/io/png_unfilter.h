/* Undoes PNG's row filters (PNG specification, chapter 9). */
#ifndef SMP_IO_PNG_UNFILTER_H
#define SMP_IO_PNG_UNFILTER_H

#include <stdbool.h>
#include <stdint.h>

enum { SMP_UNFILTER_SLACK = 16 }; /* bytes behind each line, and behind the last filtered row, that may be touched */

/* Filtered rows `from`, one behind the other, each a byte that names its filter and row_bytes; pixels of pixel_bytes 1, 2,
 * 3, 4, 6 or 8. Row k goes to lines + (k + 1) * pitch; lines[0 .. row_bytes-1] is the row above. False: an unknown filter. */
bool smp_png_unfilter(uint8_t *lines, int64_t pitch, const uint8_t *from, int64_t row_bytes, int64_t rows, int pixel_bytes);

#endif
