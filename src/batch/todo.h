/* What a batch has to do: every file found, what becomes of it, and whether that is to be done, was done before, is
 * kept as it is or belongs to another shard. All that can be wrong is found here, before the first byte is written. */
#ifndef SMP_BATCH_TODO_H
#define SMP_BATCH_TODO_H

#include <pthread.h>

#include "batch/batch.h"
#include "batch/find_files.h"
#include "batch/journal.h"

typedef enum smp_todo_state {
    SMP_TODO_DO,
    SMP_TODO_DONE,    /* by an earlier run, says the journal */
    SMP_TODO_KEPT,    /* there already, and --skip-existing */
    SMP_TODO_CHANGED, /* done by an earlier run, and changed since: left as it is */
    SMP_TODO_OTHERS   /* another shard's */
} smp_todo_state;

typedef struct smp_todo_request {
    const char *const *given;
    size_t given_count;
    smp_find_options walk;
    const smp_limits *pages; /* each page of a file is a file, for readers with these limits; null: the files as such */
    const char *folder;      /* of outputs */
    const char *pattern;     /* of their names */
    const char *extension;   /* what {ext} is in them; null: by the input and the pipeline */
    const smp_program *program;
    smp_hash work; /* of the pipeline and all that changes outputs */
    bool force, resume, skip_existing;
    bool redo_changed;     /* with resume: make outputs again that were changed after they were made */
    int64_t shard, shards; /* 1..shards of shards; 0 of 0: all */
} smp_todo_request;

typedef struct smp_todo_item {
    const smp_found *file;
    const char *output;
    smp_todo_state state;
    bool replace;   /* the output that is there: ours, or --force */
    smp_hash input; /* path, size and time of change */
} smp_todo_item;

typedef struct smp_todo {
    const smp_todo_request *request;
    smp_found_list found;
    char **outputs;
    smp_todo_item *items;  /* one a file found */
    smp_batch_file *files; /* those to do, for smp_batch_run, and */
    size_t *item_of;       /* which item each is */
    size_t to_do, done, kept, changed, others;
    smp_journal *journal; /* null until smp_todo_start */
    pthread_mutex_t lock; /* of the journal */
    int folder_lock;      /* a descriptor; -1: none */
    bool lockless;        /* the file system has no locks: nothing keeps a second batch from this folder */
} smp_todo;

/* Looks and writes nothing. The request must outlive the todo; smp_todo_free also after a failure. */
smp_code smp_todo_make(const smp_todo_request *request, smp_todo *todo, smp_error *err);
void smp_todo_free(smp_todo *todo);

/* Makes the folder, removes what a killed run left (*swept files, with resume only), opens the journal. */
smp_code smp_todo_start(smp_todo *todo, size_t *swept, smp_error *err);

/* For smp_batch_request.begin and finished: notes the index-th file to do as begun, makes its folder; notes it as done.
 */
smp_code smp_todo_begin(smp_todo *todo, size_t index, smp_error *err);
smp_code smp_todo_done(smp_todo *todo, size_t index, smp_error *err);

/* After the last file: syncs the folders that outputs went into. */
void smp_todo_end(const smp_todo *todo);

#endif
