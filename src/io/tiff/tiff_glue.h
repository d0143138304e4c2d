/* The functions of the TIFF format: in tiff_read.c and tiff_write.c; tiff.c puts them into the table. */
#ifndef SMP_IO_TIFF_TIFF_GLUE_H
#define SMP_IO_TIFF_TIFF_GLUE_H

#include "io/format.h"

smp_code smp_tiff_read_open(smp_reader *reader, smp_error *err);
smp_code smp_tiff_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
void smp_tiff_read_close(smp_reader *reader);
smp_code smp_tiff_write_shape(const smp_file_format *format, const char *extension, smp_shape *shape, smp_error *err);
smp_code smp_tiff_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err);
smp_code smp_tiff_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_tiff_write_end(smp_writer *writer, smp_error *err);
void smp_tiff_write_close(smp_writer *writer);

#endif
