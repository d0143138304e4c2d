/* Files and folders given on a command line, as a list of files: see find_files.h. */
#include "batch/find_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/paths.h"
#include "base/pool.h"
#include "io/format.h"
#include "io/media.h"

/* Verdict on an entry of a folder. */
typedef enum verdict {
    PASS,  /* nothing */
    ENTER, /* it is a folder to go into */
    GIVE,  /* it is a file, whose status is known or cannot be */
    LOOK   /* it is a file, whose status is to be asked for */
} verdict;

typedef struct known_file { /* of an entry */
    struct stat status;
    bool known, gone, link;
    verdict what;
} known_file;

/* Entries: looked at together, by a thread at a time, and from which on by several threads. */
enum { BLOCK = 1024, PART = 32, FEW = 4 * PART };

typedef struct walk {
    const smp_find_options *options;
    smp_walk_visit *visit;
    void *context;
    smp_left_out *left_out;
    char *path; /* of the folder or file that is looked at, grown as needed */
    size_t path_room;
    size_t there;         /* of what was given, and */
    const char *missing;  /* the first that is not */
    size_t missing_count; /* so far */
    bool mixed;           /* of what was given, by names: files that are read, and maybe companions */
    smp_pool *pool;       /* null until a folder has many files */
    known_file *block;
    smp_error *err;
} walk;

static bool fits_one(const char *name, const char *const *globs, size_t count)
{
    const char *last = smp_base_name(name);
    for (size_t i = 0; i < count; i++)
        if (fnmatch(globs[i], strchr(globs[i], '/') ? name : last, FNM_PATHNAME | FNM_CASEFOLD) == 0)
            return true;
    return false;
}

static bool is_ignored(const char *extension)
{
    static const char *const extensions[] = {
#define O(extension) extension,
#include "batch/ignored_extensions.def"
#undef O
    };
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
        if (strcasecmp(extension, extensions[i]) == 0)
            return true;
    return false;
}

static const smp_extension_answer *ask_extension(smp_extension_answer *answer, const char *name)
{
    const char *dot = strrchr(name, '.'), *extension = dot ? dot + 1 : "";
    const size_t length = strlen(extension);
    if (length && length < sizeof answer->extension && strcmp(answer->extension, extension) == 0)
        return answer;
    *answer = (smp_extension_answer){.kind = smp_name_kind(name)};
    const smp_file_format *format;
    bool known = false; /* a format that this build does not read, or not under that name, is another */
    for (size_t i = 0; dot && (format = smp_format_at(i)); i++)
        if (smp_format_extension(format, extension)) {
            known = true;
            answer->read = answer->read || format->sniff;
        }
    answer->other = (known && !answer->read) || (dot && is_ignored(extension));
    if (length < sizeof answer->extension)
        memcpy(answer->extension, extension, length + 1);
    return answer;
}

/* Films are passed over beside pictures, and read where sounds alone, or films too, are wanted. */
static bool is_unwanted(const smp_extension_answer *answer, smp_kind wanted, bool films)
{
    if (wanted != SMP_KIND_NONE && answer->kind != SMP_KIND_NONE && !(answer->kind & wanted))
        return true;
    return answer->other && !((films || wanted == SMP_AUDIO) && answer->kind == SMP_AUDIO && answer->read);
}

void smp_found_fill(smp_found *found, const struct stat *status)
{
    if (!status || !S_ISREG(status->st_mode))
        return;
    found->regular = true;
    found->size = (uint64_t)status->st_size;
    found->mtime = smp_nanoseconds(status->st_mtim);
    found->device = (uint32_t)status->st_dev;
    found->inode = (uint64_t)status->st_ino;
}

/* ------------------------------------------------------------------------------------------------ left out */

