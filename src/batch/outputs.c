/* Outputs of many inputs: their names, and what can be wrong with them. See outputs.h. */
#include "batch/outputs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/text/diag.h"
#include "io/fields.h"
#include "io/files/source.h"
#include "io/files/tar.h"
#include "run/run.h"

/* ------------------------------------------------------------------------------------------------ patterns */

static const char *const fields[] = {"stem", "ext",  "name",   "from",  "shard", "part",
                                     "date", "time", "camera", "title", "width", "height"};
enum {
    STEM,
    EXT,
    NAME,
    FROM,
    SHARD,
    PART,
    DATE,
    TIME,
    CAMERA,
    TITLE,
    FIELDS = TITLE + 3
}; /* from DATE on: of the header */

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

/* Whether each {field} is known: all but {part}, or all that a part's name has; *seen: a bit for each that is there. */
static smp_code check_fields(const char *pattern, bool parts, unsigned *seen, smp_error *err)
{
    *seen = 0;
    for (const char *at = pattern; (at = strchr(at, '{'));) {
        size_t length;
        const int field = field_at(at, &length);
        if (field == FIELDS || (parts ? field > PART : field == PART)) {
            smp_fail(err, SMP_E_USAGE, "'%.*s' is not a field of a name", (int)(length < 40 ? length : 40), at);
            const char *near = length > 2 ? smp_nearest(at + 1, length - 2, fields, parts ? PART + 1 : FIELDS) : NULL;
            return near ? smp_hint(err, "did you mean {%s}?", near)
                        : smp_hint(err, "write {stem}, {ext}, {from} or {name}%s",
                                   parts ? ", and {part}" : "; {date}, {time}, {camera}, {title}, {width}, {height}");
        }
        *seen |= 1U << field;
        at += length;
    }
    return SMP_OK;
}

bool smp_name_pattern_reads(const char *pattern)
{
    size_t length;
    for (const char *at = pattern; (at = strchr(at, '{')); at++) {
        const int field = field_at(at, &length);
        if (field >= DATE && field < FIELDS)
            return true;
    }
    return false;
}

smp_code smp_part_pattern_check(const char *pattern, smp_error *err)
{
    unsigned seen;
    const smp_code code = check_fields(pattern, true, &seen, err);
    if (code || (pattern[0] && !strchr(pattern, '/') && seen & 1U << PART))
        return code;
    smp_fail(err, SMP_E_USAGE, "'%.200s' does not name a file for each part", pattern);
    return smp_hint(err, "put {part}, the part's number, into it, as in '{stem}-{part}.{ext}'");
}

smp_code smp_name_pattern_check(const char *pattern, smp_error *err)
{
    unsigned seen;
    SMP_TRY(check_fields(pattern, false, &seen, err));
    const char *last = strrchr(pattern, '}'), *dot = last ? strrchr(last, '.') : NULL;
    if (dot && dot[1] && !smp_is_tar(pattern) && smp_writer_kind(pattern) == SMP_KIND_NONE) {
        (void)smp_writer_extension(dot + 1, NULL, err);
        if (err)
            err->code = SMP_E_USAGE;
        return SMP_E_USAGE;
    }
    if (pattern[0] == '\0' || smp_path_leaves(pattern))
        return smp_fail(err, SMP_E_USAGE, "'%.200s' is not a name inside the output folder", pattern),
               smp_hint(err, "--name is for names, the folder is given by -o");
    if (!(seen & (1U << STEM | 1U << NAME | 1U << SHARD) || seen >> DATE))
        return smp_fail(err, SMP_E_USAGE, "every file would be called '%.200s'", pattern),
               smp_hint(err, "%s is the input's name without its extension",
                        smp_is_tar(pattern) ? "write -o OUT/{shard}.tar: {shard}" : "put {stem} into --name, which");
    return SMP_OK;
}

/* Returns the kind of media that the pipeline makes, as far as its stages or its declaration tell; else none: the
 * input's. */
static smp_kind made_kind(const smp_program *program)
{
    for (int i = program->output; i >= 0; i = program->nodes[i].input) {
        const smp_stage *stage = program->nodes[i].stage;
        if (smp_stage_gives(stage) != SMP_KIND_NONE)
            return smp_stage_gives(stage);
        if (stage->domain == SMP_IMAGE || stage->domain == SMP_AUDIO)
            return stage->domain;
    }
    return program->kind == SMP_BOTH ? SMP_KIND_NONE : program->kind;
}

smp_namer smp_namer_for(const char *folder, const char *pattern, const char *ext, const smp_program *program)
{
    return (smp_namer){.folder = folder, .pattern = pattern, .ext = ext, .kind = made_kind(program)};
}

void smp_namer_free(smp_namer *namer)
{
    smp_free(namer->text);
    *namer = (smp_namer){.folder = NULL};
}

/* False without memory. */
static bool put(smp_namer *to, const char *from, size_t length)
{
    if (!smp_grow(&to->text, &to->capacity, to->used + length + 1, 1))
        return false;
    memcpy(to->text + to->used, from, length);
    to->used += length;
    to->text[to->used] = '\0';
    return true;
}

