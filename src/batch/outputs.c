/* Outputs of many inputs: their names, and what can be wrong with them. See outputs.h. */
#include "batch/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "io/media.h"
#include "io/source.h"
#include "pipe/diag.h"
#include "run/run.h"

/* ------------------------------------------------------------------------------------------------ patterns */

static const char *const fields[] = {"stem", "ext", "name", "from"};
enum { STEM, EXT, NAME, FROM, FIELDS };

/* The field at `at`, which is an opening brace; FIELDS when it is none. *length: with both braces. */
static int field_at(const char *at, size_t *length)
{
    const char *end = strchr(at, '}');
    *length = end ? (size_t)(end - at) + 1 : strlen(at);
    for (int i = 0; end && i < FIELDS; i++)
        if (strlen(fields[i]) == *length - 2 && !strncmp(at + 1, fields[i], *length - 2))
            return i;
    return FIELDS;
}

smp_code smp_name_pattern_check(const char *pattern, smp_error *err)
{
    bool varies = false;
    for (const char *at = pattern; (at = strchr(at, '{'));) {
        size_t length;
        int field = field_at(at, &length);
        if (field == FIELDS) {
            smp_fail(err, SMP_E_USAGE, "'%.*s' is no part of a name", (int)(length < 40 ? length : 40), at);
            const char *near = length > 2 ? smp_nearest(at + 1, length - 2, fields, FIELDS) : NULL;
            return near ? smp_hint(err, "did you mean {%s}?", near)
                        : smp_hint(err, "write {stem}, {ext}, {from} or {name}");
        }
        varies |= field == STEM || field == NAME;
        at += length;
    }
    if (pattern[0] == '/' || !strncmp(pattern, "../", 3) || strstr(pattern, "/../") || pattern[0] == '\0') {
        smp_fail(err, SMP_E_USAGE, "'%.200s' is no name in the output folder", pattern);
        return smp_hint(err, "--name is for names, the folder is given by -o");
    }
    if (!varies) {
        smp_fail(err, SMP_E_USAGE, "every file would be called '%.200s'", pattern);
        return smp_hint(err, "put {stem} into --name, which is the input's name without its extension");
    }
    return SMP_OK;
}

/* What the pipeline makes, as far as its stages or its declaration tell; else none: what the input is. */
static smp_kind made_kind(const smp_program *program)
{
    for (int i = program->output; i >= 0; i = program->nodes[i].input) {
        const smp_stage *stage = program->nodes[i].stage;
        if (stage->gives != SMP_KIND_NONE)
            return stage->gives;
        if (stage->domain == SMP_IMAGE || stage->domain == SMP_AUDIO)
            return stage->domain;
    }
    return program->kind == SMP_BOTH ? SMP_KIND_NONE : program->kind;
}

typedef struct text {
    char *data; /* from smp_alloc; null after a failure to get memory */
    size_t used, capacity;
    bool failed;
} text;

static void put(text *to, const char *from, size_t length)
{
    if (to->failed || !smp_grow(&to->data, &to->capacity, to->used + length + 1, 1)) {
        smp_free(to->data);
        *to = (text){.failed = true};
        return;
    }
    memcpy(to->data + to->used, from, length);
    to->used += length;
    to->data[to->used] = '\0';
}

static char *fill_in(const char *folder, const char *name, const char *pattern, const char *ext, smp_kind kind)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name, *dot = strrchr(last, '.');
    size_t stem = dot && dot > last ? (size_t)(dot - last) : strlen(last);
    const char *from = last[stem] ? last + stem + 1 : "", *extension = from;
    smp_kind writable = smp_writer_kind(name);
    if (ext)
        extension = ext;
    else if (writable == SMP_KIND_NONE || (kind != SMP_KIND_NONE && !(writable & kind)))
        extension = (kind ? kind : smp_name_kind(name)) == SMP_AUDIO ? "wav" : "png";
    text to = {.data = NULL};
    put(&to, folder, strlen(folder));
    if (folder[0] && folder[strlen(folder) - 1] != '/')
        put(&to, "/", 1);
    put(&to, name, (size_t)(last - name));
    for (const char *at = pattern; *at;) {
        size_t length;
        int field = *at == '{' ? field_at(at, &length) : FIELDS;
        if (field == FIELDS) {
            put(&to, at++, 1);
            continue;
        }
        if (field == STEM || field == NAME)
            put(&to, last, stem);
        if (field == NAME)
            put(&to, ".", 1);
        if (field == EXT || field == NAME)
            put(&to, extension, strlen(extension));
        if (field == FROM)
            put(&to, from, strlen(from));
        at += length;
    }
    return to.data;
}