/* Counts a file that is left out under its extension. */
static smp_code count_left_out(smp_left_out *left, const char *name, smp_error *err)
{
    char extension[SMP_EXTENSION] = "";
    const char *dot = strrchr(smp_base_name(name), '.');
    for (size_t n = 0; dot && dot[n] && n + 1 < sizeof extension; n++)
        extension[n] = (char)tolower((unsigned char)dot[n]);
    left->files++;
    for (size_t i = 0; i < left->other_count; i++)
        if (!strcmp(left->others[i].extension, extension)) {
            left->others[i].count++;
            return SMP_OK;
        }
    SMP_NEED(smp_grow(&left->others, &left->other_capacity, left->other_count + 1, sizeof *left->others), "extensions",
             left->other_count, err);
    smp_other_files *other = &left->others[left->other_count++];
    *other = (smp_other_files){.count = 1};
    memcpy(other->extension, extension, sizeof extension);
    return SMP_OK;
}

smp_code smp_leave_out(const char *name, smp_kind kind, smp_left_out *left_out, bool *left, smp_error *err)
{
    *left = is_unwanted(ask_extension(&left_out->answer, name), kind, false);
    return *left ? count_left_out(left_out, name, err) : SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ folders */

typedef struct folder_entry { /* of a folder's entry */
    const char *text;
    unsigned char type; /* DT_REG and so on */
} folder_entry;

typedef struct names {
    folder_entry *items;
    size_t count, capacity;
    smp_texts texts;
} names;

static void free_names(names *all)
{
    smp_free(all->items);
    smp_texts_free(&all->texts);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(((const folder_entry *)a)->text, ((const folder_entry *)b)->text);
}

static smp_code read_names(walk *w, DIR *dir, names *all)
{
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        const char *text = smp_texts_add(&all->texts, entry->d_name, strlen(entry->d_name));
        SMP_NEED(text && smp_grow(&all->items, &all->capacity, all->count + 1, sizeof *all->items), "a folder's names",
                 all->count, w->err);
        all->items[all->count++] = (folder_entry){.text = text, .type = entry->d_type};
    }
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, by_bytes);
    return SMP_OK;
}

/* A file by its path and its name, which is the path's end: whether it is one to work on, as far as names tell. */
static smp_code by_name(walk *w, const char *name, bool *wanted)
{
    const smp_find_options *o = w->options;
    *wanted = true;
    if (o->include_count)
        *wanted = fits_one(name, o->include, o->include_count);
    else if (is_unwanted(ask_extension(&w->left_out->answer, name), o->kind, o->films)) {
        *wanted = false;
        return count_left_out(w->left_out, name, w->err);
    }
    return *wanted && o->wants ? o->wants(o->context, w->path, name, wanted, w->err) : SMP_OK;
}

static smp_code give(walk *w, const char *name, const struct stat *status, bool link)
{
    smp_found found = {.path = w->path, .name = name, .link = link};
    smp_found_fill(&found, status);
    return w->visit(w->context, &found, w->err);
}

static smp_code give_wanted(walk *w, const char *name, const struct stat *status, bool link)
{
    bool wanted = true;
    if (w->options->wants)
        SMP_TRY(w->options->wants(w->options->context, w->path, name, &wanted, w->err));
    return wanted ? give(w, name, status, link) : SMP_OK;
}

/* An entry of a folder that is open. The file system is asked as little as will do: what a file is, the folder says
 * mostly, and a file of another shard is not asked about. */
