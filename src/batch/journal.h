/* Records what a batch has done in a file of the output folder, so that a run after an interruption, a crash or a kill
 * does what is left and nothing twice. A line says that a file is begun, another that it is done; lines are only ever
 * added.
 *
 * A file is done when the journal says so of its input as it is now (path, size, time of change), of this pipeline with
 * these settings, and the output is still as it was written. An output of which only the beginning is noted was made or
 * about to be made by a run that was killed, and may be replaced. An output that is not noted is somebody else's,
 * unless a journal of this work was cut off, as by a crash of the machine: then it may be replaced, too. */
#pragma once

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/hash/hash_set.h"

#define SMP_JOURNAL_NAME ".smempipe-journal"

typedef struct smp_journal_entry { /* a line */
    bool done;                     /* else begun */
    bool lacks;                    /* done, of a tar file: but samples were left out */
    smp_hash input;                /* a: of its path alone; b: of path, size, time of change */
    smp_hash work;                 /* pipeline, settings, version */
    uint64_t size;                 /* of the output, and */
    int64_t mtime;                 /* nanoseconds: when it was written; both 0 when begun */
} smp_journal_entry;

typedef struct smp_journal_past { /* of one output */
    bool done, begun;             /* ever done; begun and, as far as its journal knows, never done since */
    smp_journal_entry last;       /* when it was done */
    smp_hash begun_work;
    uint64_t begun_path; /* input.a */
} smp_journal_past;

/* Entries of journals about outputs: some 100 bytes an output, whatever it is called. Lines that were cut off are
 * passed over. An empty log: smp_journal_log_new. */
typedef struct smp_journal_log smp_journal_log;
smp_code smp_journal_log_new(smp_journal_log **out, smp_error *err);

/* Adds a journal by its name in a folder that is open. doubtful: what it says to be done is only begun, since the
 * machine that wrote it may have lost the output. What is no journal is SMP_E_READ; what is not there adds nothing. */
smp_code smp_journal_log_add(smp_journal_log *log, int folder, const char *name, bool doubtful, smp_error *err);

/* All journals of a folder; without any the log is empty. only: hashes (smp_hash_name) of the outputs that matter;
 * null: all. */
smp_code smp_journal_read(const char *folder, const smp_hash_set *only, smp_journal_log **out, smp_error *err);

/* Notes that a journal of this work, which knew all its outputs, is gone. All were made before its file was changed
 * last (at `changed`), by the time that can be set, and before `touched`, by the one that cannot, but that grows when a
 * file is copied. The former counts. */
void smp_journal_log_lose(smp_journal_log *log, int64_t changed, int64_t touched);

/* The former was set: from now on the latter counts. False: it does already. */
bool smp_journal_log_distrust(smp_journal_log *log);

/* False: no journal knows the output. */
bool smp_journal_find(const smp_journal_log *log, const char *output, smp_journal_past *past);

/* State of an output that is in no journal: whether a journal that was cut off, or is gone, had it. */
typedef enum smp_journal_loss {
    SMP_JOURNAL_NO_LOSS,
    SMP_JOURNAL_LOST,       /* it may have */
    SMP_JOURNAL_LOST_BEFORE /* only one that was gone when the output was changed last */
} smp_journal_loss;
smp_journal_loss smp_journal_lost(const smp_journal_log *log, const smp_hash *work, int64_t mtime);
void smp_journal_log_free(smp_journal_log *log);

/* Opens this run's journal to add to it: shard `shard` of `shards` (0 of 0: no shards) has one of its own, and one run
 * at a time holds it (SMP_E_WRITE when another does). *lockless (may be null) is set where the file system has no
 * locks. */
typedef struct smp_journal smp_journal;
smp_code smp_journal_open(const char *folder, int64_t shard, int64_t shards, smp_journal **out, bool *lockless,
                          smp_error *err);

/* A journal in a file that is open, signed by who writes; its descriptor is the journal's from now on, also on failure.
 * path: for messages.
 */
smp_code smp_journal_on(int fd, const char *path, smp_journal **out, smp_error *err);

/* Adds a line; output: its path under the folder. One caller at a time. */
smp_code smp_journal_add(smp_journal *journal, const char *output, const smp_journal_entry *entry, smp_error *err);
void smp_journal_close(smp_journal *journal); /* null is allowed */
