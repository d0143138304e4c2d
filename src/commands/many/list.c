/* smempipe list: which files a batch is to do, written once for all who share the work. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "batch/claims/work_list.h"
#include "cli/cli.h"
#include "commands/many/many.h"
#include "report/text.h"

typedef struct list_settings {
    smp_common common;
    const char *folder, *output, *from;
    smp_strings include, exclude;
    bool recursive;
    uint64_t piece_size;
    int64_t piece_files;
} list_settings;

static const smp_option options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(list_settings, output), .argument = "FILE",
     .help = "the list to write; - is standard output"},
    {"recursive", 'r', SMP_O_FLAG, offsetof(list_settings, recursive),
     .help = "folders in folders too; links to folders are not followed"},
    {"from", 0, SMP_O_STRING, offsetof(list_settings, from), .argument = "FILE",
     .help = "take the names from a file, as find, 'lfs find' and dwalk write them: one a line, or ended by null bytes "
             "(find -print0); - is standard input. Each lies in DIR, and is taken whatever it is called"},
    {"include", 0, SMP_O_LIST, offsetof(list_settings, include), .argument = "GLOB",
     .help = "only files whose name fits, as in '*.jpg'; may be repeated"},
    {"exclude", 0, SMP_O_LIST, offsetof(list_settings, exclude), .argument = "GLOB",
     .help = "no files, and no folders, whose name fits; may be repeated"},
    {"piece-size", 0, SMP_O_SIZE, offsetof(list_settings, piece_size), .argument = "BYTES",
     .help = "bytes of files after which the next piece begins; pieces shrink from 64M or 4096 files to 4M or 16 "
             "files, so that all who take them end together, unless this or --piece-files is given"},
    {"piece-files", 0, SMP_O_INT, offsetof(list_settings, piece_files), .fallback = "0", .argument = "N", .min = 0,
     .max = SMP_PIECE_MOST_FILES, .help = "files after which the next piece begins; 0: as --piece-size says"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"DIR", offsetof(list_settings, folder), .help = "the folder in which the files lie"},
    {0},
};

typedef struct listing {
    smp_list_writer *writer;
    size_t files;   /* of the walk */
    size_t missing; /* names of --from that are not there */
} listing;

static smp_code put(void *context, const smp_found *found, smp_error *err)
{
    listing *l = context;
    l->files += found->regular;
    return found->regular ? smp_list_add(l->writer, found, err) : SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ --from */

/* Part of a name as `find DIR` writes it that is under DIR; null: it does not lie there. */
static const char *under(const char *path, const char *folder, const char *real)
{
    const char *const tops[] = {folder, real};
    if (path[0] != '/' && folder[0] == '.' && !folder[1] && strncmp(path, "./", 2) != 0)
        return path;
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(tops[i]);
        while (length > 1 && tops[i][length - 1] == '/')
            length--;
        if (strncmp(path, tops[i], length) != 0 || (path[length] != '/' && !(length == 1 && tops[i][0] == '/')))
            continue;
        while (path[length] == '/')
            length++;
        return path[length] ? path + length : NULL;
    }
    return NULL;
}

static smp_code put_name(listing *l, const list_settings *s, const char *real, char *path, size_t line, smp_error *err)
{
    struct stat status, link;
    const char *name = under(path, s->folder, real);
    smp_code code = SMP_OK;
    if (!name || smp_path_leaves(name))
        return smp_fail(err, SMP_E_READ, "line %zu: '%.200s' does not lie in %.200s", line, path, s->folder),
               smp_hint(err, "DIR is the folder that find was given");
    char *full = smp_asprintf("%s/%s", real, name);
    SMP_NEED(full, "a path", strlen(name), err);
    const bool there = lstat(full, &link) == 0 && stat(full, &status) == 0;
    smp_found found = {.path = full, .name = full + strlen(real) + 1, .link = there && S_ISLNK(link.st_mode)};
    l->missing += !there;
    if (there && S_ISREG(status.st_mode)) { /* what is gone since, and folders, are no files */
        smp_found_fill(&found, &status);
        code = put(l, &found, err);
    }
    smp_free(full);
    return code;
}

