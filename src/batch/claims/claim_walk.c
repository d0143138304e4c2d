/* The files of a walk, all of them or a shard's by the hashes of their names: see claim_source.h. All are looked at
 * before the first byte is written; units of them are spelled out one by one. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/pool.h"
#include "batch/claims/claim_source.h"

/* Files of a unit; a bit beside their states. */
enum { UNIT = SMP_FOUND_BLOCK, REPLACE = 0x80 };

struct smp_walk_source {
    uint8_t *states;      /* of the files found */
    smp_hash_set outputs; /* while looking for two of one name, */
    char *outputs_of;     /* the folder that they are of, with its slash, where those of others cannot meet them */
    smp_hash_set own;     /* outputs that this shard makes; filled with shards and resume */
    uint64_t suspect;     /* a hash that two outputs have, */
    bool suspicious;      /* if there is one */
    smp_journal *journal; /* once started */
};

/* ------------------------------------------------------------------------------------------------ names */

/* Counts a name that an input wants to write; a second one like it is suspect. */
static smp_code meet_name(void *context, const char *path, smp_error *err)
{
    smp_todo *todo = context;
    bool there;
    const uint64_t hash = smp_hash_name(path);
    SMP_NEED(smp_hash_set_add(&todo->walk->outputs, hash, &there), "names", todo->walk->outputs.count * sizeof hash,
             err);
    if (there && !todo->walk->suspicious) {
        todo->walk->suspicious = true;
        todo->walk->suspect = hash;
    }
    return SMP_OK;
}

/* Outputs lie in folders like their inputs', whose files follow each other in a walk of one folder: names that were met
 * in other folders need not be kept. */
static smp_code forget_others(smp_todo *todo, const char *name, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    const size_t length = (size_t)(smp_base_name(name) - name);
    if (r->given_count != 1 || r->pages || r->program->save_count)
        return SMP_OK;
    if (todo->walk->outputs_of && strlen(todo->walk->outputs_of) == length &&
        !strncmp(todo->walk->outputs_of, name, length))
        return SMP_OK;
    smp_free(todo->walk->outputs_of);
    todo->walk->outputs_of = smp_strndup(name, length);
    SMP_NEED(todo->walk->outputs_of, "a path", length, err);
    smp_hash_set_clear(&todo->walk->outputs);
    return SMP_OK;
}

/* All names that this input wants to write. *output (may be null): the first, until the next name. */
static smp_code meet_names(smp_todo *todo, const char *path, const char *name, const char **output, smp_error *err)
{
    SMP_TRY(forget_others(todo, name, err));
    const char *text = smp_output_lookup_text(&todo->lookup, path, name);
    if (output)
        *output = text;
    return text ? smp_each_target(text, todo->request->program, meet_name, todo, err)
                : smp_fail_memory(err, "a name", strlen(name));
}

/* Sees the names of all files, also of other shards, since no two inputs may have one output. */
static smp_code wants(void *context, const char *path, const char *name, bool *wanted, smp_error *err)
{
    smp_todo *todo = context;
    const smp_todo_request *r = todo->request;
    const char *output;
    SMP_TRY(meet_names(todo, path, name, &output, err));
    *wanted = r->shards <= 0 || smp_shard_of(name, r->shards) == r->shard;
    todo->count.others += !*wanted;
    bool there;
    if (*wanted && r->shards > 0 && r->resume && !r->pages &&
        !smp_hash_set_add(&todo->walk->own, smp_hash_name(smp_todo_under(todo, output)), &there))
        return smp_fail_memory(err, "names", todo->walk->own.count);
    return SMP_OK;
}

typedef struct pair { /* two files with one output */
    smp_todo *todo;
    const smp_found *found; /* the one that is looked at */
    char *first, *output;   /* from smp_alloc */
} pair;

static smp_code meet_suspect(void *context, const char *path, smp_error *err)
{
    pair *p = context;
    if (smp_hash_name(path) != p->todo->walk->suspect)
        return SMP_OK;
    if (p->output && !strcmp(p->output, path))
        return smp_fail_collision(p->first, p->found->path, path, err);
    if (!p->output && (!(p->first = smp_strdup(p->found->path)) || !(p->output = smp_strdup(path))))
        return smp_fail_memory(err, "a name", strlen(path));
    return SMP_OK;
}

/* Looks for the two files with the suspect name. */
static smp_code meet_again(void *context, const smp_found *found, smp_error *err)
{
    pair *p = context;
    const char *output = smp_output_lookup_text(&p->todo->lookup, found->path, found->name);
    p->found = found;
    return output ? smp_each_target(output, p->todo->request->program, meet_suspect, p, err)
                  : smp_fail_memory(err, "a name", strlen(found->name));
}

/* Names the two files that would have one output. Two names that merely have one hash are no fault. */
static smp_code tell_collision(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    pair p = {.todo = todo};
    smp_left_out left_out;
    smp_code code = smp_walk_each(r->given, r->given_count, &r->walk, meet_again, &p, &left_out, err);
    smp_left_out_free(&left_out);
    smp_free_all(p.first, p.output);
    return code;
}