smp_code smp_outputs_make(const smp_found_list *files, const char *folder, const char *pattern, const char *ext,
                          const smp_program *program, char ***outputs, smp_error *err)
{
    smp_kind kind = made_kind(program);
    *outputs = smp_alloc_array(files->count, sizeof **outputs);
    if (!*outputs)
        return smp_fail_memory(err, "names", files->count * sizeof **outputs);
    for (size_t i = 0; i < files->count; i++)
        if (!((*outputs)[i] = fill_in(folder, files->items[i].name, pattern, ext, kind))) {
            smp_outputs_free(*outputs, files->count);
            *outputs = NULL;
            return smp_fail_memory(err, "names", files->count * sizeof **outputs);
        }
    return SMP_OK;
}

void smp_outputs_free(char **outputs, size_t count)
{
    for (size_t i = 0; outputs && i < count; i++)
        smp_free(outputs[i]);
    smp_free(outputs);
}

char *smp_target_prefix(const char *output)
{
    const char *slash = strrchr(output, '/'), *last = slash ? slash + 1 : output, *dot = strrchr(last, '.');
    return smp_asprintf("%.*s-", dot && dot > last ? (int)(dot - last) : (int)strlen(last), last);
}

smp_code smp_saved_path(const char *output, const char *save, char **out, smp_error *err)
{
    char *prefix = smp_target_prefix(output);
    *out = NULL;
    smp_code code =
        prefix ? smp_save_path(output, prefix, save, out, err) : smp_fail_memory(err, "a path", strlen(output));
    smp_free(prefix);
    return code;
}

/* ------------------------------------------------------------------------------------------------ checks */

typedef struct claim { /* a file that an input wants to write */
    const char *path;
    char *owned; /* path again, where it is no output of the list */
    size_t file;
} claim;

static int by_path(const void *a_, const void *b_)
{
    const claim *a = a_, *b = b_;
    int order = strcmp(a->path, b->path);
    return order ? order : (a->file > b->file) - (a->file < b->file);
}

static smp_code fail_collision(const smp_found_list *files, const claim *a, const claim *b, smp_error *err)
{
    const smp_found *first = &files->items[a->file], *second = &files->items[b->file];
    if (first->regular && first->device == second->device && first->inode == second->inode) {
        smp_fail(err, SMP_E_USAGE, "%.200s is given twice%s%.200s", first->path,
                 strcmp(first->path, second->path) != 0 ? ", also as " : "",
                 strcmp(first->path, second->path) != 0 ? second->path : "");
        return smp_hint(err, "nothing was written; name it once");
    }
    const char *one = files->items[a->file].name, *other = files->items[b->file].name;
    const char *dot = strrchr(one, '.'), *other_dot = strrchr(other, '.');
    smp_fail(err, SMP_E_USAGE, "%.150s and %.150s would both become %.150s", files->items[a->file].path,
             files->items[b->file].path, a->path);
    if (dot && other_dot && strcmp(dot, other_dot) != 0)
        return smp_hint(err, "nothing was written; --name '{stem}-{from}.{ext}' has the input's extension in the name");
    return smp_hint(err, "nothing was written; run them one after the other into two folders");
}

static smp_code check_collisions(const smp_found_list *files, char *const *outputs, const smp_program *program,
                                 smp_error *err)
{
    size_t count = files->count * (1 + program->save_count), made = 0;
    claim *claims = smp_alloc_array(count, sizeof *claims);
    smp_code code = claims ? SMP_OK : smp_fail_memory(err, "names", count * sizeof *claims);
    for (size_t i = 0; !code && i < files->count; i++) {
        claims[made++] = (claim){.path = outputs[i], .file = i};
        for (size_t k = 0; !code && k < program->save_count; k++) {
            char *path;
            code = smp_saved_path(outputs[i], program->saves[k].path, &path, err);
            if (!code)
                claims[made++] = (claim){.path = path, .owned = path, .file = i};
        }
    }
    if (!code && made)
        qsort(claims, made, sizeof *claims, by_path);
    for (size_t i = 1; !code && i < made; i++)
        if (!strcmp(claims[i - 1].path, claims[i].path))
            code = fail_collision(files, &claims[i - 1], &claims[i], err);
    for (size_t i = 0; i < made; i++)
        smp_free(claims[i].owned);
    smp_free(claims);
    return code;
}

