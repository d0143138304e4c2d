/* What a batch has to do: every file found, what becomes of it, and whether that is to be done, was done before, is
 * kept as it is or belongs to another shard. Files come in units, some thousand at a time, so that memory does not
 * depend on how many there are. Without a list of work all that can be wrong is found before the first byte is written;
 * with one (work_list.h), before the first byte of a piece. */
#ifndef SMP_BATCH_TODO_H
#define SMP_BATCH_TODO_H

#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/hash_set.h"
#include "batch/batch.h"
#include "batch/claims.h"
#include "batch/find_files.h"
#include "batch/journal.h"
#include "batch/outputs.h"
#include "batch/work_list.h"

/* Files of a walk at a time; a bit beside their states. */
enum { SMP_TODO_UNIT = SMP_FOUND_BLOCK, SMP_TODO_REPLACE = 0x80 };

typedef enum smp_todo_state {
    SMP_TODO_DO,
    SMP_TODO_DONE,   /* by an earlier run, says the journal */
    SMP_TODO_KEPT,   /* there already, and --skip-existing */
    SMP_TODO_LEFT,   /* the caller wants it left out */
    SMP_TODO_CHANGED /* done by an earlier run, and changed since: left as it is */
} smp_todo_state;

typedef struct smp_todo_request {
    const char *const *given;
    size_t given_count;
    smp_find_options walk;
    const smp_limits *pages; /* each page of a file is a file, for readers with these limits; null: the files as such */
    const char *list;        /* a list of work that takes the place of all these; null: none */
    const char *folder;      /* of outputs */
    const char *pattern;     /* of their names */
    const char *extension;   /* what {ext} is in them; null: by the input and the pipeline */
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
    const smp_found *file;
    const char *output;
    smp_todo_state state;
    bool replace;       /* the output that is there: ours, or --force */
    bool lost;          /* ours as far as is known: its record was cut off or is gone */
    bool second;        /* of a list: a file before it has the same output, */
    const char *first;  /* this one; null: it is not known which */
    smp_hash input;     /* path, size and time of change */
    uint64_t made_size; /* of the output, once it is there */
    int64_t made_mtime;
} smp_todo_item;

/* Files that are looked at together and done together: a piece of a list, or some thousand of a walk. */
typedef struct smp_work_unit {
    struct smp_work_unit *next;
    smp_todo_item *items;
    size_t count;
    smp_batch_file *files; /* those to do, for smp_batch_run, and */
    size_t *item_of;       /* which item each is */
    size_t to_do, first;   /* first: the index of files[0] among all that the batch does */
    size_t left, failed;   /* of those to do: not ended yet; failed */
    smp_found *found;      /* with a list; else null */
    smp_texts texts;       /* of outputs, and with a list of inputs */
    smp_claim *claim;      /* with a list, once it is being worked on; else null */
} smp_work_unit;

typedef struct smp_todo_count {
    size_t files; /* of this shard, as far as looked at */
    size_t to_do, done, kept, left, changed;
    size_t stale;          /* of those kept: older than their inputs */
    size_t others;         /* of other shards; without a list */
    size_t lost;           /* of those to do: their outputs are there, and the records of them are cut off or gone */
    size_t gone;           /* of those made: their outputs were gone at once */
    uint64_t bytes;        /* of inputs to do; with a list, of all this may get */
    size_t expected;       /* the same in files */
    size_t pieces, undone; /* of a list: that this run took; of those the ones that it did not get done */
    smp_claims_sum sum;    /* after smp_todo_end: all that this run may take, whoever did */
} smp_todo_count;

/* What a thread that looks at files keeps for the next one. */
typedef struct smp_output_lookup {
    smp_namer namer;
    char *given;   /* the last input's folder, */
    smp_hash real; /* and the hash of the same with links resolved */
} smp_output_lookup;