/* ------------------------------------------------------------------------------------------------ finding */

/* Pages become files, whose names must differ too. */
static smp_code spread_pages(smp_todo *todo, smp_error *err)
{
    pair p = {.todo = todo};
    smp_code code = smp_found_pages(&todo->found, todo->request->pages, err);
    smp_hash_set_free(&todo->walk->outputs);
    todo->walk->suspicious = false;
    for (size_t i = 0; !code && i < todo->found.count; i++) {
        const smp_found *file = smp_found_at(&todo->found, i);
        code = meet_names(todo, file->path, file->name, NULL, err);
    }
    for (size_t i = 0; !code && todo->walk->suspicious && i < todo->found.count; i++)
        code = meet_again(&p, smp_found_at(&todo->found, i), err);
    smp_free_all(p.first, p.output);
    return code;
}

/* Whether a next run could take outputs for inputs, were they among them: not where all of --include ask for other
 * extensions. */
static bool may_take_outputs(const smp_todo_request *r)
{
    const char *made = r->extension ? r->extension + (r->extension[0] == '.') : "";
    bool may = !made[0] || !r->walk.include_count;
    for (size_t i = 0; !may && i < r->walk.include_count; i++) {
        const char *dot = strrchr(r->walk.include[i], '.');
        may = !dot || strpbrk(dot, "*?[/") || !strcasecmp(dot + 1, made);
    }
    return may;
}

/* Finds the wanted files and their names. */
static smp_code find(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    smp_find_options walk = r->walk;
    walk.wants = wants;
    walk.context = todo;
    smp_code code = smp_walk(r->given, r->given_count, &walk, &todo->found, err);
    todo->left_out = todo->found.left_out;
    todo->found.left_out = (smp_left_out){0};
    if (!code && todo->walk->suspicious)
        code = tell_collision(todo, err);
    if (!code && r->pages)
        code = spread_pages(todo, err);
    smp_hash_set_free(&todo->walk->outputs);
    if (!code)
        code = smp_output_folder_check(r->folder, r->given, may_take_outputs(r) ? r->given_count : 0, err);
    return code;
}

/* The journals are read while the folders are walked. */
typedef struct recall {
    const char *folder;
    smp_journal_log *log;
    smp_error err;
    pthread_t thread;
    bool begun;
} recall;

static void *read_journals(void *context)
{
    recall *r = context;
    (void)smp_journal_read(r->folder, NULL, &r->log, &r->err);
    return NULL;
}

/* Finds the files, and what journals say. A shard, which wants to know its own outputs alone, reads them afterwards. */
static smp_code find_and_recall(smp_todo *todo, smp_journal_log **log, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    recall past = {.folder = r->folder};
    const bool own = r->shards > 0 && !r->pages;
    if (r->resume && !own)
        past.begun = pthread_create(&past.thread, NULL, read_journals, &past) == 0;
    smp_code code = find(todo, err);
    if (past.begun) {
        pthread_join(past.thread, NULL);
        *log = past.log;
        if (!code && (code = past.err.code))
            *err = past.err;
    } else if (!code && r->resume)
        code = smp_journal_read(r->folder, own ? &todo->walk->own : NULL, log, err);
    return code;
}

/* ------------------------------------------------------------------------------------------------ looking */

static smp_code spell_out(const smp_todo *todo, smp_output_lookup *lookup, size_t from, smp_work_unit **out,
                          smp_error *err)
{
    const size_t left = todo->found.count - from;
    smp_work_unit *unit;
    smp_code code = smp_work_unit_new(left < UNIT ? left : UNIT, &unit, err);
    for (size_t i = 0; !code && i < unit->count; i++) {
        unit->items[i].file = smp_found_at(&todo->found, from + i);
        code = smp_output_lookup_name(lookup, unit, &unit->items[i], err);
        code = code ? code : smp_output_lookup_key(todo, lookup, &unit->items[i], err);
    }
    if (code) {
        smp_work_unit_free(unit);
        unit = NULL;
    }
    *out = unit;
    return code;
}

typedef struct seen { /* of a unit */
    smp_conflicts conflicts;
    smp_error err;
} seen;

typedef struct watch {
    smp_todo *todo;
    const smp_journal_log *log;
    seen *units;
} watch;

/* Looks at a unit, beside other threads. */
static void watch_unit(void *context, int part)
{
    const watch *w = context;
    smp_todo *todo = w->todo;
    seen *s = &w->units[part];
    const size_t from = (size_t)part * UNIT;
    smp_output_lookup lookup;
    smp_work_unit *unit = NULL;
    smp_output_lookup_open(todo, &lookup);
    smp_code code = spell_out(todo, &lookup, from, &unit, &s->err);
    code = code ? code : smp_todo_examine(todo, unit, w->log, &s->conflicts, &s->err);
    for (size_t i = 0; !code && i < unit->count; i++)
        todo->walk->states[from + i] =
            (uint8_t)((unsigned)unit->items[i].state | (unit->items[i].replace ? REPLACE : 0U));
    if (!code) {
        pthread_mutex_lock(&todo->lock);
        smp_work_unit_collect(unit, &todo->count);
        for (size_t i = 0; i < unit->to_do; i++)
            todo->count.bytes += unit->files[i].bytes;
        pthread_mutex_unlock(&todo->lock);
    }
    smp_work_unit_free(unit);
    smp_output_lookup_close(&lookup);
}