/* Names from a file. Its first bytes tell what ends a name: they hold a null byte, or lines. */
typedef struct names {
    FILE *file;
    char head[1 << 14]; /* longer than a path */
    size_t have, at;
    int end;
    char *text;
    size_t room;
} names;

static int next_byte(names *n)
{
    return n->at < n->have ? (unsigned char)n->head[n->at++] : getc_unlocked(n->file);
}

/* The next name in n->text; false: there is none left, or *err says why. */
static bool read_name(names *n, smp_error *err)
{
    size_t length = 0;
    int c;
    while ((c = next_byte(n)) != EOF && c != n->end) {
        if (!smp_grow(&n->text, &n->room, length + 2, 1)) {
            smp_fail_memory(err, "a name", length);
            return false;
        }
        n->text[length++] = (char)c;
    }
    if ((c == EOF && !length) || !smp_grow(&n->text, &n->room, length + 1, 1))
        return false;
    if (n->end == '\n' && length && n->text[length - 1] == '\r') /* lists made on Windows */
        length--;
    n->text[length] = '\0';
    return true;
}

static smp_code put_names(listing *l, const list_settings *s, const char *real, smp_error *err)
{
    const bool standard = !strcmp(s->from, "-");
    FILE *file = standard ? stdin : fopen(s->from, "re");
    size_t line = 0;
    smp_code code = SMP_OK;
    if (!file)
        return smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(errno)), smp_at(err, "%s", s->from);
    names n = {.file = file};
    n.have = fread(n.head, 1, sizeof n.head, file);
    n.end = memchr(n.head, '\0', n.have) ? '\0' : '\n';
    while (!code && read_name(&n, err)) {
        line++;
        if (n.text[0])
            code = put_name(l, s, real, n.text, line, err);
    }
    code = code ? code : err->code;
    if (!code && ferror(file))
        code = smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(errno));
    smp_free(n.text);
    if (!standard)
        fclose(file);
    return code ? smp_at(err, "%s", standard ? "standard input" : s->from) : SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the command */

static smp_code walk(listing *l, const list_settings *s, const char *real, smp_left_out *left_out, smp_error *err)
{
    const smp_find_options find = {.recursive = s->recursive,
                                   .include = s->include.items,
                                   .films = true,
                                   .include_count = s->include.count,
                                   .exclude = s->exclude.items,
                                   .exclude_count = s->exclude.count};
    const char *given[] = {real}, *shown[] = {s->folder};
    const smp_many_settings as_batch = {.plan.base.common = s->common,
                                        .inputs = {.items = shown, .count = 1},
                                        .include = s->include,
                                        .exclude = s->exclude};
    SMP_TRY(smp_walk_each(given, 1, &find, put, l, left_out, err));
    return l->files ? SMP_OK : smp_many_check(&as_batch, SMP_KIND_NONE, 0, left_out, err);
}

static smp_code check(const list_settings *s, smp_error *err)
{
    if (!s->output)
        return smp_fail(err, SMP_E_USAGE, "the list to write is missing"), smp_hint(err, "write -o work.list");
    if (s->from && (s->recursive || s->include.count || s->exclude.count))
        return smp_fail(err, SMP_E_USAGE, "--from and %s exclude each other", s->recursive ? "--recursive" : "globs"),
               smp_hint(err, "find chooses the files");
    if (!smp_is_folder(s->folder)) {
        const bool file = access(s->folder, F_OK) == 0;
        smp_fail(err, SMP_E_READ, file ? "this is a file, not a folder" : "there is no such folder");
        if (file)
            smp_hint(err, "give the folder, and --include for some of its files");
        return smp_at(err, "%s", s->folder);
    }
    return SMP_OK;
}

