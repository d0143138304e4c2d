/* Reads the picture of a plain PNG (8 or 16 bits, gray or RGB, with or without alpha, not interlaced) with ISA-L's
 * inflate and our own unfiltering: several times as fast as libpng, which still reads everything before and after it.
 * This code refuses nothing: after anything unusual libpng reads the file again from its beginning and decides. */
#pragma once

#include "base/error.h"
#include "io/files/source.h"

typedef struct smp_png_plain smp_png_plain;

/* Rows of row_bytes, pixels of pixel_bytes (1, 2, 3, 4, 6 or 8), samples of sample_bytes (1, or 2, which are swapped to
 * native order). source: right after the header of the first IDAT chunk, which has `left` bytes. *out is null with
 * SMP_OK in a build without ISA-L. */
smp_code smp_png_plain_open(smp_source *source, uint32_t left, int64_t row_bytes, int pixel_bytes, int sample_bytes,
                            smp_png_plain **out, smp_error *err);

/* The next rows. False: something is unusual, and `to` is undefined. */
bool smp_png_plain_rows(smp_png_plain *plain, void *to, int64_t stride, int64_t rows);

/* After the last row: whether the stream ends correctly. *next: where in the source the next chunk begins. */
bool smp_png_plain_end(smp_png_plain *plain, uint64_t *next);

void smp_png_plain_close(smp_png_plain *plain);