static smp_code judge(walk *w, int folder, const folder_entry *entry, const char *under, known_file *found)
{
    struct stat *const status = &found->status, link;
    const smp_find_options *o = w->options;
    bool listed = true, there = false, wanted, looked = false;
    found->what = PASS;
    found->known = found->gone = found->link = false;
    if (o->exclude_count && fits_one(under, o->exclude, o->exclude_count))
        return SMP_OK;
    const bool too_long = strlen(w->path) >= PATH_MAX; /* nobody can say what it is, nor open it */
    unsigned char type = too_long ? DT_REG : entry->type;
    if (type == DT_UNKNOWN || type == DT_LNK) {
        listed = fstatat(folder, entry->text, &link, AT_SYMLINK_NOFOLLOW) == 0;
        if (!listed && errno == ENOENT)
            return SMP_OK;
        found->link = listed && S_ISLNK(link.st_mode);
        there = listed && fstatat(folder, entry->text, status, 0) == 0;
        if (listed && !there)
            *status = link; /* a link to nothing is tried as a file: who opens it says so */
        found->known = listed;
        looked = true;
        type = there && S_ISDIR(status->st_mode)                                 ? DT_DIR
               : !listed || S_ISREG(status->st_mode) || S_ISLNK(status->st_mode) ? DT_REG
                                                                                 : DT_FIFO;
    }
    if (type == DT_DIR) {
        found->what = o->recursive && !found->link ? ENTER : PASS;
        w->left_out->folders += !o->recursive;
        return SMP_OK;
    }
    if (type != DT_REG) {
        w->left_out->special += !o->include_count || fits_one(under, o->include, o->include_count);
        return SMP_OK;
    }
    SMP_TRY(by_name(w, under, &wanted));
    if (wanted)
        found->what = looked || too_long ? GIVE : LOOK;
    return SMP_OK;
}

/* Entries that are looked at by several threads: they wait for a file system, above all for one on another machine. */
typedef struct looking {
    int folder;
    const folder_entry *entries;
    known_file *block;
    size_t count;
} looking;

static void look_at(void *context, int part)
{
    const looking *l = context;
    const size_t end = smp_min_u64(l->count, ((size_t)part + 1) * PART);
    for (size_t i = (size_t)part * PART; i < end; i++) {
        known_file *s = &l->block[i];
        if (s->what != LOOK)
            continue;
        s->known = fstatat(l->folder, l->entries[i].text, &s->status, AT_SYMLINK_NOFOLLOW) == 0;
        s->gone = !s->known && errno == ENOENT;
        s->link = s->known && S_ISLNK(s->status.st_mode); /* since the folder was read */
    }
}

/* Room for `length` bytes of path and its end. */
static smp_code grow_path(walk *w, size_t length)
{
    return smp_grow(&w->path, &w->path_room, length + 1, 1) ? SMP_OK : smp_fail_memory(w->err, "a path", length);
}

/* An entry's path: the folder's, which ends before `end`, and its name. */
static smp_code set_path(walk *w, size_t end, const char *text)
{
    const size_t size = strlen(text);
    SMP_TRY(grow_path(w, end + size));
    w->path[end - 1] = '/';
    memcpy(w->path + end, text, size + 1);
    return SMP_OK;
}

/* Entries `from` and on of a folder. Those to go into are moved to the beginning, behind the *inner that are there. */
static smp_code walk_block(walk *w, int folder, size_t end, size_t under, names *all, size_t from, size_t count,
                           size_t *inner)
{
    if (!w->block && !(w->block = smp_alloc_array(BLOCK, sizeof *w->block)))
        return smp_fail_memory(w->err, "a folder's files", BLOCK * sizeof *w->block);
    looking l = {.folder = folder, .entries = all->items + from, .block = w->block, .count = count};
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++) {
        SMP_TRY(set_path(w, end, l.entries[i].text));
        SMP_TRY(judge(w, folder, &l.entries[i], w->path + under, &w->block[i]));
        unknown += w->block[i].what == LOOK;
    }
    smp_pool_wait(&w->pool, unknown >= FEW, unknown ? (int)((count + PART - 1) / PART) : 0, look_at, &l);
    for (size_t i = 0; i < count; i++) {
        const known_file *s = &w->block[i];
        if (s->what < GIVE || s->gone)
            continue;
        SMP_TRY(set_path(w, end, l.entries[i].text));
        SMP_TRY(give(w, w->path + under, s->known ? &s->status : NULL, s->link));
    }
    for (size_t i = 0; i < count; i++)
        if (w->block[i].what == ENTER)
            all->items[(*inner)++] = l.entries[i];
    return SMP_OK;
}

