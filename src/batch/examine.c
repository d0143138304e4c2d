/* Decides what to do with each file, by what lies at its output and what journals say of it: see claim_source.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "batch/claims/claim_source.h"

/* ------------------------------------------------------------------------------------------------ names */

const char *smp_todo_under(const smp_todo *todo, const char *output)
{
    output += strlen(todo->request->folder);
    while (*output == '/')
        output++;
    return output;
}

/* The hash of the folder of a path with links resolved; the one before is kept, since files of a folder follow each
 * other. */
static smp_code real_folder(smp_output_lookup *lookup, const char *path, size_t length, smp_error *err)
{
    if (lookup->given && strlen(lookup->given) == length && !strncmp(lookup->given, path, length))
        return SMP_OK;
    smp_free(lookup->given);
    lookup->given = smp_strndup(path, length);
    char *real = lookup->given ? smp_real_path(length ? lookup->given : ".") : NULL;
    SMP_NEED(real, "a path", length, err);
    lookup->real = smp_hash_start();
    smp_hash_text(&lookup->real, real);
    smp_free(real);
    return SMP_OK;
}

void smp_output_lookup_open(const smp_todo *todo, smp_output_lookup *lookup)
{
    const smp_todo_request *r = todo->request;
    *lookup = (smp_output_lookup){.namer = smp_namer_for(r->folder, r->pattern, r->extension, r->program),
                                  .reads = smp_name_pattern_reads(r->pattern)};
}

void smp_output_lookup_close(smp_output_lookup *lookup)
{
    smp_namer_free(&lookup->namer);
    smp_free(lookup->given);
    *lookup = (smp_output_lookup){.given = NULL};
}

smp_code smp_output_lookup_key(const smp_todo *todo, smp_output_lookup *lookup, smp_todo_item *item, smp_error *err)
{
    const smp_found *file = item->file;
    smp_hash *key = &item->input;
    const char *slash = strrchr(file->path, '/');
    const size_t length = slash ? (size_t)(slash - file->path) + (slash == file->path) : 0;
    *key = smp_hash_start();
    if (todo->list) /* whose names have one folder, with links resolved, in front */
        smp_hash_text(key, file->path);
    else {
        SMP_TRY(real_folder(lookup, file->path, length, err));
        *key = lookup->real;
        smp_hash_text(key, slash ? slash + 1 : file->path);
    }
    if (file->page)
        smp_hash_add(key, &file->page, sizeof file->page);
    const uint64_t of_path = smp_hash_mix(key->a);
    smp_hash_add(key, &file->size, sizeof file->size);
    smp_hash_add(key, &file->mtime, sizeof file->mtime);
    key->a = of_path;
    return SMP_OK;
}

const char *smp_output_lookup_text(smp_output_lookup *lookup, const char *path, const char *name)
{
    smp_reader *reader = NULL;
    smp_error unread = {.code = SMP_OK}; /* told when the file is done */
    const smp_read_options how = smp_read_defaults();
    struct stat status;
    if (lookup->reads && stat(path, &status) == 0 && S_ISREG(status.st_mode) && /* a pipe is read once */
        !smp_reader_open(path, &how, &reader, &unread))
        lookup->namer.media = smp_reader_media(reader);
    const char *output = smp_namer_output(&lookup->namer, name);
    lookup->namer.media = NULL;
    smp_reader_close(reader);
    return output;
}

smp_code smp_output_lookup_name(smp_output_lookup *lookup, smp_work_unit *unit, smp_todo_item *item, smp_error *err)
{
    const char *output = smp_output_lookup_text(lookup, item->file->path, item->file->name);
    item->output = output ? smp_texts_add(&unit->texts, output, strlen(output)) : NULL;
    return item->output ? SMP_OK : smp_fail_memory(err, "a name", strlen(item->file->name));
}

/* ------------------------------------------------------------------------------------------------ inputs */

static uint64_t identity(uint32_t device, uint64_t inode)
{
    return smp_hash_mix(inode ^ (uint64_t)device << 40);
}

/* Whether an output that is there is an input of this shard, whatever it is called. *input: which. */
static smp_code is_input(smp_todo *todo, const struct stat *there, const char **input, smp_error *err)
{
    const smp_found_list *found = &todo->found;
    const uint32_t device = (uint32_t)there->st_dev;
    bool met;
    *input = NULL;
    const bool filled = todo->inputs.count != 0;
    for (size_t i = 0; !filled && i < found->count; i++) {
        const smp_found *file = smp_found_at(found, i);
        if (file->regular && !smp_hash_set_add(&todo->inputs, identity(file->device, file->inode), &met))
            return smp_fail_memory(err, "names", found->count);
    }
    if (!smp_hash_set_has(&todo->inputs, identity(device, there->st_ino)))
        return SMP_OK;
    for (size_t i = 0; !*input && i < found->count; i++) {
        const smp_found *file = smp_found_at(found, i);
        if (file->regular && file->inode == there->st_ino && file->device == device)
            *input = file->path;
    }
    return SMP_OK;
}

