/* What a batch has to do, and noting what it did: see todo.h. Files of a walk come from a list in memory, of which a
 * unit at a time is spelled out; those of a list of work are todo_list.c's. */
#include "batch/todo.h"

#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "batch/folder_lock.h"
#include "io/output.h"

/* ------------------------------------------------------------------------------------------------ units */

smp_code smp_work_unit_new(size_t count, smp_work_unit **out, smp_error *err)
{
    smp_work_unit *unit = *out = smp_alloc(sizeof *unit);
    if (unit) {
        unit->count = count;
        unit->items = smp_alloc_array(count, sizeof *unit->items);
        unit->files = smp_alloc_array(count, sizeof *unit->files);
        unit->item_of = smp_alloc_array(count, sizeof *unit->item_of);
    }
    if (unit && unit->items && unit->files && unit->item_of)
        return SMP_OK;
    smp_work_unit_free(unit);
    *out = NULL;
    return smp_fail_memory(err, "the list of files", count * sizeof(smp_todo_item));
}

void smp_work_unit_free(smp_work_unit *unit)
{
    if (!unit)
        return;
    smp_free(unit->items);
    smp_free(unit->files);
    smp_free(unit->item_of);
    smp_free(unit->found);
    smp_texts_free(&unit->texts);
    smp_free(unit);
}

void smp_todo_collect(smp_work_unit *unit, smp_todo_count *sum)
{
    for (size_t i = 0; i < unit->count; i++) {
        const smp_todo_item *item = &unit->items[i];
        sum->files++;
        sum->to_do += item->state == SMP_TODO_DO;
        sum->done += item->state == SMP_TODO_DONE;
        sum->kept += item->state == SMP_TODO_KEPT;
        sum->stale += item->state == SMP_TODO_KEPT && item->file->regular && item->file->mtime > item->made_mtime;
        sum->left += item->state == SMP_TODO_LEFT;
        sum->changed += item->state == SMP_TODO_CHANGED;
        if (item->state != SMP_TODO_DO)
            continue;
        sum->lost += item->lost;
        unit->item_of[unit->to_do] = i;
        unit->files[unit->to_do++] = (smp_batch_file){.input = item->file->path,
                                                      .output = item->output,
                                                      .bytes = item->file->size,
                                                      .replace = item->replace,
                                                      .mtime = unit->found ? item->file->mtime : 0,
                                                      .page = item->file->page};
    }
    unit->left = unit->to_do;
}

/* ------------------------------------------------------------------------------------------------ names */

/* Counts a name that an input wants to write; a second one like it is suspect. */
static smp_code meet_name(void *context, const char *path, smp_error *err)
{
    smp_todo *todo = context;
    bool there;
    const uint64_t hash = smp_hash_name(path);
    if (!smp_hash_set_add(&todo->outputs, hash, &there))
        return smp_fail_memory(err, "names", todo->outputs.count * sizeof hash);
    if (there && !todo->suspicious) {
        todo->suspicious = true;
        todo->suspect = hash;
    }
    return SMP_OK;
}

/* Outputs lie in folders like their inputs', whose files follow each other in a walk of one folder: names that were met
 * in other folders need not be kept. */
static smp_code forget_others(smp_todo *todo, const char *name, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    const char *slash = strrchr(name, '/');
    const size_t length = slash ? (size_t)(slash - name) + 1 : 0;
    if (r->given_count != 1 || r->pages || r->program->save_count)
        return SMP_OK;
    if (todo->outputs_of && strlen(todo->outputs_of) == length && !strncmp(todo->outputs_of, name, length))
        return SMP_OK;
    smp_free(todo->outputs_of);
    todo->outputs_of = smp_strndup(name, length);
    if (!todo->outputs_of)
        return smp_fail_memory(err, "a path", length);
    smp_hash_set_clear(&todo->outputs);
    return SMP_OK;
}

/* All names that the input of this name wants to write. *output (may be null): the first, until the next name. */
static smp_code meet_names(smp_todo *todo, const char *name, const char **output, smp_error *err)
{
    const smp_code code = forget_others(todo, name, err);
    if (code)
        return code;
    const char *text = smp_namer_output(&todo->lookup.namer, name);
    if (output)
        *output = text;
    return text ? smp_each_target(text, todo->request->program, meet_name, todo, err)
                : smp_fail_memory(err, "a name", strlen(name));
}

