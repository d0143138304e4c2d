/* Shared by the WebP reader and writer, and the functions of the format; webp.c puts them into the table. Source: WebP
 * Container Specification, RFC 9649. */
#ifndef SMP_IO_WEBP_WEBP_GLUE_H
#define SMP_IO_WEBP_WEBP_GLUE_H

#include "io/format.h"

enum { WEBP_HAS_ICC = 0x20, WEBP_HAS_ALPHA = 0x10, WEBP_HAS_EXIF = 0x08, WEBP_HAS_XMP = 0x04, WEBP_IS_MOVING = 0x02 };
enum { WEBP_MOST_SIDE = 16383 }; /* pixels */

/* A range of the file. */
typedef struct smp_webp_range {
    uint64_t at, size;
} smp_webp_range;

/* What the chunks of a file say, found without the library. */
typedef struct smp_webp {
    int64_t width, height; /* of the canvas */
    int64_t x, y;          /* where the picture, or the first of an animation, lies on it, */
    int64_t inner_width, inner_height;
    bool lossless, alpha, moving;
    int64_t frames;       /* of an animation */
    smp_webp_range coded; /* the chunks that the library decodes, in one range */
    smp_webp_range icc, exif, xmp;
} smp_webp;

/* Walks the chunks. Fails with SMP_E_DECODE when they are damaged or reach past the end of the file. */
smp_code smp_webp_walk(const smp_source *source, smp_webp *webp, smp_error *err);

smp_code smp_webp_read_open(smp_reader *reader, smp_error *err);
smp_code smp_webp_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_webp_read_end(smp_reader *reader, smp_error *err);
void smp_webp_read_close(smp_reader *reader);
smp_code smp_webp_write_shape(const char *extension, smp_shape *shape, smp_error *err);
smp_code smp_webp_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err);
smp_code smp_webp_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_webp_write_end(smp_writer *writer, smp_error *err);
void smp_webp_write_close(smp_writer *writer);

#endif
