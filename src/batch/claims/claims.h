/* The pieces of a list that are worked on in an output folder: who works on which, which are done. Every piece has a
 * file in .smempipe-journal.d/, made by whoever takes the piece, and by nobody else: making it either succeeds or finds
 * another's. So any number of tasks share a list, started and killed at any time, without a server and without a word
 * between them; a folder that all of them see is enough.
 *
 * The file of piece 17 is called 17.0, and is a journal of its files (journal.h) while they are being worked on. Then
 * 17.0.done, one line, comes beside it; or 17.0.left (a run that was stopped) or 17.0.failed (some files failed), which
 * --resume takes up again as 17.1, and so on. So does it with 17.0 where its writer is gone: a lock that its process
 * held is free, its job runs again, or, where the writer was on another host, it has been silent for --retake; or where
 * the file is empty, as one that was done, and 17.0.done was removed or cut off: its files are then made
 * again. 17.0.free: nothing of it was begun, and anybody takes it as 17.1. No name goes away again: whoever read the
 * folder a while ago would take it a second time. */
#pragma once

#include "base/os/writer.h"
#include "batch/claims/work_list.h"
#include "batch/journal.h"

/* The head of a unit's file, and the record of a finished unit, a file of its own: see claims.h. */

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

#define SMP_CLAIMS_NAME SMP_JOURNAL_NAME ".d"

typedef struct smp_claims smp_claims;
typedef struct smp_claim smp_claim;

typedef struct smp_claims_request {
    const char *folder;   /* of outputs */
    smp_hash list, work;  /* together they name the folder of the pieces */
    smp_list_share share; /* the pieces that are this task's; with claim all are */
    bool claim, resume, sync_pieces;
    double retake; /* seconds; 0: silence means nothing */
    int clock;     /* a descriptor of a file in the folder, whose time is set to read the file system's clock */
} smp_claims_request;

uint64_t smp_piece_sum_add(uint64_t sum, uint64_t size, int64_t mtime);

/* Whether the output folder has pieces of the same work by another list. */
bool smp_claims_by_other_list(const smp_claims_request *request);

/* write: makes the folder; else nothing is written, and every piece of the shard is only looked at. */
smp_code smp_claims_open(const smp_claims_request *request, bool write, smp_claims **out, smp_error *err);
void smp_claims_close(smp_claims *pieces); /* null is allowed */

/* The next piece that this task may work on; false: there is none. With claim those that nobody has taken come first,
 * in their order but for a few, then those that may be taken up again; pieces done are passed over. Otherwise those of
 * the shard in their order, also when done with resume, so that they are looked at again. */
bool smp_claims_next(smp_claims *pieces, size_t *piece, smp_piece_past *past);

/* Takes it, as it was when it was told. *out null without a failure: another was quicker. */
smp_code smp_claims_take(smp_claims *pieces, size_t piece, const smp_piece_past *past, smp_claim **out, bool *lockless,
                         smp_error *err);

/* Whether any piece of the list is done. */
bool smp_claims_any_done(smp_claims *pieces);

/* Reads what the journals of a unit, up to the claim's, say of its files. An empty one says that all were done, and
 * that the record of that is gone. */
smp_code smp_claims_log(smp_claims *pieces, size_t piece, smp_journal_log **out, smp_error *err);

/* State of the units that this task may work on, as their folder says. */
typedef struct smp_claims_sum {
    size_t done, failed, left, held; /* failed: some files of theirs; left: by a run that was stopped or refused */
    size_t lost, far, silent; /* of those held: by a process that is gone; of another host, as far as is known; of
                                 those, silent for a minute */
    size_t passed;            /* of those done: before this run came to them, which did not look at them */
} smp_claims_sum;
smp_claims_sum smp_claims_sum_up(smp_claims *pieces);

smp_journal *smp_claim_journal(smp_claim *claim);
void smp_claim_touch(smp_claim *claim); /* it is alive */
void smp_claim_offer(smp_claim *claim); /* the process ends: others may take the piece up */

/* The piece is done; its journal becomes one line. Frees the claim. */
smp_code smp_claim_done(smp_claim *claim, const smp_piece_past *past, size_t files, smp_error *err);

/* Not done: nothing of it was begun, so that anybody may take it; the run was stopped; some files failed. Frees the
 * claim; null is allowed. */
typedef enum smp_claim_end { SMP_CLAIM_UNTOUCHED, SMP_CLAIM_STOPPED, SMP_CLAIM_FAILED } smp_claim_end;
void smp_claim_give_back(smp_claim *claim, smp_claim_end why);
