/* The work of a batch, and notes of what it did: see todo.h. */
#include "batch/todo.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "batch/claims/claim_source.h"
#include "batch/folder_lock.h"
#include "io/files/output.h"

/* ------------------------------------------------------------------------------------------------ units */

smp_code smp_work_unit_new(size_t count, smp_work_unit **out, smp_error *err)
{
    smp_work_unit *unit = *out = smp_alloc(sizeof *unit);
    if (unit) {
        unit->count = count;
        unit->items = smp_alloc_array(count, sizeof *unit->items);
        unit->files = smp_alloc_array(count, sizeof *unit->files);
    }
    if (unit && unit->items && unit->files)
        return SMP_OK;
    smp_work_unit_free(unit);
    *out = NULL;
    return smp_fail_memory(err, "the list of files", count * sizeof(smp_todo_item));
}

void smp_work_unit_free(smp_work_unit *unit)
{
    if (!unit)
        return;
    smp_free_all(unit->items, unit->files, unit->found);
    smp_texts_free(&unit->texts);
    smp_free(unit);
}

void smp_work_unit_collect(smp_work_unit *unit, smp_todo_count *sum)
{
    for (size_t i = 0; i < unit->count; i++) {
        smp_todo_item *item = &unit->items[i];
        item->unit = unit;
        sum->files++;
        sum->to_do += item->state == SMP_TODO_DO;
        sum->done += item->state == SMP_TODO_DONE || item->state == SMP_TODO_LACKS;
        sum->lacks += item->state == SMP_TODO_LACKS;
        sum->kept += item->state == SMP_TODO_KEPT;
        sum->stale += item->state == SMP_TODO_KEPT && item->file->regular && item->file->mtime > item->made_mtime;
        sum->left += item->state == SMP_TODO_LEFT;
        sum->changed += item->state == SMP_TODO_CHANGED;
        if (item->state != SMP_TODO_DO)
            continue;
        sum->lost += item->lost;
        unit->files[unit->to_do++] = (smp_batch_file){.input = item->file->path,
                                                      .output = item->output,
                                                      .bytes = item->file->size,
                                                      .replace = item->replace,
                                                      .mtime = unit->found ? item->file->mtime : 0,
                                                      .page = item->file->page,
                                                      .index = smp_hash_name(item->file->name),
                                                      .own = item};
    }
    unit->left = unit->to_do;
}

/* ------------------------------------------------------------------------------------------------ making */

smp_code smp_todo_make(const smp_todo_request *request, smp_todo *todo, smp_error *err)
{
    *todo = (smp_todo){.request = request, .folder_lock = -1};
    todo->source = request->list ? &smp_claim_list : &smp_claim_walk;
    pthread_mutex_init(&todo->lock, NULL);
    smp_output_lookup_open(todo, &todo->lookup);
    SMP_TRY(smp_name_pattern_check(request->pattern, err));
    return todo->source->open(todo, err);
}

void smp_todo_free(smp_todo *todo)
{
    if (!todo->request)
        return;
    for (smp_work_unit *unit = todo->units, *next; unit; unit = next) {
        next = unit->next;
        smp_work_unit_free(unit);
    }
    todo->source->close(todo);
    if (todo->folder_lock >= 0)
        close(todo->folder_lock);
    smp_found_free(&todo->found);
    smp_left_out_free(&todo->left_out);
    smp_output_lookup_close(&todo->lookup);
    smp_hash_set_free(&todo->inputs);
    smp_hash_set_free(&todo->swept);
    smp_free(todo->links);
    smp_texts_free(&todo->link_texts);
    pthread_mutex_destroy(&todo->lock);
    *todo = (smp_todo){.request = NULL};
}

/* ------------------------------------------------------------------------------------------------ unit by unit */

/* For every folder that outputs of a unit lie in, once where they follow each other. */
static void each_folder(smp_todo *todo, const smp_work_unit *unit, void (*fn)(smp_todo *todo, const char *folder))
{
    char folder[PATH_MAX] = "";
    for (size_t i = 0; i < unit->to_do; i++) {
        const char *output = unit->files[i].output;
        const size_t length = (size_t)(smp_base_name(output) - output);
        if (!length || length >= sizeof folder || (strlen(folder) == length && !strncmp(folder, output, length)))
            continue;
        memcpy(folder, output, length);
        folder[length] = '\0';
        fn(todo, folder);
    }
}

