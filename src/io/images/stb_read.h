/* Reading through stb_image, for the formats whose rows of the table use it (BMP, TGA, PSD, HDR). */
#ifndef SMP_IO_STB_READ_H
#define SMP_IO_STB_READ_H

#include "io/format.h"

typedef struct smp_stb_request {
    smp_format format; /* SMP_F32: HDR */
    int channels;      /* wanted; 0: as the file has */
} smp_stb_request;

/* The read_open of such a format: the picture is decoded at the first rows. */
smp_code smp_stb_read_open(smp_reader *reader, const smp_stb_request *request, smp_error *err);
smp_code smp_stb_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
void smp_stb_read_close(smp_reader *reader);

#endif