static smp_code refuse_input(smp_todo *todo, const char *output, const struct stat *there, smp_error *err)
{
    struct stat behind = *there;
    const char *input;
    if (S_ISLNK(there->st_mode) && stat(output, &behind) != 0)
        return SMP_OK;
    pthread_mutex_lock(&todo->lock);
    smp_code code = is_input(todo, &behind, &input, err);
    pthread_mutex_unlock(&todo->lock);
    if (code || !input)
        return code;
    smp_fail(err, SMP_E_WRITE, "the output is the same file as the input %s", input);
    smp_hint(err, "give another folder by -o; --force does not change this");
    return smp_at(err, "%s", output);
}

/* ------------------------------------------------------------------------------------------------ states */

/* OURS may be replaced, and LOST, which a journal that is lost knew; CHANGED was made by this work and is not as it was
 * then; OTHER_INPUT is of a file of another path. */
typedef enum past { NOTHING, FINISHED, OURS, LOST, CHANGED, OTHER_WORK, OTHER_INPUT } past;

/* Looks up what the journals say of an output that exists. */
static past look_back(const smp_todo *todo, const smp_todo_item *item, const smp_journal_log *log,
                      const struct stat *there, bool *lacks)
{
    smp_journal_past p;
    const smp_hash *work = &todo->request->work;
    if (!smp_journal_find(log, smp_todo_under(todo, item->output), &p)) {
        static const past lost[] = {NOTHING, [SMP_JOURNAL_LOST] = LOST, [SMP_JOURNAL_LOST_BEFORE] = CHANGED};
        return lost[smp_journal_lost(log, work, smp_nanoseconds(there->st_mtim))];
    }
    *lacks = p.last.lacks;
    bool untouched =
        p.done && p.last.size == (uint64_t)there->st_size && p.last.mtime == smp_nanoseconds(there->st_mtim);
    const bool same_work = p.done && smp_hash_equal(&p.last.work, work), same_path = p.last.input.a == item->input.a;
    if (untouched && same_work)
        return smp_hash_equal(&p.last.input, &item->input) ? FINISHED : same_path ? OURS : OTHER_INPUT;
    if (p.begun && smp_hash_equal(&p.begun_work, work))
        return p.begun_path == item->input.a ? OURS : OTHER_INPUT;
    if (untouched)
        return OTHER_WORK;
    return same_work ? same_path ? CHANGED : OTHER_INPUT : NOTHING;
}

static smp_code is_saved(void *context, const char *path, smp_error *err)
{
    struct stat status;
    const char *output = context; /* which is known to be there */
    return path == output || lstat(path, &status) == 0 ? SMP_OK : smp_fail(err, SMP_E_READ, "not there");
}

/* Whether the files that the pipeline saves beside an output are there. */
static bool saved_are_there(const smp_todo *todo, const smp_todo_item *item)
{
    smp_error missing = {.code = SMP_OK};
    return smp_each_target(item->output, todo->request->program, is_saved, (void *)(uintptr_t)item->output, &missing) ==
           SMP_OK;
}

/* Notes a link among the outputs, or with its slash a folder of theirs that lies elsewhere. */
static smp_code keep_link(smp_todo *todo, const char *path, size_t length, smp_error *err)
{
    pthread_mutex_lock(&todo->lock);
    const char *text = smp_texts_add(&todo->link_texts, path, length);
    const bool room = text && smp_grow(&todo->links, &todo->link_capacity, todo->link_count + 1, sizeof *todo->links);
    if (room)
        todo->links[todo->link_count++] = text;
    pthread_mutex_unlock(&todo->lock);
    return room ? SMP_OK : smp_fail_memory(err, "links", length);
}

/* A folder of outputs that is there: links on the way may lead out of the output folder. */
static smp_code follow_folder(smp_todo *todo, const char *output, size_t length, smp_error *err)
{
    char folder[PATH_MAX];
    if (length + 2 > sizeof folder)
        return SMP_OK;
    memcpy(folder, output, length);
    folder[length] = '\0';
    char *real = smp_real_path(folder), *top = smp_real_path(todo->request->folder);
    smp_code code = real && top ? SMP_OK : smp_fail_memory(err, "a path", length);
    if (!code && !smp_path_within(real, top))
        code = keep_link(todo, output, length + 1, err);
    smp_free_all(real, top);
    return code;
}

