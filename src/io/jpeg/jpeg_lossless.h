/* What stands beside a JPEG's samples, and beside those of a lossless one, which libjpeg does not read: for
 * av/picture.c. */
#pragma once

#include "io/format.h"

/* What is found on the way to the picture's end. */
typedef struct smp_jpeg_seen {
    int scans;         /* that begin, */
    uint64_t parts;    /* and the components of all of these */
    uint64_t lossless; /* where the header of a frame (SOF3) is, behind its marker; 0: there is none */
    bool whole;        /* the end is there */
} smp_jpeg_seen;

/* Looks from `position` on, as far as `most` scans. The source must be able to seek. */
void smp_jpeg_look(const smp_source *source, uint64_t position, int most, smp_jpeg_seen *seen);

/* Whether the frame of a JPEG is of samples without loss (SOF3), wherever it stands. */
bool smp_jpeg_is_lossless(const smp_source *source);

/* Keeps metadata, from the source's beginning. *ycc: its colours are luma and chroma. A JPEG whose header libjpeg does
 * not take is an error. */
smp_code smp_jpeg_read_lossless(smp_reader *reader, bool *ycc, smp_error *err);
