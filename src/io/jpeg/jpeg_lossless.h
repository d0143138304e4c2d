/* What stands beside the samples of a lossless JPEG, whose samples libjpeg does not read: for av/picture.c. */
#pragma once

#include "io/format.h"

/* Whether the frame of a JPEG is of samples without loss (SOF3), wherever it stands. */
bool smp_jpeg_is_lossless(const smp_source *source);

/* Keeps metadata, from the source's beginning. *ycc: its colours are luma and chroma. A JPEG whose header libjpeg does
 * not take is an error. */
smp_code smp_jpeg_read_lossless(smp_reader *reader, bool *ycc, smp_error *err);