bool smp_last_folder_has(smp_last_folder *last, const char *output, struct stat *there)
{
    last->fresh = false;
    const char *slash = strrchr(output, '/');
    const size_t length = slash ? (size_t)(slash - output) : 0;
    if (length != last->length || strncmp(last->path, output, length) != 0) {
        smp_last_folder_close(last);
        last->length = length && length < sizeof last->path ? length : 0;
        memcpy(last->path, output, last->length);
        last->path[last->length] = '\0';
        last->fd = last->length ? open(last->path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        last->missing = last->length && last->fd < 0 && errno == ENOENT;
        last->fresh = last->length && !last->missing;
    }
    if (length && length == last->length && last->missing)
        return false;
    if (!length || length != last->length || last->fd < 0)
        return lstat(output, there) == 0;
    return fstatat(last->fd, slash + 1, there, AT_SYMLINK_NOFOLLOW) == 0;
}

void smp_last_folder_close(smp_last_folder *last)
{
    if (last->length && last->fd >= 0)
        close(last->fd);
    last->length = 0;
}

bool smp_todo_input_changed(smp_last_folder *last, const smp_found *file, int64_t made)
{
    struct stat now;
    smp_found found = {.path = file->path};
    if (file->link ? stat(file->path, &now) != 0 : !smp_last_folder_has(last, file->path, &now))
        return false;
    smp_found_fill(&found, &now);
    if (found.size == file->size && found.mtime == file->mtime)
        return false;
    const int64_t touched = smp_nanoseconds(now.st_ctim);
    return found.mtime > made || touched > made; /* the latter: an old file was put in its place */
}

static smp_code decide(smp_todo *todo, smp_todo_item *item, const smp_journal_log *log, smp_last_folder *last,
                       smp_last_folder *inputs, smp_conflicts *found, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    struct stat there;
    bool lacks = false;
    item->state = SMP_TODO_DO;
    if (r->leave && r->leave(r->context, item->file->path)) {
        item->state = SMP_TODO_LEFT;
        return SMP_OK;
    }
    if (item->second) /* to fail by itself */
        return SMP_OK;
    const bool exists = smp_last_folder_has(last, item->output, &there);
    smp_code code = last->fresh && !todo->list ? follow_folder(todo, item->output, last->length, err) : SMP_OK;
    if (code || !exists)
        return code;
    if (S_ISLNK(there.st_mode))
        code = keep_link(todo, item->output, strlen(item->output), err);
    if (code)
        return code;
    past before = log && S_ISREG(there.st_mode) ? look_back(todo, item, log, &there, &lacks) : NOTHING;
    if (before == FINISHED && !saved_are_there(todo, item))
        before = OURS;
    if (before != FINISHED && !todo->list && (code = refuse_input(todo, item->output, &there, err)))
        return code;
    if (before == FINISHED && todo->list && smp_todo_input_changed(inputs, item->file, smp_nanoseconds(there.st_mtim)))
        before = OURS;
    if (before == CHANGED && r->redo_changed)
        before = OURS;
    item->replace = r->force || before == OURS || before == LOST;
    item->made_size = (uint64_t)there.st_size;
    item->made_mtime = smp_nanoseconds(there.st_mtim);
    if (before == FINISHED)
        item->state = lacks ? SMP_TODO_LACKS : SMP_TODO_DONE;
    else if (r->skip_existing && before != OURS)
        item->state = SMP_TODO_KEPT;
    else if (!item->replace && before == CHANGED)
        item->state = SMP_TODO_CHANGED;
    else if (before == LOST)
        item->lost = !r->force;
    else if (!item->replace) {
        found->other_work += before == OTHER_WORK;
        found->other_input += before == OTHER_INPUT;
        if (!found->count++ && !(found->first = smp_strdup(item->output)))
            return smp_fail_memory(err, "a name", strlen(item->output));
    }
    return SMP_OK;
}

smp_code smp_todo_examine(smp_todo *todo, smp_work_unit *unit, const smp_journal_log *log, smp_conflicts *found,
                          smp_error *err)
{
    smp_last_folder last = {.length = 0}, inputs = {.length = 0};
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < unit->count; i++)
        code = decide(todo, &unit->items[i], log, &last, &inputs, found, err);
    smp_last_folder_close(&last);
    smp_last_folder_close(&inputs);
    return code;
}

/* Whether a batch with --list worked on this folder. */
static bool has_pieces(const char *folder)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/" SMP_CLAIMS_NAME, folder);
    return length > 0 && (size_t)length < sizeof path && smp_is_folder(path);
}

smp_code smp_todo_fail_conflicts(const smp_todo *todo, const smp_conflicts *found, bool other_list, smp_error *err)
{
    const smp_todo_request *r = todo->request;
    if (found->count == 1)
        smp_fail(err, SMP_E_WRITE, "the file exists already");
    else
        smp_fail(err, SMP_E_WRITE, "this file and %zu more exist already", found->count - 1);
    if (found->other_work == found->count)
        smp_hint(err, "another pipeline or other settings made %s: --force makes %s again, or give another folder",
                 found->count == 1 ? "it" : "them", found->count == 1 ? "it" : "them");
    else if (found->other_input == found->count)
        smp_hint(err, "made of another input: give another folder by -o, or replace what is there by --force");
    else if (other_list)
        smp_hint(err,
                 "this pipeline made files here by another list: --skip-existing keeps what is there and does what is "
                 "new, --force makes all again");
    else if (todo->list && r->resume)
        smp_hint(err, "not with this list and pipeline: --skip-existing keeps what is there, --force replaces it");
    else if (r->resume && has_pieces(r->folder))
        smp_hint(err, "a batch with --list made files in this folder: resume it with its list (--list FILE --resume)");
    else
        smp_hint(err, "nothing was written: %s--skip-existing keeps what is there, --force replaces it",
                 r->resume ? "" : "--resume continues an earlier run, ");
    return smp_at(err, "%s", found->first);
}
