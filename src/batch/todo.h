/* The work of a batch: every file found, what becomes of it, and whether that is to be done, was done before, is kept
 * as it is or belongs to another shard. Files come in units, some thousand at a time, so that memory does not depend on
 * how many there are. Without a list of work all that can be wrong is found before the first byte is written; with one
 * (work_list.h), before the first byte of a piece. */
#pragma once

#include <pthread.h>

#include "base/hash/hash_set.h"
#include "batch/batch.h"
#include "batch/claims/claims.h"
#include "batch/claims/work_list.h"
#include "batch/find_files.h"
#include "batch/journal.h"
#include "batch/outputs.h"

typedef enum smp_todo_state {
    SMP_TODO_DO,
    SMP_TODO_DONE,   /* by an earlier run, says the journal */
    SMP_TODO_LACKS,  /* the same, of a tar file of which samples were left out */
    SMP_TODO_KEPT,   /* there already, and --skip-existing */
    SMP_TODO_LEFT,   /* the caller wants it left out */
    SMP_TODO_CHANGED /* done by an earlier run, and changed since: left as it is */
} smp_todo_state;

typedef struct smp_todo_request {
    const char *const *given;
    size_t given_count;
    smp_find_options walk;
    const smp_read_options *pages; /* each page of a file is a file, read so; null: the files as such */
    const char *list;              /* a list of work that takes the place of all these; null: none */
    const char *folder;            /* of outputs */
    const char *pattern;           /* of their names */
    const char *extension;         /* what {ext} is in them; null: by the input and the pipeline */
    const smp_program *program;
    smp_hash work; /* of the pipeline and all that changes outputs */
    bool force, resume, skip_existing;
    bool redo_changed; /* with resume: make outputs again that were changed after they were made */
    bool brief;        /* of a walk, units in which nothing is to be done or told are passed over */
    bool sync_pieces;  /* outputs are synced a unit at a time */
    bool claim;        /* with a list: pieces are shared with whoever else works on it */
    bool (*deal)(size_t pieces, size_t *piece);      /* with a list: the next piece to do; null: claims or shards say */
    double retake;                                   /* seconds after which a silent claim is free; 0: none is */
    bool (*leave)(void *context, const char *input); /* of a walk: whether to leave a file out; may be null */
    void *context;
    int64_t shard, shards; /* 1..shards of shards; 0 of 0: all */
} smp_todo_request;

typedef struct smp_todo_item {
    struct smp_work_unit *unit;
    const smp_found *file;
    const char *output;
    smp_todo_state state;
    bool replace;       /* the output that is there: ours, or --force */
    bool lost;          /* ours as far as is known: its record was cut off or is gone */
    bool second;        /* of a list: a file before it has the same output, */
    const char *first;  /* this one; null: it is not known which */
    smp_hash input;     /* as in smp_journal_entry */
    uint64_t made_size; /* of the output, once it is there */
    int64_t made_mtime;
} smp_todo_item;

/* Files that are looked at together and done together: a piece of a list, or some thousand of a walk. */
typedef struct smp_work_unit {
    struct smp_work_unit *next;
    smp_todo_item *items;
    size_t count;
    smp_batch_file *files; /* those to do, for smp_batch_run: each an item's own */
    size_t to_do;
    size_t left, failed;  /* of those to do: not ended yet; failed */
    smp_found *found;     /* with a list; else null */
    smp_texts texts;      /* of outputs, and with a list of inputs */
    smp_claim *claim;     /* with a list, once it is being worked on; else null */
    smp_journal *journal; /* where its files are noted, */
    bool late;            /* those that are done when they are synced */
} smp_work_unit;