/* Sees the names of all files, also of other shards, since no two inputs may have one output. */
static smp_code wants(void *context, const char *name, bool *wanted, smp_error *err)
{
    smp_todo *todo = context;
    const smp_todo_request *r = todo->request;
    const char *output;
    smp_code code = meet_names(todo, name, &output, err);
    *wanted = r->shards <= 0 || smp_shard_of(name, r->shards) == r->shard;
    todo->count.others += !*wanted;
    bool there;
    if (!code && *wanted && r->shards > 0 && r->resume && !r->pages &&
        !smp_hash_set_add(&todo->own, smp_hash_name(smp_todo_under(todo, output)), &there))
        code = smp_fail_memory(err, "names", todo->own.count);
    return code;
}

typedef struct pair { /* two files with one output */
    smp_todo *todo;
    const smp_found *found; /* the one that is looked at */
    char *first, *output;   /* from smp_alloc */
} pair;

static smp_code meet_suspect(void *context, const char *path, smp_error *err)
{
    pair *p = context;
    if (smp_hash_name(path) != p->todo->suspect)
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
    const char *output = smp_namer_output(&p->todo->lookup.namer, found->name);
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
    smp_free(p.first);
    smp_free(p.output);
    return code;
}

/* ------------------------------------------------------------------------------------------------ making */