/* The extension that {ext} is for an input of this name, whose own is `from`. Files of a folder mostly have one. */
static const char *extension_for(smp_namer *namer, const char *name, const char *from)
{
    if (!strcasecmp(from, "tar"))
        return from;
    if (namer->ext)
        return namer->ext;
    if (!namer->asked || strcmp(namer->from, from) != 0) {
        const smp_kind kind = namer->kind, writable = smp_writer_kind(name);
        namer->other = NULL;
        if (writable == SMP_KIND_NONE || (kind != SMP_KIND_NONE && !(writable & kind)))
            namer->other = (kind ? kind : smp_name_kind(name)) == SMP_AUDIO ? "wav" : "png";
        namer->asked = strlen(from) < sizeof namer->from && from[0];
        if (namer->asked)
            strcpy(namer->from, from);
    }
    return namer->other ? namer->other : from;
}

static bool fill_in(smp_namer *to, const char *name)
{
    const char *last = smp_base_name(name);
    const char *folder = to->folder;
    size_t stem = smp_stem(last), length = strlen(folder);
    const char *from = last[stem] ? last + stem + 1 : "", *extension = extension_for(to, name, from);
    to->used = 0;
    bool good = put(to, folder, length) && (!length || folder[length - 1] == '/' || put(to, "/", 1)) &&
                put(to, name, (size_t)(last - name));
    for (const char *at = to->pattern; good && *at;) {
        int field = *at == '{' ? field_at(at, &length) : FIELDS;
        if (field == FIELDS || (field == PART && !to->part)) {
            good = put(to, at++, 1);
            continue;
        }
        char header[SMP_FIELD_TEXT] = "";
        if (field >= DATE && to->media)
            smp_field_name(fields[field], strlen(fields[field]), name, to->media, header);
        const char *text = field >= DATE ? header : field == FROM ? from : field == PART ? to->part : extension;
        if (field == STEM || field == SHARD || field == NAME)
            good = put(to, last, stem);
        if (good && field == NAME)
            good = put(to, ".", 1);
        if (good && field != STEM && field != SHARD)
            good = put(to, text, strlen(text));
        at += length;
    }
    return good;
}

const char *smp_namer_output(smp_namer *namer, const char *name)
{
    return fill_in(namer, name) ? namer->text : NULL;
}

char *smp_target_prefix(const char *output)
{
    const char *last = smp_base_name(output);
    return smp_asprintf("%.*s-", (int)smp_stem(last), last);
}

/* The path of a file that the pipeline saves: beside the output and named after it. From smp_alloc. */
static smp_code saved_path(const char *output, const char *save, char **out, smp_error *err)
{
    char *prefix = smp_target_prefix(output);
    *out = NULL;
    smp_code code =
        prefix ? smp_save_path(output, prefix, save, out, err) : smp_fail_memory(err, "a path", strlen(output));
    smp_free(prefix);
    return code;
}

smp_code smp_each_target(const char *output, const smp_program *program, smp_target_fn *fn, void *context,
                         smp_error *err)
{
    smp_code code = fn(context, output, err);
    for (size_t i = 0; !code && i < program->save_count; i++) {
        char *path = NULL;
        code = saved_path(output, program->saves[i].path, &path, err);
        code = code ? code : fn(context, path, err);
        smp_free(path);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ checks */

smp_code smp_fail_collision(const char *one, const char *other, const char *output, smp_error *err)
{
    struct stat first, second;
    if (stat(one, &first) == 0 && stat(other, &second) == 0 && S_ISREG(first.st_mode) &&
        first.st_dev == second.st_dev && first.st_ino == second.st_ino) {
        const bool differ = strcmp(one, other) != 0;
        smp_fail(err, SMP_E_USAGE, "%.200s is given twice%s%.200s", one, differ ? ", also as " : "",
                 differ ? other : "");
        return smp_hint(err, "nothing was written; name it once");
    }
    const char *dot = strrchr(one, '.'), *other_dot = strrchr(other, '.');
    smp_fail(err, SMP_E_USAGE, "%.150s and %.150s would both become %.150s", one, other, output);
    if (dot && other_dot && strcmp(dot, other_dot) != 0)
        return smp_hint(err, "nothing was written; " SMP_OUTPUTS_APART_HINT);
    return smp_hint(err, "nothing was written; run them one after the other into two folders");
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

smp_code smp_output_folder_check(const char *folder, const char *const *given, size_t count, smp_error *err)
{
    struct stat status;
    if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode)) {
        smp_fail(err, SMP_E_WRITE, "is a file, not a folder");
        smp_hint(err, "give a folder by -o; it is made where it is not there");
        return smp_at(err, "%s", folder);
    }
    return check_folder(folder, given, count, err);
}

/* ------------------------------------------------------------------------------------------------ one target */

static smp_code fail_target(const char *path, int number, smp_error *err)
{
    char why[128];
    smp_fail(err, SMP_E_WRITE, "cannot write there: %s", smp_os_error(number, why, sizeof why));
    if (number == ENAMETOOLONG)
        smp_hint(err, "give it a shorter name");
    else
        smp_hint(err, "give a folder that you may write to");
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
