/* The picture of a plain PNG (8 or 16 bits, gray or RGB, with or without alpha, not interlaced) by ISA-L's inflate and
 * our own unfiltering: several times as fast as libpng, which still reads everything before and behind it. Whatever is
 * out of the ordinary is left for libpng to judge, from the file's beginning: nothing is refused here. */
#ifndef SMP_IO_PNG_PNG_PLAIN_H
#define SMP_IO_PNG_PNG_PLAIN_H

#include "base/error.h"
#include "io/source.h"

typedef struct smp_png_plain smp_png_plain;

/* Rows of row_bytes, pixels of pixel_bytes (1, 2, 3, 4, 6 or 8), samples of sample_bytes (1; 2 are swapped into native
 * order). source: just behind the header of the first IDAT chunk, which has `left` bytes. *out null, with SMP_OK: built
 * without ISA-L. */
smp_code smp_png_plain_open(smp_source *source, uint32_t left, int64_t row_bytes, int pixel_bytes, int sample_bytes,
                            smp_png_plain **out, smp_error *err);

/* The next rows; false: something is out of the ordinary, and `to` holds nothing of use. */
bool smp_png_plain_rows(smp_png_plain *plain, void *to, int64_t stride, int64_t rows);

/* After the last row: whether the stream ends as it should. *next: where in the source the chunk behind it begins. */
bool smp_png_plain_end(smp_png_plain *plain, uint64_t *next);

void smp_png_plain_close(smp_png_plain *plain);

#endif
