/* The file of what was tuned, in the user's cache folder: where it lies, reading it without believing it, replacing it
 * whole. See tuned.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "exec/tuned.h"
#include "io/output.h"
#include "report/json.h"
#include "report/json_read.h"

static const char layout[] = "smempipe tuned 1"; /* changes when the file's layout does */

/* ------------------------------------------------------------------------------------------------ where it lies */

/* XDG Base Directory Specification 0.8: a relative path is no path. *path null without a folder. */
static smp_code find_path(char **path, smp_error *err)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    *path = NULL;
    if (cache && cache[0] == '/')
        *path = smp_asprintf("%s/smempipe/tuned.json", cache);
    else if (home && home[0] == '/')
        *path = smp_asprintf("%s/.cache/smempipe/tuned.json", home);
    else
        return SMP_OK;
    return *path ? SMP_OK : smp_fail_memory(err, "a path", strlen(cache && cache[0] == '/' ? cache : home));
}

/* The folder of a path and those above it, for their owner alone where they are new. */
static smp_code make_folders(const char *path, smp_error *err)
{
    char *folder = smp_strdup(path);
    smp_code code = folder ? SMP_OK : smp_fail_memory(err, "a path", strlen(path));
    for (char *slash = folder ? strchr(folder + 1, '/') : NULL; !code && slash; slash = strchr(slash + 1, '/')) {
        struct stat status;
        *slash = '\0';
        if (mkdir(folder, 0700) != 0 && !(errno == EEXIST || (stat(folder, &status) == 0 && S_ISDIR(status.st_mode)))) {
            smp_fail(err, SMP_E_WRITE, "cannot make the folder: %s", strerror(errno));
            smp_at(err, "%s", folder);
            code = smp_hint(err, "XDG_CACHE_HOME may name another folder for what was tuned");
        }
        *slash = '/';
    }
    smp_free(folder);
    return code;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* The whole file, ended by a zero; null, and errno, when it cannot be read. */
static char *read_all(const char *path, size_t *size)
{
    char *text = smp_alloc_raw(SMP_JSON_MOST + 2);
    FILE *file = text ? fopen(path, "rbe") : NULL;
    *size = 0;
    if (!text)
        errno = ENOMEM;
    if (file) {
        errno = 0;
        *size = fread(text, 1, SMP_JSON_MOST + 1, file); /* one more says that it is too large */
        bool failed = ferror(file) != 0;
        fclose(file);
        if (!failed)
            return text;
        errno = errno ? errno : EIO;
    }
    int saved = errno;
    smp_free(text);
    errno = saved;
    return NULL;
}

static bool read_knobs(const smp_json_document *json, const smp_json_value *shape, smp_tuning *tuning)
{
    for (const smp_json_value *v = shape ? smp_json_first(json, shape) : NULL; v; v = smp_json_next(json, v)) {
        bool known = false;
        for (int i = 0; i < SMP_MAX_LAUNCHES; i++) {
            const smp_knob *knob = tuning->variant->launches[i].knob;
            int64_t value;
            if (!knob || strcmp(knob->name, v->key) != 0)
                continue;
            if (!smp_json_whole(v, knob->min, knob->max, &value))
                return false;
            tuning->knobs[i] = (int)value;
            known = true;
        }
        if (!known)
            return false;
    }
    return true;
}

/* An entry that this program could have written, into *entry (its texts are the document's). */
static bool read_entry(const smp_json_document *json, const smp_json_value *from, smp_tuned_entry *entry)
{
    enum { MOST_THREADS = 4096 };
    const int64_t most_rows = INT64_C(1) << 40;
    const smp_json_value *device = smp_json_member(json, from, "device", SMP_JSON_STRING);
    const smp_json_value *work = smp_json_member(json, from, "work", SMP_JSON_STRING);
    const smp_json_value *stage = smp_json_member(json, from, "stage", SMP_JSON_STRING);
    const smp_json_value *variant = smp_json_member(json, from, "variant", SMP_JSON_STRING);
    const smp_json_value *threads = smp_json_member(json, from, "threads", SMP_JSON_NUMBER);
    const smp_json_value *rows = smp_json_member(json, from, "strip_rows", SMP_JSON_NUMBER);
    const smp_json_value *before = smp_json_member(json, from, "before_ms", SMP_JSON_NUMBER);
    const smp_json_value *after = smp_json_member(json, from, "after_ms", SMP_JSON_NUMBER);
    *entry = (smp_tuned_entry){.before = before ? before->number : 0, .after = after ? after->number : 0};
    if (!device || !work || !before || !after)
        return false;
    entry->device = (char *)(uintptr_t)device->text;
    entry->work = (char *)(uintptr_t)work->text;
    if (rows)
        return !stage && smp_json_whole(rows, 1, most_rows, &entry->strip_rows);
    const smp_stage *known = stage && variant ? smp_stage_find(stage->text, strlen(stage->text)) : NULL;
    const smp_json_value *measures = smp_json_member(json, from, "measures", SMP_JSON_BOOL);
    int64_t count = 0;
    if (!known || (threads && !smp_json_whole(threads, 0, MOST_THREADS, &count)))
        return false;
    entry->stage = known;
    entry->measures = measures && measures->number > 0;
    const smp_variant *list = entry->measures ? known->reducers : known->variants;
    entry->tuning.variant = list ? smp_variant_find(list, variant->text) : NULL;
    entry->tuning.threads = (int)count;
    return entry->tuning.variant &&
           read_knobs(json, smp_json_member(json, from, "shape", SMP_JSON_OBJECT), &entry->tuning);
}

static smp_code take_entries(smp_tuned *tuned, const smp_json_document *json, char *note, size_t size, smp_error *err)
{
    const smp_json_value *whole = &json->values[0];
    const smp_json_value *written = smp_json_member(json, whole, "layout", SMP_JSON_STRING);
    const smp_json_value *version = smp_json_member(json, whole, "version", SMP_JSON_STRING);
    const smp_json_value *entries = smp_json_member(json, whole, "entries", SMP_JSON_ARRAY);
    size_t bad = 0;
    if (!written || !version || !entries || strcmp(written->text, layout) != 0) {
        snprintf(note, size, "%s: not what this smempipe writes; ignored: `smempipe tune` makes a new one",
                 tuned->path);
        return SMP_OK;
    }
    if (strcmp(version->text, SMP_VERSION) != 0) {
        snprintf(note, size, "%s: tuned by smempipe %.20s, this is " SMP_VERSION "; ignored: run `smempipe tune` again",
                 tuned->path, version->text);
        return SMP_OK;
    }
    smp_code code = SMP_OK;
    for (const smp_json_value *v = smp_json_first(json, entries); !code && v; v = smp_json_next(json, v)) {
        smp_tuned_entry entry;
        if (read_entry(json, v, &entry))
            code = smp_tuned_set(tuned, entry.device, entry.work, &entry, err);
        else
            bad++;
    }
    if (bad)
        snprintf(note, size, "%s: %zu of its entries mean nothing here; ignored", tuned->path, bad);
    return code;
}

smp_code smp_tuned_load(smp_tuned *tuned, char *note, size_t size, smp_error *err)
{
    *tuned = (smp_tuned){.path = NULL};
    note[0] = '\0';
    size_t length;
    smp_code code = find_path(&tuned->path, err);
    if (code)
        return code;
    char *text = tuned->path ? read_all(tuned->path, &length) : NULL;
    if (!text) {
        if (tuned->path && errno == ENOMEM)
            return smp_fail_memory(err, "what was tuned", SMP_JSON_MOST);
        if (tuned->path && errno != ENOENT && errno != ENOTDIR)
            snprintf(note, size, "%s: cannot be read: %s; ignored", tuned->path, strerror(errno));
        return SMP_OK;
    }
    smp_json_document json;
    smp_error why = {.code = SMP_OK};
    code = smp_json_read(text, length, &json, &why);
    if (code == SMP_E_DECODE) {
        snprintf(note, size, "%s: %.80s; ignored: `smempipe tune` makes a new one", tuned->path, why.message);
        code = SMP_OK;
    } else if (!code) {
        code = take_entries(tuned, &json, note, size, err);
    } else if (err) {
        *err = why;
    }
    smp_json_free(&json);
    smp_free(text);
    return code;
}

smp_code smp_tuned_refresh(smp_tuned *tuned, smp_error *err)
{
    char note[400];
    smp_tuned fresh;
    if (!tuned->path)
        return SMP_OK;
    smp_code code = smp_tuned_load(&fresh, note, sizeof note, err);
    if (code) {
        smp_tuned_free(&fresh);
        return code;
    }
    smp_tuned_free(tuned);
    *tuned = fresh;
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ writing */

static void write_entry(smp_json *json, const smp_tuned_entry *entry)
{
    const smp_variant *variant = entry->tuning.variant;
    smp_json_object(json, NULL);
    smp_json_string(json, "device", entry->device);
    smp_json_string(json, "work", entry->work);
    if (variant) {
        smp_json_string(json, "stage", entry->stage->name);
        smp_json_bool(json, "measures", entry->measures);
        smp_json_string(json, "variant", variant->name);
        smp_json_integer(json, "threads", entry->tuning.threads);
        smp_json_object(json, "shape");
        for (int i = 0; i < SMP_MAX_LAUNCHES; i++)
            if (entry->tuning.knobs[i] && variant->launches[i].knob)
                smp_json_integer(json, variant->launches[i].knob->name, entry->tuning.knobs[i]);
        smp_json_end(json, '}');
    } else {
        smp_json_integer(json, "strip_rows", entry->strip_rows);
    }
    smp_json_number(json, "before_ms", entry->before);
    smp_json_number(json, "after_ms", entry->after);
    smp_json_end(json, '}');
}

static void write_all(FILE *to, const smp_tuned *tuned)
{
    smp_json json;
    smp_json_begin(&json, to, false);
    smp_json_object(&json, NULL);
    smp_json_string(&json, "layout", layout);
    smp_json_string(&json, "version", SMP_VERSION);
    smp_json_array(&json, "entries");
    for (size_t i = 0; i < tuned->count; i++)
        write_entry(&json, &tuned->entries[i]);
    smp_json_end(&json, ']');
    smp_json_end(&json, '}');
}

smp_code smp_tuned_begin(const smp_tuned *tuned, smp_output **out, smp_error *err)
{
    *out = NULL;
    if (!tuned->path) {
        smp_fail(err, SMP_E_WRITE, "there is no cache folder to keep what is tuned");
        return smp_hint(err, "set HOME, or XDG_CACHE_HOME, to an absolute path");
    }
    smp_code code = make_folders(tuned->path, err);
    if (!code)
        code = smp_output_open(tuned->path, true, NULL, out, err);
    return code ? smp_at(err, "%s", tuned->path) : SMP_OK;
}

smp_code smp_tuned_commit(const smp_tuned *tuned, smp_output *output, smp_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to)
        write_all(to, tuned);
    smp_code code = !to || fclose(to) ? smp_fail_memory(err, "what was tuned", size) : SMP_OK;
    if (!code)
        code = smp_output_write(output, text, size, err);
    if (code)
        smp_output_abort(output);
    else
        code = smp_output_commit(output, err);
    free(text);
    return code ? smp_at(err, "%s", tuned->path) : SMP_OK;
}

smp_code smp_tuned_forget(const smp_tuned *tuned, bool *there, smp_error *err)
{
    *there = tuned->path && unlink(tuned->path) == 0;
    if (*there || !tuned->path || errno == ENOENT || errno == ENOTDIR)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "cannot remove: %s", strerror(errno));
    return smp_at(err, "%s", tuned->path);
}
