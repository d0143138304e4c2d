/* What a batch has to do, and noting what it did: see todo.h. */
#include "batch/todo.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "batch/folder_lock.h"
#include "batch/outputs.h"
#include "io/output.h"

/* ------------------------------------------------------------------------------------------------ inputs */

/* The folder of a path with links resolved; the one before is kept, since files of a folder follow each other. */
typedef struct real_folder {
    char *given, *real;
} real_folder;

static void forget(real_folder *folder)
{
    smp_free(folder->given);
    smp_free(folder->real);
    *folder = (real_folder){NULL, NULL};
}

static smp_code input_key(const smp_found *file, real_folder *folder, smp_hash *key, smp_error *err)
{
    const char *slash = strrchr(file->path, '/');
    size_t length = slash ? (size_t)(slash - file->path) + (slash == file->path) : 0;
    if (!folder->given || strlen(folder->given) != length || strncmp(folder->given, file->path, length) != 0) {
        forget(folder);
        folder->given = smp_strndup(file->path, length);
        folder->real = folder->given ? smp_real_path(length ? folder->given : ".") : NULL;
        if (!folder->real)
            return smp_fail_memory(err, "a path", length);
    }
    *key = smp_hash_start();
    smp_hash_text(key, folder->real);
    smp_hash_text(key, slash ? slash + 1 : file->path);
    smp_hash_add(key, &file->size, sizeof file->size);
    smp_hash_add(key, &file->mtime, sizeof file->mtime);
    if (file->page)
        smp_hash_add(key, &file->page, sizeof file->page);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ states */

static int64_t mtime_of(const struct stat *status)
{
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

/* An output's path under the folder, as journals know it. */
static const char *under_folder(const smp_todo *todo, const char *output)
{
    output += strlen(todo->request->folder);
    while (*output == '/')
        output++;
    return output;
}

/* OURS may be replaced; CHANGED was made by this work and is not as it was then. */
typedef enum past { NOTHING, FINISHED, OURS, CHANGED, OTHER_WORK } past;

/* What the journals say of an output that is there. */
static past look_back(const smp_todo *todo, const smp_todo_item *item, const smp_journal_log *log,
                      const struct stat *there)
{
    const smp_journal_past *p = smp_journal_find(log, under_folder(todo, item->output));
    const smp_hash *work = &todo->request->work;
    if (!p)
        return NOTHING;
    bool untouched = p->done && p->last.size == (uint64_t)there->st_size && p->last.mtime == mtime_of(there);
    if (untouched && smp_hash_equal(&p->last.work, work))
        return smp_hash_equal(&p->last.input, &item->input) ? FINISHED : OURS;
    if (p->begun && smp_hash_equal(&p->begun_work, work))
        return OURS;
    if (untouched)
        return OTHER_WORK;
    return p->done && smp_hash_equal(&p->last.work, work) ? CHANGED : NOTHING;
}

typedef struct conflicts {
    size_t count, other_work;
    const char *first;
} conflicts;

/* Whether the files that the pipeline saves beside an output are there. */
static bool saved_are_there(const smp_todo *todo, const smp_todo_item *item)
{
    const smp_program *program = todo->request->program;
    bool there = true;
    for (size_t i = 0; there && i < program->save_count; i++) {
        struct stat status;
        smp_error unread = {.code = SMP_OK};
        char *path = NULL;
        there =
            smp_saved_path(item->output, program->saves[i].path, &path, &unread) == SMP_OK && lstat(path, &status) == 0;
        smp_free(path);
    }
    return there;
}

static void decide(const smp_todo *todo, smp_todo_item *item, const smp_journal_log *log, conflicts *found)
{
    const smp_todo_request *r = todo->request;
    struct stat there;
    item->state = SMP_TODO_DO;
    if (r->shards > 0 && smp_shard_of(item->file->name, r->shards) != r->shard) {
        item->state = SMP_TODO_OTHERS;
        return;
    }
    if (lstat(item->output, &there) != 0)
        return;
    past before = r->resume && S_ISREG(there.st_mode) ? look_back(todo, item, log, &there) : NOTHING;
    if (before == FINISHED && !saved_are_there(todo, item))
        before = OURS;
    if (before == CHANGED && r->redo_changed)
        before = OURS;
    item->replace = r->force || before == OURS;
    if (before == FINISHED)
        item->state = SMP_TODO_DONE;
    else if (r->skip_existing && before != OURS)
        item->state = SMP_TODO_KEPT;
    else if (!item->replace && before == CHANGED)
        item->state = SMP_TODO_CHANGED;
    else if (!item->replace) {
        found->other_work += before == OTHER_WORK;
        if (!found->count++)
            found->first = item->output;
    }
}

static smp_code fail_conflicts(const smp_todo_request *r, const conflicts *found, smp_error *err)
{
    if (found->count == 1)
        smp_fail(err, SMP_E_WRITE, "the file exists already");
    else
        smp_fail(err, SMP_E_WRITE, "this file and %zu more exist already", found->count - 1);
    if (found->other_work == found->count)
        smp_hint(err, "another pipeline or other settings made %s: --force makes %s again, or give another folder",
                 found->count == 1 ? "it" : "them", found->count == 1 ? "it" : "them");
    else
        smp_hint(err, "nothing was written: %s--skip-existing keeps what is there, --force replaces it",
                 r->resume ? "" : "--resume continues an earlier run, ");
    return smp_at(err, "%s", found->first);
}

static smp_code set_states(smp_todo *todo, const smp_journal_log *log, smp_error *err)
{
    smp_code code = SMP_OK;
    conflicts found = {0};
    real_folder folder = {NULL, NULL};
    for (size_t i = 0; !code && i < todo->found.count; i++) {
        smp_todo_item *item = &todo->items[i];
        *item = (smp_todo_item){.file = &todo->found.items[i], .output = todo->outputs[i]};
        code = input_key(item->file, &folder, &item->input, err);
        if (!code)
            decide(todo, item, log, &found);
    }
    forget(&folder);
    return code || !found.count ? code : fail_conflicts(todo->request, &found, err);
}

static void list_files(smp_todo *todo)
{
    for (size_t i = 0; i < todo->found.count; i++) {
        const smp_todo_item *item = &todo->items[i];
        todo->done += item->state == SMP_TODO_DONE;
        todo->kept += item->state == SMP_TODO_KEPT;
        todo->changed += item->state == SMP_TODO_CHANGED;
        todo->others += item->state == SMP_TODO_OTHERS;
        if (item->state != SMP_TODO_DO)
            continue;
        todo->item_of[todo->to_do] = i;
        todo->files[todo->to_do++] = (smp_batch_file){.input = item->file->path,
                                                      .output = item->output,
                                                      .bytes = item->file->size,
                                                      .replace = item->replace,
                                                      .page = item->file->page};
    }
}

smp_code smp_todo_make(const smp_todo_request *request, smp_todo *todo, smp_error *err)
{
    *todo = (smp_todo){.request = request, .folder_lock = -1};
    pthread_mutex_init(&todo->lock, NULL);
    smp_journal_log *log = NULL;
    smp_code code = smp_name_pattern_check(request->pattern, err);
    if (!code)
        code = smp_walk(request->given, request->given_count, &request->walk, &todo->found, err);
    if (!code && request->pages)
        code = smp_found_pages(&todo->found, request->pages, err);
    size_t count = todo->found.count;
    if (!code)
        code = smp_outputs_make(&todo->found, request->folder, request->pattern, request->extension, request->program,
                                &todo->outputs, err);
    if (!code)
        code = smp_outputs_check(&todo->found, todo->outputs, request->program, request->folder, request->given,
                                 request->given_count, err);
    if (!code && request->resume)
        code = smp_journal_read(request->folder, &log, err);
    if (!code) {
        todo->items = smp_alloc_array(count, sizeof *todo->items);
        todo->files = smp_alloc_array(count, sizeof *todo->files);
        todo->item_of = smp_alloc_array(count, sizeof *todo->item_of);
        if (!todo->items || !todo->files || !todo->item_of)
            code = smp_fail_memory(err, "the list of files", count * sizeof *todo->items);
    }
    if (!code)
        code = set_states(todo, log, err);
    if (!code)
        list_files(todo);
    smp_journal_log_free(log);
    return code;
}

void smp_todo_free(smp_todo *todo)
{
    if (!todo->request)
        return;
    smp_journal_close(todo->journal);
    if (todo->folder_lock >= 0)
        close(todo->folder_lock);
    smp_outputs_free(todo->outputs, todo->found.count);
    smp_found_free(&todo->found);
    smp_free(todo->items);
    smp_free(todo->files);
    smp_free(todo->item_of);
    pthread_mutex_destroy(&todo->lock);
    *todo = (smp_todo){.request = NULL};
}

/* ------------------------------------------------------------------------------------------------ doing */

/* For every folder that outputs lie in, once where they follow each other; the sum of what fn gives. */
static size_t each_folder(const smp_todo *todo, size_t (*fn)(const char *folder))
{
    char folder[PATH_MAX] = "";
    size_t sum = 0;
    for (size_t i = 0; i < todo->found.count; i++) {
        const char *slash = strrchr(todo->outputs[i], '/');
        size_t length = slash ? (size_t)(slash - todo->outputs[i]) + 1 : 0;
        if (!length || length >= sizeof folder ||
            (strlen(folder) == length && !strncmp(folder, todo->outputs[i], length)))
            continue;
        memcpy(folder, todo->outputs[i], length);
        folder[length] = '\0';
        sum += fn(folder);
    }
    return sum;
}

static size_t sync_one(const char *folder)
{
    smp_sync_folder(folder);
    return 1;
}

void smp_todo_end(const smp_todo *todo)
{
    if (todo->to_do)
        each_folder(todo, sync_one);
}

smp_code smp_todo_start(smp_todo *todo, size_t *swept, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    char *inside = smp_asprintf("%s/-", r->folder);
    smp_code code = inside ? smp_make_folders(inside, err) : smp_fail_memory(err, "a path", PATH_MAX);
    smp_free(inside);
    if (!code)
        code = smp_folder_lock(r->folder, &(smp_folder_use){.shards = r->shards}, &todo->folder_lock, &todo->lockless,
                               err);
    if (!code)
        code = smp_journal_open(r->folder, r->shard, r->shards, &todo->journal, &todo->lockless, err);
    *swept = !code && r->resume ? each_folder(todo, smp_output_sweep) : 0;
    return code;
}

static smp_code note(smp_todo *todo, const smp_todo_item *item, const struct stat *made, smp_error *err)
{
    smp_journal_entry entry = {.done = made != NULL, .input = item->input, .work = todo->request->work};
    if (made) {
        entry.size = (uint64_t)made->st_size;
        entry.mtime = mtime_of(made);
    }
    pthread_mutex_lock(&todo->lock);
    smp_code code = smp_journal_add(todo->journal, under_folder(todo, item->output), &entry, err);
    pthread_mutex_unlock(&todo->lock);
    return code;
}

smp_code smp_todo_begin(smp_todo *todo, size_t index, smp_error *err)
{
    const smp_todo_item *item = &todo->items[todo->item_of[index]];
    smp_code code = smp_make_folders(item->output, err);
    return code ? code : note(todo, item, NULL, err);
}

smp_code smp_todo_done(smp_todo *todo, size_t index, smp_error *err)
{
    const smp_todo_item *item = &todo->items[todo->item_of[index]];
    struct stat made;
    if (stat(item->output, &made) != 0)
        return SMP_OK; /* a device file, or gone already: not worth a note */
    return note(todo, item, &made, err);
}