/* The files of the folder w->path[0 .. length), then those of the folders in it. under: where in the path the name
 * under the folder given begins; 0: it is that folder. Another one that cannot be read is given as a file with a slash
 * behind it: who opens it says why. */
static smp_code walk_folder(walk *w, size_t length, size_t under)
{
    names all = {0};
    size_t inner = 0;
    DIR *dir = opendir(w->path);
    if (!dir && !under)
        return smp_fail(w->err, SMP_E_READ, "cannot read the folder: %s", strerror(errno)),
               smp_at(w->err, "%s", w->path);
    smp_code code = dir ? read_names(w, dir, &all) : set_path(w, length + 1, "");
    if (!code && !dir)
        code = give_wanted(w, w->path + under, NULL, false);
    const size_t end = length + (w->path[length - 1] != '/');
    for (size_t i = 0, count; !code && i < all.count; i += count) {
        count = smp_min_u64(BLOCK, all.count - i);
        code = walk_block(w, dirfd(dir), end, under ? under : end, &all, i, count, &inner);
    }
    if (dir)
        closedir(dir);
    for (size_t i = 0; !code && i < inner; i++) {
        code = set_path(w, end, all.items[i].text);
        if (!code)
            code = walk_folder(w, end + strlen(all.items[i].text), under ? under : end);
    }
    w->path[length] = '\0';
    free_names(&all);
    return code;
}

/* For what does not exist: files have an extension. */
static bool looks_like_folder(const char *given)
{
    const char *last = smp_base_name(given);
    return !last[0] || !strchr(last + 1, '.');
}

static smp_code fail_missing(const walk *w, const char *given)
{
    smp_fail(w->err, SMP_E_READ, "there is no such file or folder");
    if (w->missing_count > 1)
        smp_hint(w->err, "nor are %zu more that were given: check the names, or the folder that the command runs in",
                 w->missing_count - 1);
    else
        smp_hint(w->err, "check the name, or the folder that the command runs in");
    return smp_at(w->err, "%s", given);
}

/* A film or a note beside pictures that were named: a shell's * names all that lies there. Alone it is tried. */
static bool is_companion(walk *w, const char *name)
{
    const smp_extension_answer *answer = ask_extension(&w->left_out->answer, name);
    return w->mixed && answer->other && !(answer->kind & w->options->kind);
}

/* Whether what was given has the name of a file that is read, and more was given. */
static bool are_mixed(walk *w, const char *const *given, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count && !any; i++) {
        const smp_extension_answer *answer = ask_extension(&w->left_out->answer, given[i]);
        any = !answer->other && answer->kind != SMP_KIND_NONE;
    }
    return any && count > 1 && !w->options->include_count;
}

static smp_code walk_given(walk *w, const char *given)
{
    struct stat status, link;
    size_t length = strlen(given);
    if (!strcmp(given, "-") && !w->options->standard_input)
        return smp_fail(w->err, SMP_E_USAGE, "standard input is one file, this works on many"),
               smp_hint(w->err, "name files or folders, or use smempipe run");
    SMP_TRY(grow_path(w, length));
    memcpy(w->path, given, length + 1);
    if (!strcmp(given, "-")) {
        w->there++;
        return give(w, w->path, NULL, false);
    }
    bool there = stat(given, &status) == 0;
    w->missing_count += !there;
    if (!there && looks_like_folder(given))
        return fail_missing(w, given);
    w->there += there;
    if (!there && !w->missing)
        w->missing = given;
    if (!there || !S_ISDIR(status.st_mode)) {
        const char *slash = strrchr(w->path, '/'), *name = slash && slash[1] ? slash + 1 : w->path;
        if (fits_one(name, w->options->exclude, w->options->exclude_count) ||
            (w->options->include_count && !fits_one(name, w->options->include, w->options->include_count)))
            return SMP_OK;
        if (there && is_companion(w, name))
            return count_left_out(w->left_out, name, w->err);
        return give_wanted(w, name, there ? &status : NULL, lstat(given, &link) == 0 && S_ISLNK(link.st_mode));
    }
    while (length > 1 && given[length - 1] == '/')
        length--;
    w->path[length] = '\0';
    return walk_folder(w, length, 0);
}