/* Pages become files, whose names must differ too. */
static smp_code spread_pages(smp_todo *todo, smp_error *err)
{
    pair p = {.todo = todo};
    smp_code code = smp_found_pages(&todo->found, todo->request->pages, err);
    smp_hash_set_free(&todo->outputs);
    todo->suspicious = false;
    for (size_t i = 0; !code && i < todo->found.count; i++)
        code = meet_names(todo, smp_found_at(&todo->found, i)->name, NULL, err);
    for (size_t i = 0; !code && todo->suspicious && i < todo->found.count; i++)
        code = meet_again(&p, smp_found_at(&todo->found, i), err);
    smp_free(p.first);
    smp_free(p.output);
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

/* Which files are wanted, and their names. */
static smp_code find(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    smp_find_options walk = r->walk;
    walk.wants = wants;
    walk.context = todo;
    smp_code code = smp_walk(r->given, r->given_count, &walk, &todo->found, err);
    if (!code && todo->suspicious)
        code = tell_collision(todo, err);
    if (!code && r->pages)
        code = spread_pages(todo, err);
    smp_hash_set_free(&todo->outputs);
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
        code = smp_journal_read(r->folder, own ? &todo->own : NULL, log, err);
    return code;
}

smp_code smp_todo_make(const smp_todo_request *request, smp_todo *todo, smp_error *err)
{
    *todo = (smp_todo){.request = request, .folder_lock = -1};
    pthread_mutex_init(&todo->lock, NULL);
    smp_output_lookup_open(todo, &todo->lookup);
    smp_journal_log *log = NULL;
    smp_code code = smp_name_pattern_check(request->pattern, err);
    if (!code && request->list)
        return smp_todo_list_open(todo, err);
    if (!code)
        code = find_and_recall(todo, &log, err);
    if (!code)
        code = smp_todo_set_states(todo, log, err);
    smp_journal_log_free(log);
    return code;
}

void smp_todo_free(smp_todo *todo)
{
    if (!todo->request)
        return;
    for (smp_work_unit *unit = todo->units, *next; unit; unit = next) {
        next = unit->next;
        smp_work_unit_free(unit);
    }
    smp_journal_close(todo->journal);
    smp_todo_ahead_free(todo);
    smp_claims_close(todo->pieces);
    smp_free(todo->owners);
    smp_free(todo->met);
    smp_work_list_close(todo->list);
    if (todo->folder_lock >= 0)
        close(todo->folder_lock);
    smp_found_free(&todo->found);
    smp_left_out_free(&todo->left_out);
    smp_free(todo->states);
    smp_output_lookup_close(&todo->lookup);
    smp_free(todo->outputs_of);
    smp_hash_set_free(&todo->outputs);
    smp_hash_set_free(&todo->own);
    smp_hash_set_free(&todo->inputs);
    smp_hash_set_free(&todo->swept);
    smp_free(todo->links);
    smp_texts_free(&todo->link_texts);
    pthread_mutex_destroy(&todo->lock);
    *todo = (smp_todo){.request = NULL};
}

/* ------------------------------------------------------------------------------------------------ unit by unit
 */

/* For every folder that outputs of a unit lie in, once where they follow each other. */
static void each_folder(smp_todo *todo, const smp_work_unit *unit, void (*fn)(smp_todo *todo, const char *folder))
{
    char folder[PATH_MAX] = "";
    for (size_t i = 0; i < unit->to_do; i++) {
        const char *output = unit->files[i].output, *slash = strrchr(output, '/');
        const size_t length = slash ? (size_t)(slash - output) + 1 : 0;
        if (!length || length >= sizeof folder || (strlen(folder) == length && !strncmp(folder, output, length)))
            continue;
        memcpy(folder, output, length);
        folder[length] = '\0';
        fn(todo, folder);
    }
}

static void sync_one(smp_todo *todo, const char *folder)
{
    (void)todo;
    smp_sync_folder(folder);
}

static void sweep_one(smp_todo *todo, const char *folder)
{
    bool there = true;
    if (smp_hash_set_add(&todo->swept, smp_hash_name(folder), &there) && !there)
        todo->removed += smp_output_sweep(folder);
}

smp_code smp_todo_start(smp_todo *todo, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    const smp_folder_use use = {.shards = r->shards, .list = todo->list ? smp_work_list_hash(todo->list)->a | 1 : 0};
    char *inside = smp_asprintf("%s/-", r->folder);
    smp_code code = inside ? smp_make_folders(inside, err) : smp_fail_memory(err, "a path", PATH_MAX);
    smp_free(inside);
    if (!code)
        code = smp_folder_lock(r->folder, &use, &todo->folder_lock, &todo->lockless, err);
    if (!code && todo->list)
        return smp_todo_list_start(todo, err);
    if (!code)
        code = smp_journal_open(r->folder, r->shard, r->shards, &todo->journal, &todo->lockless, err);
    return code;
}

void smp_todo_rewind(smp_todo *todo)
{
    todo->cursor = 0;
}

bool smp_todo_started(const smp_todo *todo)
{
    return todo->folder_lock >= 0;
}

static void enter(smp_todo *todo, smp_work_unit *unit)
{
    if (todo->request->resume)
        each_folder(todo, unit, sweep_one);
    pthread_mutex_lock(&todo->lock);
    unit->first = todo->handed;
    todo->handed += unit->to_do;
    unit->next = todo->units;
    todo->units = unit;
    pthread_mutex_unlock(&todo->lock);
}

/* Goes to the next unit of a walk in which there is something to do or to tell. */
static void pass_over(smp_todo *todo)
{
    for (size_t i = todo->cursor; i < todo->found.count; i++) {
        const unsigned state = todo->states[i] & ~(unsigned)SMP_TODO_REPLACE;
        if (state == SMP_TODO_DO || state == SMP_TODO_CHANGED)
            return;
        if ((i + 1) % SMP_TODO_UNIT == 0)
            todo->cursor = i + 1;
    }
    todo->cursor = todo->found.count;
}

smp_code smp_todo_next(smp_todo *todo, smp_work_unit **out, smp_error *err)
{
    *out = NULL;
    smp_code code = SMP_OK;
    if (!todo->list && todo->request->brief && smp_todo_started(todo))
        pass_over(todo);
    if (todo->list)
        code = smp_todo_list_next(todo, out, err);
    else if (todo->cursor < todo->found.count) {
        smp_todo_count again = {0}; /* they were counted when they were looked at */
        code = smp_todo_spell_out(todo, &todo->lookup, todo->cursor, out, err);
        for (size_t i = 0; !code && i < (*out)->count; i++) {
            const uint8_t state = todo->states[todo->cursor + i];
            (*out)->items[i].state = (smp_todo_state)(state & ~SMP_TODO_REPLACE);
            (*out)->items[i].replace = (state & SMP_TODO_REPLACE) != 0;
        }
        if (!code) {
            smp_todo_collect(*out, &again);
            todo->cursor += (*out)->count;
        }
    }
    if (!code && *out && smp_todo_started(todo) && (*out)->to_do)
        enter(todo, *out);
    return code;
}

/* ------------------------------------------------------------------------------------------------ files */

/* The unit of the index-th file to do, and that file's item. The lock is held. */
static smp_work_unit *unit_of(smp_todo *todo, size_t index, smp_todo_item **item)
{
    smp_work_unit *unit = todo->units;
    while (unit && (index < unit->first || index >= unit->first + unit->to_do))
        unit = unit->next;
    if (unit)
        *item = &unit->items[unit->item_of[index - unit->first]];
    return unit;
}

static smp_code note(smp_todo *todo, const smp_work_unit *unit, const smp_todo_item *item, bool done, smp_error *err)
{
    smp_journal_entry entry = {.done = done, .input = item->input, .work = todo->request->work};
    if (done) {
        entry.size = item->made_size;
        entry.mtime = item->made_mtime;
    }
    smp_journal *journal = unit->claim ? smp_claim_journal(unit->claim) : todo->journal;
    return smp_journal_add(journal, smp_todo_under(todo, item->output), &entry, err);
}

smp_code smp_todo_begin(smp_todo *todo, size_t index, smp_error *err)
{
    smp_todo_item *item = NULL;
    pthread_mutex_lock(&todo->lock);
    const smp_work_unit *unit = unit_of(todo, index, &item);
    pthread_mutex_unlock(&todo->lock);
    struct stat there;
    smp_code code = item ? smp_make_folders(item->output, err) : smp_fail(err, SMP_E_PROCESS, "no file %zu", index);
    if (code)
        return code;
    if (todo->list) { /* said before it is noted as begun, so that no run takes the output for this file's */
        if (item->second) {
            if (item->first && !strcmp(item->first, item->file->path))
                smp_fail(err, SMP_E_WRITE, "the list names the input twice: its first line makes this file");
            else
                smp_fail(err, SMP_E_WRITE, "%.200s, before it in the list, becomes this file: " SMP_OUTPUTS_APART_HINT,
                         item->first ? item->first : "another one");
            return smp_at(err, "%s", item->output);
        }
        if (!item->replace && lstat(item->output, &there) == 0) {
            smp_fail(err, SMP_E_WRITE, "the file exists already: --skip-existing keeps it, --force replaces it");
            return smp_at(err, "%s", item->output);
        }
    }
    pthread_mutex_lock(&todo->lock);
    code = note(todo, unit, item, false, err);
    pthread_mutex_unlock(&todo->lock);
    return code;
}

smp_code smp_todo_done(smp_todo *todo, size_t index, bool failed, smp_error *err)
{
    smp_todo_item *item = NULL;
    struct stat made;
    smp_code code = SMP_OK;
    pthread_mutex_lock(&todo->lock);
    smp_work_unit *unit = unit_of(todo, index, &item);
    if (!item)
        code = smp_fail(err, SMP_E_PROCESS, "no file %zu", index);
    else if (failed)
        unit->failed++;
    else if (stat(item->output, &made) != 0)
        todo->count.gone++;
    else {
        item->made_size = (uint64_t)made.st_size;
        item->made_mtime = smp_nanoseconds(made.st_mtim);
        item->state = SMP_TODO_DONE;
        if (unit->claim || !todo->request->sync_pieces) /* else when it is synced */
            code = note(todo, unit, item, true, err);
    }
    pthread_mutex_unlock(&todo->lock);
    return code;
}

/* Outputs of a unit become safe: their folders, and where they were not synced themselves all of the file system. */
static void sync_unit(smp_todo *todo, const smp_work_unit *unit)
{
    each_folder(todo, unit, sync_one);
    if (!todo->request->sync_pieces)
        return;
#ifdef __linux__
    if (todo->folder_lock >= 0)
        (void)syncfs(todo->folder_lock);
#else
    sync();
#endif
}

/* Syncs a unit and notes that, whether all of it was done or not. */
static smp_code end_unit(smp_todo *todo, smp_work_unit *unit, smp_error *err)
{
    smp_code code = SMP_OK;
    sync_unit(todo, unit);
    if (unit->claim)
        return smp_todo_list_ended(todo, unit, err);
    if (!todo->request->sync_pieces)
        return SMP_OK;
    pthread_mutex_lock(&todo->lock);
    for (size_t i = 0; !code && i < unit->to_do; i++) {
        const smp_todo_item *item = &unit->items[unit->item_of[i]];
        if (item->state == SMP_TODO_DONE)
            code = note(todo, unit, item, true, err);
    }
    pthread_mutex_unlock(&todo->lock);
    return code;
}

smp_code smp_todo_ended(smp_todo *todo, size_t index, smp_error *err)
{
    smp_todo_item *item = NULL;
    pthread_mutex_lock(&todo->lock);
    smp_work_unit *unit = unit_of(todo, index, &item);
    const bool last = --unit->left == 0;
    if (last) {
        smp_work_unit **at = &todo->units;
        while (*at != unit)
            at = &(*at)->next;
        *at = unit->next;
    }
    pthread_mutex_unlock(&todo->lock);
    if (!last)
        return SMP_OK;
    smp_code code = end_unit(todo, unit, err);
    smp_work_unit_free(unit);
    return code;
}

void smp_todo_end(smp_todo *todo)
{
    pthread_mutex_lock(&todo->lock);
    smp_work_unit *unit = todo->units;
    todo->units = NULL;
    pthread_mutex_unlock(&todo->lock);
    for (smp_work_unit *next; unit; unit = next) {
        smp_error lost = {.code = SMP_OK}; /* --resume finds out */
        next = unit->next;
        (void)end_unit(todo, unit, &lost);
        smp_work_unit_free(unit);
    }
    if (todo->pieces)
        smp_todo_count_pieces(todo);
}
