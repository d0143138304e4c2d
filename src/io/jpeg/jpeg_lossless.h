/* What stands beside the samples of a lossless JPEG, whose samples libjpeg does not read: for av/picture.c. */
#pragma once

#include "io/media.h"

/* Keeps metadata, from the source's beginning. *frame: where the frame's header is, behind its marker; *ycc: its
 * colours are luma and chroma. Another kind of JPEG is an error. */
smp_code smp_jpeg_read_lossless(smp_reader *reader, uint64_t *frame, bool *ycc, smp_error *err);