typedef struct smp_todo_count {
    size_t files; /* of this shard, as far as looked at */
    size_t to_do, done, kept, left, changed;
    size_t lacks;          /* of those done: samples were left out of them */
    size_t stale;          /* of those kept: older than their inputs */
    size_t others;         /* of other shards; without a list */
    size_t lost;           /* of those to do: their outputs are there, and the records of them are cut off or gone */
    size_t gone;           /* of those made: their outputs were gone at once */
    uint64_t bytes;        /* of inputs to do; with a list, of all this may get */
    size_t expected;       /* the same in files */
    size_t pieces, undone; /* of a list: that this run took; of those the ones that it did not get done */
    smp_claims_sum sum;    /* after smp_todo_end: all that this run may take, whoever did */
} smp_todo_count;

/* State that a thread that looks at files keeps for the next one. */
typedef struct smp_output_lookup {
    smp_namer namer;
    bool reads;    /* names have fields of the inputs' headers */
    char *given;   /* the last input's folder, */
    smp_hash real; /* and the hash of the same with links resolved */
} smp_output_lookup;

typedef struct smp_todo {
    const smp_todo_request *request;
    const struct smp_claim_source *source; /* who does which file */
    struct smp_walk_source *walk;          /* the one of them that there is, */
    struct smp_list_source *listed;
    smp_todo_count count;
    smp_found_list found;     /* of a walk: this shard's */
    smp_work_list *list;      /* null: it is a walk */
    smp_left_out left_out;    /* by their names */
    smp_output_lookup lookup; /* of the caller */
    smp_hash_set inputs;      /* which files inputs are; filled when an output of a walk is there */
    smp_hash_set swept;       /* folders that were */
    const char **links; /* outputs that are links, and folders of outputs that lie elsewhere, with a slash behind */
    size_t link_count, link_capacity;
    smp_texts link_texts;
    size_t cursor;        /* the next file of a walk; 0: from the beginning */
    smp_work_unit *units; /* in work */
    pthread_mutex_t lock; /* of units, journals, links and inputs */
    int folder_lock;      /* a descriptor; -1: none, and nothing is claimed yet */
    bool lockless;        /* the file system has no locks: nothing keeps a second batch from this folder */
    size_t removed;       /* temporary files of runs that were killed */
} smp_todo;

/* Looks and writes nothing. The request must outlive the todo; smp_todo_free also after a failure. */
smp_code smp_todo_make(const smp_todo_request *request, smp_todo *todo, smp_error *err);
void smp_todo_free(smp_todo *todo);

/* Makes the folder, keeps others from it, opens the journal. */
smp_code smp_todo_start(smp_todo *todo, smp_error *err);

/* The next unit of this shard, also when nothing of it is to be done; null: there is none. Before smp_todo_start it
 * is only looked at. The caller ends it by smp_work_unit_free when it has nothing to do or was only looked at; else it
 * ends with its last file. One caller at a time. */
smp_code smp_todo_next(smp_todo *todo, smp_work_unit **out, smp_error *err);
void smp_work_unit_free(smp_work_unit *unit); /* null is allowed */
void smp_todo_rewind(smp_todo *todo);         /* to look at a walk again from the beginning */

/* For smp_batch_request.begin, finished and ended: notes the file as begun, makes its folder; notes it as it is
 * now, SMP_TODO_DO where it failed; ends its unit with the last of its files: syncs and notes that. */
smp_code smp_todo_begin(smp_todo *todo, const smp_batch_file *file, smp_error *err);
smp_code smp_todo_done(smp_todo *todo, const smp_batch_file *file, smp_todo_state now, smp_error *err);
smp_code smp_todo_ended(smp_todo *todo, const smp_batch_file *file, smp_error *err);

/* From time to time: says that the claims are alive. */
void smp_todo_tick(smp_todo *todo);

/* The program is about to end with files in flight: leaves pieces that are not done to others. */
void smp_todo_leave(smp_todo *todo);

/* With a list: counts what became of its pieces again. */
void smp_todo_count_pieces(smp_todo *todo);

/* After the last file, with none in flight: ends what is left of the units, and counts pieces. */
void smp_todo_end(smp_todo *todo);
