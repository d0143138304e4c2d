/* Files and folders given on a command line, as a list of files: see find_files.h. */
#include "batch/find_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "io/format.h"
#include "io/media.h"

typedef struct walk {
    const smp_find_options *options;
    smp_found_list *list;
    size_t there;        /* of what was given, and */
    const char *missing; /* the first that is not */
    smp_error *err;
} walk;

static bool fits_one(const char *name, const char *const *globs, size_t count)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    for (size_t i = 0; i < count; i++)
        if (fnmatch(globs[i], strchr(globs[i], '/') ? name : last, FNM_PATHNAME | FNM_CASEFOLD) == 0)
            return true;
    return false;
}

static bool other_by_name(const char *name)
{
    static const char *const extensions[] = {
#define O(extension) extension,
#include "batch/ignored_extensions.def"
#undef O
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof extensions / sizeof extensions[0]; i++)
        if (strcasecmp(dot + 1, extensions[i]) == 0)
            return true;
    const smp_file_format *format;
    bool known = false, read = false; /* a format that this build does not read, or not under that name, is another */
    for (size_t i = 0; dot && (format = smp_format_at(i)); i++)
        for (const char *const *extension = format->extensions; *extension; extension++)
            if (strcasecmp(dot + 1, *extension) == 0) {
                known = true;
                read = read || format->sniff;
            }
    return known && !read;
}

static bool other_kind(const char *name, smp_kind wanted)
{
    smp_kind kind = smp_name_kind(name);
    return wanted != SMP_KIND_NONE && kind != SMP_KIND_NONE && !(kind & wanted);
}

/* Takes over both texts. */
static smp_code add(walk *w, char *path, char *name, const struct stat *status)
{
    smp_found_list *list = w->list;
    if (!path || !name || !smp_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items)) {
        smp_free(path);
        smp_free(name);
        return smp_fail_memory(w->err, "the list of files", (list->count + 1) * sizeof *list->items);
    }
    smp_found *found = &list->items[list->count++];
    *found = (smp_found){.path = path, .name = name};
    if (status && S_ISREG(status->st_mode)) {
        found->regular = true;
        found->size = (uint64_t)status->st_size;
        found->mtime = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
        found->device = (uint64_t)status->st_dev;
        found->inode = (uint64_t)status->st_ino;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ folders */

typedef struct names {
    char **items;
    size_t count, capacity;
} names;

static void free_names(names *all)
{
    for (size_t i = 0; i < all->count; i++)
        smp_free(all->items[i]);
    smp_free(all->items);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static smp_code read_names(walk *w, const char *folder, names *all)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        smp_fail(w->err, SMP_E_READ, "cannot read the folder: %s", strerror(errno));
        return smp_at(w->err, "%s", folder);
    }
    smp_code code = SMP_OK;
    for (struct dirent *entry; !code && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        char *name = smp_strdup(entry->d_name);
        if (!name || !smp_grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items)) {
            smp_free(name);
            code = smp_fail_memory(w->err, "a folder's names", all->count);
        } else
            all->items[all->count++] = name;
    }
    closedir(dir);
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, by_bytes);
    return code;
}

/* Counts a file that is left out under its extension. */
static smp_code leave_out(walk *w, const char *name)
{
    smp_found_list *list = w->list;
    char extension[SMP_EXTENSION] = "";
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name, *dot = strrchr(last, '.');
    for (size_t n = 0; dot && dot[n] && n + 1 < sizeof extension; n++)
        extension[n] = (char)tolower((unsigned char)dot[n]);
    list->left_out++;
    for (size_t i = 0; i < list->other_count; i++)
        if (!strcmp(list->others[i].extension, extension)) {
            list->others[i].count++;
            return SMP_OK;
        }
    if (!smp_grow(&list->others, &list->other_capacity, list->other_count + 1, sizeof *list->others))
        return smp_fail_memory(w->err, "extensions", list->other_count);
    smp_other_files *other = &list->others[list->other_count++];
    *other = (smp_other_files){.count = 1};
    memcpy(other->extension, extension, sizeof extension);
    return SMP_OK;
}

/* A file of a folder; takes over both texts. status null: what it is cannot be found out, its path being too long. */
static smp_code consider(walk *w, char *path, char *name, const struct stat *status)
{
    const smp_find_options *o = w->options;
    smp_code code = SMP_OK;
    bool wanted = !status || S_ISREG(status->st_mode) || S_ISLNK(status->st_mode);
    if (wanted && o->include_count)
        wanted = fits_one(name, o->include, o->include_count);
    else if (wanted && (other_by_name(name) || other_kind(name, o->kind))) {
        wanted = false;
        code = leave_out(w, name);
    }
    if (wanted)
        return add(w, path, name, status);
    smp_free(path);
    smp_free(name);
    return code;
}