static void show(const list_settings *s, const smp_list_sum *sum, smp_left_out *left_out)
{
    char *others = left_out->files ? smp_left_out_text(left_out) : NULL;
    fprintf(stderr, "smempipe: %llu files, %.4g MB, in %llu pieces", (unsigned long long)sum->files,
            (double)sum->bytes / 1e6, (unsigned long long)sum->pieces);
    if (others) {
        fprintf(stderr, "; %zu passed over by their names (", left_out->files);
        smp_text_clean(stderr, others);
        fputc(')', stderr);
    }
    if (left_out->special)
        fprintf(stderr, "; %zu that %s a pipe, a socket or a device passed over", left_out->special,
                left_out->special == 1 ? "is" : "are each");
    if (left_out->folders && !s->recursive)
        fprintf(stderr, "; %zu folders in it were left out, --recursive goes into them", left_out->folders);
    if (sum->collisions)
        fprintf(stderr,
                "; %llu %s the name of another but for the extension%s: where both would become one output, the second "
                "fails, unless --name '{stem}-{from}.{ext}' tells them apart",
                (unsigned long long)sum->collisions, sum->collisions == 1 ? "has" : "have",
                !s->from               ? ""
                : sum->collisions == 1 ? ", or is named twice"
                                       : ", or are named twice");
    fputc('\n', stderr);
    smp_free(others);
}

static smp_code list(void *settings, smp_error *err)
{
    const list_settings *s = settings;
    listing l = {0};
    smp_left_out left_out = {0};
    smp_list_sum sum;
    SMP_TRY(check(s, err));
    smp_code code = SMP_OK;
    if (s->common.force && (code = smp_cli_keep_other(s->output, "smempipe list ", "list", err)))
        return code;
    char *real = smp_real_path(s->folder);
    SMP_NEED(real, "a path", strlen(s->folder), err);
    code = smp_list_begin(s->output, s->common.force, real, s->piece_size, (uint64_t)s->piece_files, &l.writer, err);
    if (code)
        smp_at(err, "%s", s->output);
    if (!code && s->from)
        smp_list_scattered(l.writer);
    if (!code)
        code = s->from ? put_names(&l, s, real, err) : walk(&l, s, real, &left_out, err);
    if (!code)
        code = smp_list_end(l.writer, &sum, err) ? smp_at(err, "%s", s->output) : SMP_OK;
    else
        smp_list_abort(l.writer);
    if (!code && l.missing)
        smp_cli_warning(&s->common, "%zu of the names in %s are not there and were left out", l.missing,
                        strcmp(s->from, "-") ? s->from : "standard input");
    if (!code && !s->common.quiet)
        show(s, &sum, &left_out);
    smp_left_out_free(&left_out);
    smp_free(real);
    return code;
}

const smp_command smp_command_list = {
    .name = "list",
    .help = "write which files a batch is to do, for many who share the work",
    .about =
        "Looks through a folder once and writes the names, sizes and times of its files to a list, in pieces of "
        "about the same bytes. 'smempipe batch --list' does what the list says, whatever comes and goes in the "
        "folder meanwhile; a task reads the lines of its own pieces alone, and passes over what its pipeline is not "
        "for, such as films beside pictures. Memory does not depend on how many "
        "files there are. docs/clusters.md has recipes for Slurm, MPI and GNU parallel.",
    .settings_size = sizeof(list_settings),
    .without = SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS | SMP_O_VERBOSE,
    .groups = {{"options", options}, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe list photos/ -r -o work.list", "every picture and sound below photos/"},
                 {"lfs find /lustre/photos -type f | smempipe list /lustre/photos --from - -o work.list",
                  "names that another program found"},
                 {"smempipe batch blur --list work.list -o out/ --shard 1/100", "the first of 100 tasks"}},
    .run = list,
};
