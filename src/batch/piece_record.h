/* What a piece's file begins with, and the record of a piece that is done, a file of its own: see pieces.h. */
#ifndef SMP_BATCH_PIECE_RECORD_H
#define SMP_BATCH_PIECE_RECORD_H

#include "base/writer.h"
#include "batch/pieces.h"

enum { SMP_PIECE_RECORD = 320 }; /* bytes that a record is filled up to */

typedef struct smp_piece_heading {
    smp_writer_id writer;
    bool signed_, sync_pieces; /* the writer is known; what it noted as done it had not synced yet */
    bool summed;               /* it is a whole record, whose sums `past` has */
    smp_piece_past past;
} smp_piece_heading;

void smp_piece_heading_read(int fd, smp_piece_heading *heading);

/* Whether the record of this name in a folder is all there. */
bool smp_piece_record_whole(int folder, const char *name);

/* The last line of a record, behind what is in the file; its length. */
int smp_piece_record_line(int fd, size_t piece, const smp_piece_past *past, size_t files, char *line, size_t room);

#endif