typedef struct smp_todo {
    const smp_todo_request *request;
    smp_todo_count count;
    smp_found_list found; /* without a list: this shard's */
    uint8_t *states;      /* of those */
    smp_work_list *list;
    smp_left_out left_out; /* of a list */
    uint32_t *owners;      /* of its pieces, with shards */
    smp_claims *pieces;    /* of a list, once started */
    struct smp_ahead_queue *ahead;
    smp_output_lookup lookup; /* of the caller */
    smp_hash_set outputs;     /* while looking for two of one name; with a list, once started: of pieces worked on */
    uint8_t *met;             /* bits: the pieces whose outputs these are */
    char *outputs_of;    /* the folder that these are of, with its slash, where outputs of others cannot meet them */
    smp_hash_set own;    /* outputs that this shard makes; filled with shards and resume */
    smp_hash_set inputs; /* which files inputs are; filled when an output is there */
    smp_hash_set swept;  /* folders that were */
    const char **links;  /* outputs that are links, and folders of outputs that lie elsewhere, with a slash behind */
    size_t link_count, link_capacity;
    smp_texts link_texts;
    uint64_t suspect;      /* a hash that two outputs have, */
    bool suspicious;       /* if there is one */
    size_t cursor, handed; /* the next unit; files handed out */
    smp_work_unit *units;  /* in work */
    smp_journal *journal;  /* null until smp_todo_start */
    pthread_mutex_t lock;  /* of units, the journal, links and inputs */
    int folder_lock;       /* a descriptor; -1: none */
    bool lockless;         /* the file system has no locks: nothing keeps a second batch from this folder */
    size_t removed;        /* temporary files of runs that were killed */
    double touched;        /* when claims were last said to be alive */
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
void smp_todo_rewind(smp_todo *todo);         /* to look again from the beginning */

/* For smp_batch_request.begin, finished and ended: notes the file as begun, makes its folder; notes it as done or
 * failed; ends its unit with the last of its files: syncs and notes that. */
smp_code smp_todo_begin(smp_todo *todo, size_t index, smp_error *err);
smp_code smp_todo_done(smp_todo *todo, size_t index, bool failed, smp_error *err);
smp_code smp_todo_ended(smp_todo *todo, size_t index, smp_error *err);

/* From time to time: says that the claims are alive. */
void smp_todo_tick(smp_todo *todo);

/* The program is about to end with files in flight: leaves pieces that are not done to others. */
void smp_todo_leave(smp_todo *todo);

/* With a list: counts what became of its pieces again. */
void smp_todo_count_pieces(smp_todo *todo);

/* After the last file, with none in flight: ends what is left of the units, and counts pieces. */
void smp_todo_end(smp_todo *todo);

/* ------------------------------------------------------------------------------------------------ for its own files */

/* The folder that the last output was looked for in, held open, since outputs of a folder follow each other; where it
 * is not there, nothing in it is. Zeroed at first. */
typedef struct smp_last_folder {
    char path[PATH_MAX];
    size_t length;
    int fd;              /* while length; -1: it could not be opened */
    bool missing, fresh; /* fresh: it is there, and was not the last one's */
} smp_last_folder;

/* lstat of an output; false: there is none. */
bool smp_last_folder_has(smp_last_folder *last, const char *output, struct stat *there);
void smp_last_folder_close(smp_last_folder *last);

/* Whether the file of a list was changed after its output was made: it is not what the list says, and newer. */
bool smp_todo_input_changed(smp_last_folder *last, const smp_found *file, int64_t made);

/* What the journals say of the files of a unit: sets states, and counts outputs that are in the way. */
typedef struct smp_conflicts {
    size_t count, other_work;
    char *first; /* from smp_alloc */
} smp_conflicts;

smp_code smp_todo_examine(smp_todo *todo, smp_work_unit *unit, const smp_journal_log *log, smp_conflicts *found,
                          smp_error *err);
smp_code smp_todo_fail_conflicts(const smp_todo *todo, const smp_conflicts *found, smp_error *err);

/* A unit of `count` items without anything in them. */
smp_code smp_work_unit_new(size_t count, smp_work_unit **out, smp_error *err);

/* Names the output of an item; tells its input's hash. */
smp_code smp_todo_name(smp_output_lookup *lookup, smp_work_unit *unit, smp_todo_item *item, smp_error *err);
smp_code smp_todo_key(const smp_todo *todo, smp_output_lookup *lookup, smp_todo_item *item, smp_error *err);
void smp_output_lookup_open(const smp_todo *todo, smp_output_lookup *lookup);
void smp_output_lookup_close(smp_output_lookup *lookup);

/* For a walk: the unit whose first file is number `from`, without states; the states of all files, and how many are
 * in which. */
smp_code smp_todo_spell_out(const smp_todo *todo, smp_output_lookup *lookup, size_t from, smp_work_unit **out,
                            smp_error *err);
smp_code smp_todo_set_states(smp_todo *todo, const smp_journal_log *log, smp_error *err);

/* Collects what is to do, and counts. */
void smp_todo_collect(smp_work_unit *unit, smp_todo_count *sum);

bool smp_todo_started(const smp_todo *todo);

/* An output's path under the folder, as journals know it. */
const char *smp_todo_under(const smp_todo *todo, const char *output);

/* With a list: the parts of the functions above. */
smp_code smp_todo_list_open(smp_todo *todo, smp_error *err);
smp_code smp_todo_list_start(smp_todo *todo, smp_error *err);
smp_code smp_todo_list_next(smp_todo *todo, smp_work_unit **out, smp_error *err);
smp_code smp_todo_list_ended(smp_todo *todo, smp_work_unit *unit, smp_error *err);

/* The files of a piece, without those that the pipeline is not for. */
smp_code smp_todo_load(smp_todo *todo, size_t piece, smp_work_unit **out, smp_error *err);

/* Whether the same pipeline made files in this folder by another list. */
bool smp_todo_other_list(const smp_todo *todo);

/* What the outputs of a unit sum up to. */
void smp_todo_sum_up(const smp_work_unit *unit, smp_piece_past *past);

/* The next piece of a list. One that was done has a unit, whose states say what became of its files since; any other
 * one has none yet. */
typedef struct smp_ahead {
    bool there; /* else there is none */
    size_t piece;
    smp_piece_past past;
    smp_work_unit *unit; /* the caller's */
} smp_ahead;

smp_code smp_todo_ahead_next(smp_todo *todo, smp_ahead *out, smp_error *err);
void smp_todo_ahead_free(smp_todo *todo);

#endif