static void sync_one(smp_todo *, const char *folder)
{
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
    code = code ? code : smp_folder_lock(r->folder, &use, &todo->folder_lock, &todo->lockless, err);
    return code ? code : todo->source->start(todo, err);
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
    unit->next = todo->units;
    todo->units = unit;
    pthread_mutex_unlock(&todo->lock);
}

smp_code smp_todo_next(smp_todo *todo, smp_work_unit **out, smp_error *err)
{
    *out = NULL;
    SMP_TRY(todo->source->next(todo, out, err));
    if (*out && smp_todo_started(todo) && (*out)->to_do)
        enter(todo, *out);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ files */

smp_code smp_work_unit_note(smp_todo *todo, const smp_todo_item *item, bool done, smp_error *err)
{
    const smp_journal_entry entry = {.done = done,
                                     .lacks = done && item->state == SMP_TODO_LACKS,
                                     .input = item->input,
                                     .work = todo->request->work,
                                     .size = done ? item->made_size : 0,
                                     .mtime = done ? item->made_mtime : 0};
    return smp_journal_add(item->unit->journal, smp_todo_under(todo, item->output), &entry, err);
}

/* Reports why a file of a list cannot be made, before it is noted as begun, so that no run takes the output for its. */
static smp_code check_listed(const smp_todo_item *item, smp_error *err)
{
    struct stat there;
    if (item->second && item->first && !strcmp(item->first, item->file->path))
        smp_fail(err, SMP_E_WRITE, "the list names the input twice: its first line makes this file");
    else if (item->second)
        smp_fail(err, SMP_E_WRITE, "%.200s, before it in the list, becomes this file: " SMP_OUTPUTS_APART_HINT,
                 item->first ? item->first : "another one");
    else if (!item->replace && lstat(item->output, &there) == 0)
        smp_fail(err, SMP_E_WRITE, "the file exists already: --skip-existing keeps it, --force replaces it");
    else
        return SMP_OK;
    return smp_at(err, "%s", item->output);
}

smp_code smp_todo_begin(smp_todo *todo, const smp_batch_file *file, smp_error *err)
{
    const smp_todo_item *item = file->own;
    SMP_TRY(smp_make_folders(item->output, err));
    if (item->unit->found)
        SMP_TRY(check_listed(item, err));
    pthread_mutex_lock(&todo->lock);
    smp_code code = smp_work_unit_note(todo, item, false, err);
    pthread_mutex_unlock(&todo->lock);
    return code;
}

smp_code smp_todo_done(smp_todo *todo, const smp_batch_file *file, smp_todo_state now, smp_error *err)
{
    smp_todo_item *item = file->own;
    struct stat made;
    smp_code code = SMP_OK;
    pthread_mutex_lock(&todo->lock);
    if (now == SMP_TODO_DO)
        item->unit->failed++;
    else if (stat(item->output, &made) != 0)
        todo->count.gone++;
    else {
        item->made_size = (uint64_t)made.st_size;
        item->made_mtime = smp_nanoseconds(made.st_mtim);
        item->state = now;
        if (!item->unit->late)
            code = smp_work_unit_note(todo, item, true, err);
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
    if (todo->folder_lock >= 0)
        (void)syncfs(todo->folder_lock);
}

smp_code smp_work_unit_end(smp_todo *todo, smp_work_unit *unit, smp_error *err)
{
    bool whole = !unit->left && !unit->failed;
    for (size_t i = 0; i < unit->count; i++) {
        const smp_todo_state state = unit->items[i].state;
        whole = whole && state != SMP_TODO_CHANGED && state != SMP_TODO_DO && state != SMP_TODO_LACKS;
    }
    return (whole ? todo->source->done : todo->source->give_back)(todo, unit, err);
}

smp_code smp_todo_ended(smp_todo *todo, const smp_batch_file *file, smp_error *err)
{
    smp_work_unit *unit = ((smp_todo_item *)file->own)->unit;
    pthread_mutex_lock(&todo->lock);
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
    sync_unit(todo, unit);
    const smp_code code = smp_work_unit_end(todo, unit, err);
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
        sync_unit(todo, unit);
        (void)smp_work_unit_end(todo, unit, &lost);
        smp_work_unit_free(unit);
    }
    smp_todo_count_pieces(todo);
}