smp_code smp_walk_each(const char *const *given, size_t count, const smp_find_options *options, smp_walk_visit *visit,
                       void *context, smp_left_out *left_out, smp_error *err)
{
    *left_out = (smp_left_out){0};
    walk w = {.options = options, .visit = visit, .context = context, .left_out = left_out, .err = err};
    smp_code code = SMP_OK;
    w.mixed = are_mixed(&w, given, count);
    for (size_t i = 0; !code && i < count; i++)
        code = walk_given(&w, given[i]);
    if (!code && w.missing && !w.there)
        code = fail_missing(&w, w.missing);
    smp_pool_close(w.pool);
    smp_free_all(w.block, w.path);
    return code;
}

smp_code smp_found_add(smp_found_list *list, const smp_found *found, smp_error *err)
{
    if (list->count / SMP_FOUND_BLOCK == list->block_count) {
        SMP_NEED(smp_grow(&list->blocks, &list->block_capacity, list->block_count + 1, sizeof *list->blocks) &&
                     (list->blocks[list->block_count] = smp_alloc_raw(SMP_FOUND_BLOCK * sizeof **list->blocks)),
                 "the list of files", (list->count + 1) * sizeof *found, err);
        list->block_count++;
    }
    const size_t length = strlen(found->path), name = strlen(found->name);
    const bool within = name <= length && !strcmp(found->path + length - name, found->name);
    const char *path = smp_texts_add(&list->texts, found->path, length);
    const char *other = within ? path : smp_texts_add(&list->texts, found->name, name);
    SMP_NEED(path && other, "the list of files", (list->count + 1) * sizeof *found, err);
    smp_found *own = smp_found_at(list, list->count++);
    *own = *found;
    own->path = path;
    own->name = within ? path + length - name : other;
    return SMP_OK;
}

static smp_code keep(void *context, const smp_found *found, smp_error *err)
{
    return smp_found_add(context, found, err);
}

smp_code smp_walk(const char *const *given, size_t count, const smp_find_options *options, smp_found_list *list,
                  smp_error *err)
{
    *list = (smp_found_list){0};
    smp_code code = smp_walk_each(given, count, options, keep, list, &list->left_out, err);
    if (code)
        smp_found_free(list);
    return code;
}

void smp_left_out_free(smp_left_out *left_out)
{
    smp_free(left_out->others);
    *left_out = (smp_left_out){0};
}

void smp_found_free(smp_found_list *list)
{
    for (size_t i = 0; i < list->block_count; i++)
        smp_free(list->blocks[i]);
    smp_free(list->blocks);
    smp_texts_free(&list->texts);
    smp_left_out_free(&list->left_out);
    *list = (smp_found_list){0};
}

static int by_count(const void *a_, const void *b_)
{
    const smp_other_files *a = a_, *b = b_;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->extension, b->extension);
}

char *smp_left_out_text(smp_left_out *left_out)
{
    enum { MOST_NAMED = 8 };
    char *text = smp_strdup("");
    size_t named = 0;
    if (left_out->other_count)
        qsort(left_out->others, left_out->other_count, sizeof *left_out->others, by_count);
    for (size_t i = 0; text && i < left_out->other_count && i < MOST_NAMED; i++) {
        const smp_other_files *other = &left_out->others[i];
        char *longer = smp_asprintf("%s%s%zu %s", text, i ? ", " : "", other->count, other->extension);
        named += other->count;
        smp_free(text);
        text = longer;
    }
    if (text && named < left_out->files) {
        char *longer = smp_asprintf("%s, %zu more", text, left_out->files - named);
        smp_free(text);
        text = longer;
    }
    return text;
}