static int by_inode(const void *a_, const void *b_)
{
    const smp_found *a = *(const smp_found *const *)a_, *b = *(const smp_found *const *)b_;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->inode > b->inode) - (a->inode < b->inode);
}

static smp_code check_inodes(const smp_found_list *files, char *const *outputs, smp_error *err)
{
    const smp_found **sorted = smp_alloc_array(files->count, sizeof *sorted);
    size_t count = 0;
    smp_code code = sorted ? SMP_OK : smp_fail_memory(err, "names", files->count * sizeof *sorted);
    for (size_t i = 0; !code && i < files->count; i++)
        if (files->items[i].regular)
            sorted[count++] = &files->items[i];
    if (!code && count)
        qsort(sorted, count, sizeof *sorted, by_inode);
    for (size_t i = 0; !code && count && i < files->count; i++) {
        struct stat status;
        if (stat(outputs[i], &status) != 0)
            continue;
        smp_found key = {.device = (uint64_t)status.st_dev, .inode = (uint64_t)status.st_ino}, *at = &key;
        const smp_found **same = bsearch(&at, sorted, count, sizeof *sorted, by_inode);
        if (same) {
            smp_fail(err, SMP_E_WRITE, "the output is the same file as the input %s", (*same)->path);
            smp_hint(err, "give another folder by -o; --force does not change this");
            code = smp_at(err, "%s", outputs[i]);
        }
    }
    smp_free(sorted);
    return code;
}

static smp_code check_folder(const char *folder, const char *const *given, size_t count, smp_error *err)
{
    char *out = smp_real_path(folder);
    smp_code code = out ? SMP_OK : smp_fail_memory(err, "a path", PATH_MAX);
    for (size_t i = 0; !code && i < count; i++) {
        struct stat status;
        if (stat(given[i], &status) != 0 || !S_ISDIR(status.st_mode))
            continue;
        char *in = smp_real_path(given[i]);
        if (!in)
            code = smp_fail_memory(err, "a path", PATH_MAX);
        else if (smp_path_within(out, in)) {
            code = smp_fail(err, SMP_E_USAGE, "the output folder %.200s lies in the input folder %.200s", folder,
                            given[i]);
            smp_hint(err, "outputs would be inputs of the next run: give a folder beside it by -o");
        }
        smp_free(in);
    }
    smp_free(out);
    return code;
}

smp_code smp_outputs_check(const smp_found_list *files, char *const *outputs, const smp_program *program,
                           const char *folder, const char *const *given, size_t given_count, smp_error *err)
{
    struct stat status;
    if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode)) {
        smp_fail(err, SMP_E_WRITE, "is a file, not a folder");
        return smp_at(err, "%s", folder);
    }
    smp_code code = check_folder(folder, given, given_count, err);
    if (!code)
        code = check_collisions(files, outputs, program, err);
    return code ? code : check_inodes(files, outputs, err);
}

/* ------------------------------------------------------------------------------------------------ one target */

static smp_code fail_target(const char *path, int number, smp_error *err)
{
    char why[128];
    smp_fail(err, SMP_E_WRITE, "cannot write there: %s", smp_os_error(number, why, sizeof why));
    return smp_at(err, "%s", path);
}

smp_code smp_target_check(const char *path, smp_error *err)
{
    struct stat status;
    size_t length = strlen(path);
    if (length >= PATH_MAX)
        return fail_target(path, ENAMETOOLONG, err);
    for (const char *at = path; *at;) {
        size_t part = strcspn(at, "/");
        if (part > NAME_MAX)
            return fail_target(path, ENAMETOOLONG, err);
        at += part + (at[part] == '/');
    }
    char folder[PATH_MAX];
    memcpy(folder, path, length + 1);
    for (char *slash; (slash = strrchr(folder, '/')) && slash > folder;) { /* the nearest folder that is there */
        *slash = '\0';
        if (stat(folder, &status) == 0)
            return !S_ISDIR(status.st_mode)           ? fail_target(path, ENOTDIR, err)
                   : access(folder, W_OK | X_OK) != 0 ? fail_target(path, errno, err)
                                                      : SMP_OK;
        if (errno != ENOENT)
            return fail_target(path, errno, err);
    }
    return access(path[0] == '/' ? "/" : ".", W_OK | X_OK) == 0 ? SMP_OK : fail_target(path, errno, err);
}
