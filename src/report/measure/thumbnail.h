/* Small pictures: a file is decoded and averaged over boxes. For pages, which carry them as data, and for terminals. */
#ifndef SMP_REPORT_MEASURE_THUMBNAIL_H
#define SMP_REPORT_MEASURE_THUMBNAIL_H

#include <stdio.h>

#include "base/error.h"
#include "io/read_options.h"
#include "report/measure/small_picture.h"

/* Reads the picture of a file, at most `width` wide and `height` high, and never larger than it is, as EXIF's
 * orientation says that it is seen. RGB; alpha is laid on black. Fails where the file is no picture or cannot be read.
 */
smp_code smp_small_picture_read(const char *path, const smp_read_options *how, int64_t width, int64_t height,
                                smp_small_picture *out, smp_error *err);

/* Writes a picture as an <img> whose data, a BMP, are in the page itself. */
smp_code smp_thumbnail(FILE *to, const char *path, const smp_read_options *how, int most, smp_error *err);

/* A BMP of the picture; *file is from smp_alloc. */
smp_code smp_small_picture_bmp(const smp_small_picture *picture, unsigned char **file, size_t *size, smp_error *err);

void smp_base64(FILE *to, const unsigned char *data, size_t size);

#endif
