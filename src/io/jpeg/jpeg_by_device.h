/* JPEGs whose scan a device codes (kernels/jpeg/jpeg_encode.h). The writer adds headers and metadata, as libjpeg writes
 * them, and the end: the file has the bytes that it gets from samples.
 *
 *     smp_jpeg_params params;
 *     if (smp_jpeg_scan_serves(path, &options, &shape, smp_coding_jpeg(&meta.coding), &params)) {
 *         ... plan the stage behind the last step (media/jpeg_params.h) ...
 *         options.coded.scan = the stage's output shape;
 *         smp_writer_open(path, &shape, &meta, &options, &writer, err);      shape: the picture's own
 *         smp_writer_rows(writer, the stage's rows ...);
 *
 * A scan that did not fit the stage's output is an error of smp_writer_rows, SMP_E_PROCESS: smp_jpeg_scan_fits says it
 * beforehand. The picture is then to be written from its samples, by another writer. */
#pragma once

#include "io/media.h"
#include "media/jpeg_params.h"

/* Whether a device can code what would be written there, and how: false for other formats, for progressive files, and
 * where the libjpeg of this build may do something else. shape: from smp_writer_shape. coding: of the input
 * (smp_meta.coding); may be null. */
bool smp_jpeg_scan_serves(const char *path, const smp_write_options *options, const smp_shape *shape,
                          const smp_jpeg_coding *coding, smp_jpeg_params *params);

/* Whether a device could code what would be written there but for its being progressive. */
bool smp_jpeg_scan_is_progressive(const char *path, const smp_write_options *options, const smp_shape *shape,
                                  const smp_jpeg_coding *coding);

/* For the writer: bytes of the scan that are still to come, after the first row. */
typedef struct smp_jpeg_scan_rows {
    bool begun;
    uint64_t left;
} smp_jpeg_scan_rows;

smp_code smp_jpeg_scan_write(smp_jpeg_scan_rows *scan, smp_writer *writer, const void *from, int64_t stride,
                             int64_t rows, smp_error *err);
smp_code smp_jpeg_scan_end(const smp_jpeg_scan_rows *scan, smp_writer *writer, smp_error *err);