/* The files of a folder, then those of the folders in it. under: its name under the folder given, or "". */
static smp_code walk_folder(walk *w, const char *folder, const char *under)
{
    names all = {0}, inner = {0};
    smp_code code = read_names(w, folder, &all);
    for (size_t i = 0; !code && i < all.count; i++) {
        struct stat status, link;
        char *path = smp_asprintf("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", all.items[i]);
        char *name = path ? smp_asprintf("%s%s%s", under, under[0] ? "/" : "", all.items[i]) : NULL;
        const bool listed = name && lstat(path, &link) == 0;
        const bool gone = name && !listed && errno == ENOENT;
        bool there = listed && stat(path, &status) == 0;
        if (listed && !there)
            status = link; /* a link to nothing is tried as a file: who opens it says so */
        bool enter = there && S_ISDIR(status.st_mode), skip = false;
        if (name && (gone || fits_one(name, w->options->exclude, w->options->exclude_count)))
            skip = true;
        else if (enter && (!w->options->recursive || S_ISLNK(link.st_mode))) {
            w->list->folders += !w->options->recursive;
            skip = true;
        }
        if (!name)
            code = smp_fail_memory(w->err, "a path", PATH_MAX);
        else if (!skip && !enter) {
            code = consider(w, path, name, listed ? &status : NULL);
            continue;
        } else if (!skip) {
            code = smp_grow(&inner.items, &inner.capacity, inner.count + 2, sizeof *inner.items)
                       ? SMP_OK
                       : smp_fail_memory(w->err, "a folder's names", inner.count);
            if (!code) {
                inner.items[inner.count++] = path;
                inner.items[inner.count++] = name;
                continue;
            }
        }
        smp_free(path);
        smp_free(name);
    }
    for (size_t i = 0; !code && i < inner.count; i += 2)
        code = walk_folder(w, inner.items[i], inner.items[i + 1]);
    free_names(&all);
    free_names(&inner);
    return code;
}

/* Of what is not there: files have an extension. */
static bool looks_like_folder(const char *given)
{
    const char *slash = strrchr(given, '/'), *last = slash ? slash + 1 : given;
    return !last[0] || !strchr(last + 1, '.');
}

static smp_code fail_missing(const walk *w, const char *given)
{
    smp_fail(w->err, SMP_E_READ, "there is no such file or folder");
    smp_hint(w->err, "nothing was written; check the name, or the folder that the command runs in");
    return smp_at(w->err, "%s", given);
}

static smp_code walk_given(walk *w, const char *given)
{
    struct stat status;
    if (!strcmp(given, "-") && w->options->standard_input) {
        w->there++;
        return add(w, smp_strdup(given), smp_strdup(given), NULL);
    }
    if (!strcmp(given, "-")) {
        smp_fail(w->err, SMP_E_USAGE, "standard input is one file, this works on many");
        return smp_hint(w->err, "name files or folders, or use smempipe run");
    }
    bool there = stat(given, &status) == 0;
    if (!there && looks_like_folder(given))
        return fail_missing(w, given);
    w->there += there;
    if (!there && !w->missing)
        w->missing = given;
    if (!there || !S_ISDIR(status.st_mode)) {
        const char *slash = strrchr(given, '/'), *name = slash && slash[1] ? slash + 1 : given;
        if (fits_one(name, w->options->exclude, w->options->exclude_count) ||
            (w->options->include_count && !fits_one(name, w->options->include, w->options->include_count)))
            return SMP_OK;
        return add(w, smp_strdup(given), smp_strdup(name), there ? &status : NULL);
    }
    size_t length = strlen(given);
    while (length > 1 && given[length - 1] == '/')
        length--;
    char *top = smp_strndup(given, length);
    if (!top)
        return smp_fail_memory(w->err, "a path", length);
    smp_code code = walk_folder(w, top, "");
    smp_free(top);
    return code;
}

smp_code smp_walk(const char *const *given, size_t count, const smp_find_options *options, smp_found_list *list,
                  smp_error *err)
{
    *list = (smp_found_list){0};
    walk w = {.options = options, .list = list, .err = err};
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < count; i++)
        code = walk_given(&w, given[i]);
    if (!code && w.missing && !w.there)
        code = fail_missing(&w, w.missing);
    if (code)
        smp_found_free(list);
    return code;
}

void smp_found_free(smp_found_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        smp_free(list->items[i].path);
        smp_free(list->items[i].name);
    }
    smp_free(list->items);
    smp_free(list->others);
    *list = (smp_found_list){0};
}

static int by_count(const void *a_, const void *b_)
{
    const smp_other_files *a = a_, *b = b_;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->extension, b->extension);
}

char *smp_found_others_text(smp_found_list *list)
{
    enum { MOST_NAMED = 8 };
    char *text = smp_strdup("");
    size_t named = 0;
    if (list->other_count)
        qsort(list->others, list->other_count, sizeof *list->others, by_count);
    for (size_t i = 0; text && i < list->other_count && i < MOST_NAMED; i++) {
        const smp_other_files *other = &list->others[i];
        char *longer = smp_asprintf("%s%s%zu %s", text, i ? ", " : "", other->count, other->extension);
        named += other->count;
        smp_free(text);
        text = longer;
    }
    if (text && named < list->left_out) {
        char *longer = smp_asprintf("%s, %zu more", text, list->left_out - named);
        smp_free(text);
        text = longer;
    }
    return text;
}