/* Reports what is in the way in all units, in their order. */
static smp_code tell_seen(smp_todo *todo, seen *units, int count, smp_error *err)
{
    smp_conflicts all = {0};
    smp_code code = SMP_OK;
    for (int i = 0; i < count; i++) {
        seen *s = &units[i];
        if (!code && (code = s->err.code))
            *err = s->err;
        if (!all.count) { /* the first one is told */
            all.first = s->conflicts.first;
            s->conflicts.first = NULL;
        }
        all.count += s->conflicts.count;
        all.other_work += s->conflicts.other_work;
        all.other_input += s->conflicts.other_input;
        smp_free(s->conflicts.first);
    }
    if (!code && all.count)
        code = smp_todo_fail_conflicts(todo, &all, false, err);
    smp_free(all.first);
    return code;
}

static smp_code set_states(smp_todo *todo, const smp_journal_log *log, smp_error *err)
{
    const size_t files = todo->found.count;
    const int units = (int)((files + UNIT - 1) / UNIT);
    smp_pool *pool = NULL;
    watch w = {.todo = todo, .log = log, .units = smp_alloc_array((size_t)units, sizeof *w.units)};
    todo->walk->states = smp_alloc(files);
    smp_code code = w.units && todo->walk->states ? SMP_OK : smp_fail_memory(err, "the list of files", files);
    if (!code) {
        smp_pool_wait(&pool, units > 1, units, watch_unit, &w);
        code = tell_seen(todo, w.units, units, err);
    }
    smp_pool_close(pool);
    smp_free(w.units);
    todo->count.expected = todo->count.to_do;
    smp_hash_set_free(&todo->inputs);
    smp_todo_rewind(todo);
    return code;
}

/* ------------------------------------------------------------------------------------------------ the source */

static smp_code open_walk(smp_todo *todo, smp_error *err)
{
    smp_journal_log *log = NULL;
    todo->walk = smp_alloc(sizeof *todo->walk);
    smp_code code = todo->walk ? find_and_recall(todo, &log, err) : smp_fail_memory(err, "a walk", sizeof *todo->walk);
    code = code ? code : set_states(todo, log, err);
    smp_journal_log_free(log);
    return code;
}

static smp_code start(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    return smp_journal_open(r->folder, r->shard, r->shards, &todo->walk->journal, &todo->lockless, err);
}

/* Goes to the next unit in which there is something to do or to tell. */
static void pass_over(smp_todo *todo)
{
    for (size_t i = todo->cursor; i < todo->found.count; i++) {
        const unsigned state = todo->walk->states[i] & ~(unsigned)REPLACE;
        if (state == SMP_TODO_DO || state == SMP_TODO_CHANGED || state == SMP_TODO_LACKS)
            return;
        if ((i + 1) % UNIT == 0)
            todo->cursor = i + 1;
    }
    todo->cursor = todo->found.count;
}

static smp_code next(smp_todo *todo, smp_work_unit **out, smp_error *err)
{
    if (todo->request->brief && smp_todo_started(todo))
        pass_over(todo);
    if (todo->cursor >= todo->found.count)
        return SMP_OK;
    SMP_TRY(spell_out(todo, &todo->lookup, todo->cursor, out, err));
    smp_work_unit *unit = *out;
    for (size_t i = 0; i < unit->count; i++) {
        const uint8_t state = todo->walk->states[todo->cursor + i];
        unit->items[i].state = (smp_todo_state)(state & ~REPLACE);
        unit->items[i].replace = (state & REPLACE) != 0;
    }
    smp_todo_count again = {0}; /* they were counted when they were looked at */
    smp_work_unit_collect(unit, &again);
    unit->journal = todo->walk->journal;
    unit->late = todo->request->sync_pieces;
    todo->cursor += unit->count;
    return SMP_OK;
}

/* Notes what of a unit is done, whether all of it is or not. */
static smp_code note_synced(smp_todo *todo, smp_work_unit *unit, smp_error *err)
{
    smp_code code = SMP_OK;
    pthread_mutex_lock(&todo->lock);
    for (size_t i = 0; unit->late && !code && i < unit->to_do; i++) {
        const smp_todo_item *item = unit->files[i].own;
        if (item->state != SMP_TODO_DO)
            code = smp_work_unit_note(todo, item, true, err);
    }
    pthread_mutex_unlock(&todo->lock);
    return code;
}

static void close_walk(smp_todo *todo)
{
    if (!todo->walk)
        return;
    smp_journal_close(todo->walk->journal);
    smp_free_all(todo->walk->states, todo->walk->outputs_of);
    smp_hash_set_free(&todo->walk->outputs);
    smp_hash_set_free(&todo->walk->own);
    smp_free(todo->walk);
}

const smp_claim_source smp_claim_walk = {open_walk, start, next, note_synced, note_synced, close_walk};
