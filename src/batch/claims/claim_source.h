/* A source of work units: decides who does which file of a batch. There are three: a walk, whose files may be a shard's
 * (claim_walk.c); a list whose pieces tasks claim, and a list whose pieces have owners, shards or ranks (claim_list.c).
 * todo_notes.c, which notes what is begun and done, knows them by this table alone. Internal to src/batch. */
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include "base/pool.h"
#include "batch/todo.h"

typedef struct smp_claim_source {
    smp_code (*open)(smp_todo *todo, smp_error *err);  /* looks and writes nothing */
    smp_code (*start)(smp_todo *todo, smp_error *err); /* the folder is locked: from here on units are claimed */
    smp_code (*next)(smp_todo *todo, smp_work_unit **out, smp_error *err); /* *out null: there is none */

    /* All files of the unit are done, or some are not: others may take these up. Its outputs are synced. */
    smp_code (*done)(smp_todo *todo, smp_work_unit *unit, smp_error *err);
    smp_code (*give_back)(smp_todo *todo, smp_work_unit *unit, smp_error *err);

    void (*close)(smp_todo *todo); /* also after a failure */
} smp_claim_source;

extern const smp_claim_source smp_claim_walk, smp_claim_list;

bool smp_todo_started(const smp_todo *todo);

/* A unit of `count` items without anything in them. */
smp_code smp_work_unit_new(size_t count, smp_work_unit **out, smp_error *err);

/* Tells the source whether all of the unit is done. */
smp_code smp_work_unit_end(smp_todo *todo, smp_work_unit *unit, smp_error *err);

/* Collects what is to do, and counts. */
void smp_work_unit_collect(smp_work_unit *unit, smp_todo_count *sum);

/* Notes an item as done or begun where its unit's files are noted. The lock is held, or nobody else knows the unit. */
smp_code smp_work_unit_note(smp_todo *todo, const smp_todo_item *item, bool done, smp_error *err);

/* The output of the file at `path` that has this name under the folder given, until the next one; its header is read
 * where names have fields of it. Null without memory. */
const char *smp_output_lookup_text(smp_output_lookup *lookup, const char *path, const char *name);

/* Names the output of an item; tells its input's hash. */
smp_code smp_output_lookup_name(smp_output_lookup *lookup, smp_work_unit *unit, smp_todo_item *item, smp_error *err);
smp_code smp_output_lookup_key(const smp_todo *todo, smp_output_lookup *lookup, smp_todo_item *item, smp_error *err);
void smp_output_lookup_open(const smp_todo *todo, smp_output_lookup *lookup);
void smp_output_lookup_close(smp_output_lookup *lookup);

/* ------------------------------------------------------------------------------------------------ what is there */

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

/* Outputs that are in the way, by what the journals say of a unit's files. */
typedef struct smp_conflicts {
    size_t count, other_work, other_input;
    char *first; /* from smp_alloc */
} smp_conflicts;

smp_code smp_todo_examine(smp_todo *todo, smp_work_unit *unit, const smp_journal_log *log, smp_conflicts *found,
                          smp_error *err);

/* Tells of conflicts; other_list: the same pipeline made files in this folder by another list. */
smp_code smp_todo_fail_conflicts(const smp_todo *todo, const smp_conflicts *found, bool other_list, smp_error *err);

/* An output's path under the folder, as journals know it. */
const char *smp_todo_under(const smp_todo *todo, const char *output);

/* ------------------------------------------------------------------------------------------------ pieces done before
 */

/* The next piece of a list. One that was done has a unit, whose states say what became of its files since; any other
 * one has none yet. */
typedef struct smp_ahead {
    bool there; /* else there is none */
    size_t piece;
    smp_piece_past past;
    smp_work_unit *unit; /* the caller's */
} smp_ahead;

/* Pieces that were done are looked at some hundred at a time and by several threads. Zeroed at first. */
typedef struct smp_ahead_queue {
    smp_ahead *items;
    size_t count, next; /* those before `next` were handed out */
    smp_pool *pool;     /* null until there is much to look at */
} smp_ahead_queue;

/* load: reads the files of a piece. */
typedef smp_code smp_load_piece(smp_todo *todo, size_t piece, smp_work_unit **out, smp_error *err);
smp_code smp_ahead_next(smp_todo *todo, smp_ahead_queue *queue, smp_claims *claims, smp_load_piece *load,
                        smp_ahead *out, smp_error *err);
void smp_ahead_free(smp_ahead_queue *queue);

/* Sums up the outputs of a unit. */
void smp_work_unit_sum_up(const smp_work_unit *unit, smp_piece_past *past);
