/* The head of a unit's file, and the record of a finished unit, a file of its own: see claims.h. */
#pragma once

#include <stddef.h>

#include "base/os/writer.h"

enum { SMP_PIECE_RECORD = 320 }; /* bytes that a record is filled up to */

/* State of a unit before it is taken. */
typedef struct smp_piece_past {
    bool done;      /* its files were, and their outputs then summed up to: */
    uint64_t sum;   /* smp_piece_sum_add of each */
    int64_t newest; /* time of change of the newest */
    int64_t noted;  /* when that was noted, by the file system's clock */
    bool begun;     /* not done, and there are journals: smp_claims_log */
    bool passed;    /* taken before, by a run that this one does not resume: outputs that are there are in the way */
    uint32_t tries; /* the number of its next file */
} smp_piece_past;

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
