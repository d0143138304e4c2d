/* Shared by the reader of HEIC and AVIF and the writer of AVIF; heif.c puts the functions into the table. */
#ifndef SMP_IO_HEIF_HEIF_GLUE_H
#define SMP_IO_HEIF_HEIF_GLUE_H

#include "io/format.h"

/* What the boxes of a file say, found without the library. */
typedef struct smp_heif {
    int64_t width,
        height;      /* the largest that a picture, a thumbnail or a part of one in the file has, each by itself */
    uint64_t pixels; /* of the largest */
    int bits;        /* of a sample, at most */
} smp_heif;

/* Walks the boxes. Fails with SMP_E_DECODE when they are damaged or reach past the end of the file. Source: ISO/IEC
 * 14496-12 and 23008-12. */
smp_code smp_heif_walk(const smp_source *source, smp_heif *heif, smp_error *err);

smp_code smp_heif_read_open(smp_reader *reader, smp_error *err);
smp_code smp_heif_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
void smp_heif_read_close(smp_reader *reader);
smp_code smp_avif_write_shape(const char *extension, smp_shape *shape, smp_error *err);
smp_code smp_avif_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err);
smp_code smp_avif_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_avif_write_end(smp_writer *writer, smp_error *err);
void smp_avif_write_close(smp_writer *writer);

#endif
