/* Lists of work: see work_list.h. What a list says about itself is checked before it is believed: it may have been
 * edited, cut off, or come from a stranger. */
#include "batch/claims/work_list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash/hash_set.h"
#include "base/paths.h"
#include "batch/line.h"
#include "io/files/output.h"

static const char title[] = "smempipe list 2\n", root_word[] = "folder ";

/* A piece: where its lines begin, their bytes, files, bytes of files, hash. The end: pieces, where their lines begin,
 * links, hash of all. */
#define PIECE_WRITE "%018" PRIu64 " %012" PRIu64 " %07" PRIu64 " %019" PRIu64 " %016" PRIx64 "\n"
#define PIECE_READ  "%18" SCNu64 " %12" SCNu64 " %7" SCNu64 " %19" SCNu64 " %16" SCNx64 "\n"
#define END_WRITE   "end %012" PRIu64 " %018" PRIu64 " %012" PRIu64 " %016" PRIx64 "%016" PRIx64 "\n"
#define END_READ    "end %12" SCNu64 " %18" SCNu64 " %12" SCNu64 " %16" SCNx64 "%16" SCNx64 "\n"
enum {
    PIECE_LINE = 18 + 1 + 12 + 1 + 7 + 1 + 19 + 1 + 16 + 1,
    END_LINE = 4 + 12 + 1 + 18 + 1 + 12 + 1 + 32 + 1,
    LEAST_LINE = 6,       /* "0 0 a\n" */
    MOST_PIECE = 1 << 30, /* bytes of a piece's lines */
    /* Pieces of a size that nobody chose are made of units, and shrink along the list: */
    UNIT_FILES = 16,
    UNIT_BYTES = 4 << 20,
    PARTS = 1024,         /* a piece is at most this part of what is left, */
    MOST_UNITS = 1 << 16, /* which is not known before the end: units are joined whenever there are so many */
    MOST_NAMES = 3 << 24  /* whose lines are known; then they are forgotten */
};

/* ------------------------------------------------------------------------------------------------ writing */

struct smp_list_writer {
    smp_output *output;
    smp_work_piece *pieces;
    size_t count, capacity;
    size_t most;          /* pieces from which on small ones are joined; 0: they stay as they are */
    smp_work_piece piece; /* the one that is being filled */
    uint64_t piece_bytes, piece_files, at;
    smp_list_sum sum;
    bool scattered;     /* names of a folder may not follow each other */
    uint64_t folder;    /* else: the hash of the one whose names are known */
    smp_hash_set names; /* hashes of names without extensions; values: where the last line of each begins */
    char *line;
    size_t room;
};

/* Returns a line's share of its unit's hash. Units that follow each other are joined by adding their hashes. */
static uint64_t line_hash(const char *line, size_t length, uint64_t offset)
{
    smp_hash hash = smp_hash_start();
    smp_hash_add(&hash, line, length);
    return smp_hash_mix(hash.a + smp_hash_mix(offset));
}

static smp_code put(smp_list_writer *w, const char *text, size_t length, smp_error *err)
{
    w->at += length;
    return smp_output_write(w->output, text, length, err);
}

/* "WORDS TEXT\n" into the writer's line; *length. */
static smp_code compose(smp_list_writer *w, const char *words, const char *text, size_t *length, smp_error *err)
{
    const size_t before = strlen(words);
    SMP_NEED(smp_grow(&w->line, &w->room, before + 2 * strlen(text) + 2, 1), "a line", strlen(text), err);
    memcpy(w->line, words, before);
    char *end = smp_line_escape(w->line + before, text, false);
    *end++ = '\n';
    *length = (size_t)(end - w->line);
    return SMP_OK;
}

smp_code smp_list_begin(const char *path, bool force, const char *root, uint64_t piece_bytes, uint64_t piece_files,
                        smp_list_writer **out, smp_error *err)
{
    size_t length = 0;
    smp_list_writer *w = *out = smp_alloc(sizeof *w);
    SMP_NEED(w, "a list", sizeof *w, err);
    const bool chosen = piece_bytes || piece_files;
    w->piece_bytes = !chosen ? UNIT_BYTES : piece_bytes ? piece_bytes : SMP_PIECE_BYTES;
    w->piece_files = !chosen ? UNIT_FILES : piece_files ? piece_files : SMP_PIECE_FILES;
    w->most = chosen ? 0 : MOST_UNITS;
    smp_code code = smp_output_open(path, force, NULL, &w->output, err);
    code = code ? code : put(w, title, strlen(title), err);
    code = code ? code : compose(w, root_word, root, &length, err);
    code = code ? code : put(w, w->line, length, err);
    w->piece.offset = w->at;
    if (code) {
        smp_list_abort(w);
        *out = NULL;
    }
    return code;
}

/* Joins small pieces to such as are at most 1/1024 of what follows in the list so far. What follows can only grow, so
 * that pieces that were joined early are none too large. */
static void join_pieces(smp_list_writer *w)
{
    uint64_t files = w->sum.files, bytes = w->sum.bytes; /* from the piece at i on */
    size_t kept = 0;
    for (size_t i = 0; i < w->count;) {
        const uint64_t most_files = smp_min_u64(smp_max_u64(files / PARTS, UNIT_FILES), SMP_PIECE_FILES),
                       most_bytes = smp_min_u64(smp_max_u64(bytes / PARTS, UNIT_BYTES), SMP_PIECE_BYTES);
        smp_work_piece joined = w->pieces[i++];
        for (; i < w->count && joined.files + w->pieces[i].files <= most_files &&
               joined.bytes + w->pieces[i].bytes <= most_bytes;
             i++) {
            joined.length += w->pieces[i].length;
            joined.files += w->pieces[i].files;
            joined.bytes += w->pieces[i].bytes;
            joined.hash += w->pieces[i].hash;
        }
        files -= joined.files;
        bytes -= joined.bytes;
        w->pieces[kept++] = joined;
    }
    w->count = kept;
    w->most = smp_max_u64(MOST_UNITS, 2 * kept);
}

static smp_code end_piece(smp_list_writer *w, smp_error *err)
{
    if (!w->piece.files)
        return SMP_OK;
    SMP_NEED(smp_grow(&w->pieces, &w->capacity, w->count + 1, sizeof *w->pieces), "the pieces of a list", w->count,
             err);
    w->piece.length = w->at - w->piece.offset;
    w->pieces[w->count++] = w->piece;
    w->piece = (smp_work_piece){.offset = w->at};
    if (w->most && w->count >= w->most)
        join_pieces(w);
    return SMP_OK;
}

void smp_list_scattered(smp_list_writer *w)
{
    w->scattered = true;
}

static uint64_t name_hash(const char *text, size_t length)
{
    smp_hash hash = smp_hash_start();
    smp_hash_add(&hash, text, length);
    return smp_hash_mix(hash.a);
}

/* A file whose line begins at *line may become one output with those that differ in the extension alone: *line becomes
 * that of the last one before it; 0: there is none. Whoever works on a piece does not see the others. */
static bool find_collision(smp_list_writer *w, const char *name, uint64_t *line)
{
    const uint64_t folder = w->scattered ? 0 : name_hash(name, (size_t)(smp_base_name(name) - name));
    if (folder != w->folder || w->names.count >= MOST_NAMES)
        smp_hash_set_clear(&w->names);
    w->folder = folder;
    return smp_hash_set_swap(&w->names, name_hash(name, smp_stem(name)) | 1, line);
}

smp_code smp_list_add(smp_list_writer *w, const smp_found *found, smp_error *err)
{
    char numbers[96], collision[32] = "";
    uint64_t before = w->at;
    size_t length;
    smp_code code = SMP_OK;
    SMP_NEED(find_collision(w, found->name, &before), "names", w->names.count * 2 * sizeof before, err);
    if (before)
        snprintf(collision, sizeof collision, "=%" PRIu64 " ", before);
    snprintf(numbers, sizeof numbers, "%s%s%" PRIu64 " %" PRId64 " ", found->link ? "l" : "", collision, found->size,
             found->mtime);
    if (w->piece.files && w->piece.bytes + found->size > w->piece_bytes)
        code = end_piece(w, err); /* a large file begins a piece, so that it is one of its own mostly */
    code = code ? code : compose(w, numbers, found->name, &length, err);
    const uint64_t offset = w->at;
    code = code ? code : put(w, w->line, length, err);
    if (code)
        return code;
    w->piece.hash += line_hash(w->line, length, offset);
    w->piece.files++;
    w->piece.bytes += found->size;
    w->sum.files++;
    w->sum.bytes += found->size;
    w->sum.links += found->link;
    w->sum.collisions += before != 0;
    return w->piece.bytes >= w->piece_bytes || w->piece.files >= w->piece_files ? end_piece(w, err) : SMP_OK;
}

smp_code smp_list_end(smp_list_writer *w, smp_list_sum *sum, smp_error *err)
{
    char line[160];
    smp_code code = end_piece(w, err);
    if (w->most)
        join_pieces(w);
    const uint64_t begin = w->at;
    smp_hash all = smp_hash_start();
    for (size_t i = 0; !code && i < w->count; i++) {
        const smp_work_piece *p = &w->pieces[i];
        snprintf(line, sizeof line, PIECE_WRITE, p->offset, p->length, p->files, p->bytes, p->hash);
        smp_hash_add(&all, line, PIECE_LINE);
        code = put(w, line, PIECE_LINE, err);
    }
    snprintf(line, sizeof line, END_WRITE, (uint64_t)w->count, begin, w->sum.links, all.a, all.b);
    code = code ? code : put(w, line, END_LINE, err);
    if (!code) {
        code = smp_output_commit(w->output, err);
        w->output = NULL;
    }
    w->sum.pieces = w->count;
    *sum = w->sum;
    smp_list_abort(w);
    return code;
}

void smp_list_abort(smp_list_writer *w)
{
    if (!w)
        return;
    smp_output_abort(w->output);
    smp_free(w->pieces);
    smp_hash_set_free(&w->names);
    smp_free_all(w->line, w);
}

/* ------------------------------------------------------------------------------------------------ reading */

struct smp_work_list {
    int fd;
    char *path, *root;
    smp_work_piece *pieces;
    size_t count;
    uint64_t begin, end; /* of the files' lines */
    uint64_t links;
    smp_hash hash;
};

static smp_code fail_list(const char *path, const char *what, smp_error *err)
{
    smp_fail(err, SMP_E_READ, "%s", what);
    smp_hint(err, "smempipe list DIR -o FILE makes a list");
    return smp_at(err, "%s", path);
}

static smp_code fail_changed(const smp_work_list *list, smp_error *err)
{
    return fail_list(list->path, "the list was changed since it was made", err);
}

static smp_code read_at(const smp_work_list *list, char *to, size_t size, uint64_t offset, smp_error *err)
{
    for (size_t got = 0; got < size;) {
        const ssize_t part = pread(list->fd, to + got, size - got, (off_t)(offset + got));
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(errno)), smp_at(err, "%s", list->path);
        if (!part)
            return fail_list(list->path, "the list was cut off", err);
        got += (size_t)part;
    }
    return SMP_OK;
}

/* The first two lines; *begin: where files begin. */
static smp_code read_head(smp_work_list *list, uint64_t size, uint64_t *begin, smp_error *err)
{
    enum { MOST_HEAD = 1 << 16 };
    const size_t head = size < MOST_HEAD ? (size_t)size : MOST_HEAD;
    char *text = smp_alloc(head + 1);
    SMP_NEED(text, "a list", head, err);
    smp_code code = read_at(list, text, head, 0, err);
    const char *end = NULL;
    char *root = text + strlen(title);
    if (!code && (head < sizeof title || strncmp(text, title, strlen(title)) != 0))
        code = fail_list(list->path, "this is not a list of smempipe", err);
    if (!code && (strncmp(root, root_word, strlen(root_word)) != 0 || !(end = strchr(root, '\n'))))
        code = fail_list(list->path, "the list does not name its folder", err);
    if (!code) {
        *begin = (uint64_t)(end - text) + 1;
        root += strlen(root_word);
        list->root = smp_strndup(root, (size_t)(end - root));
        if (!list->root)
            code = smp_fail_memory(err, "a list", head);
        else
            smp_line_unescape(list->root, list->root, '\0');
    }
    smp_free(text);
    return code;
}

/* The lines of pieces: they follow each other from `begin` to where these lines begin. */
static smp_code read_pieces(smp_work_list *list, uint64_t begin, uint64_t at, smp_error *err)
{
    size_t size;
    char *text = smp_mul_size(list->count, PIECE_LINE, &size) ? smp_alloc(size + 1) : NULL;
    list->pieces = smp_alloc_array(list->count, sizeof *list->pieces);
    smp_code code = text && list->pieces ? read_at(list, text, size, at, err)
                                         : smp_fail_memory(err, "the pieces of a list", list->count);
    smp_hash all = smp_hash_start();
    if (!code)
        smp_hash_add(&all, text, size);
    if (!code && !smp_hash_equal(&all, &list->hash))
        code = fail_changed(list, err);
    for (size_t i = 0; !code && i < list->count; i++) {
        smp_work_piece *p = &list->pieces[i];
        char *line = text + i * PIECE_LINE;
        line[PIECE_LINE - 1] = '\0';
        if (sscanf(line, PIECE_READ, &p->offset, &p->length, &p->files, &p->bytes, &p->hash) != 5 ||
            p->offset != begin || p->length > MOST_PIECE || p->length > at - begin || !p->files ||
            p->files > p->length / LEAST_LINE)
            code = fail_changed(list, err);
        begin += p->length;
    }
    if (!code && begin != at)
        code = fail_changed(list, err);
    smp_free(text);
    return code;
}

static smp_code read_list(smp_work_list *list, smp_error *err)
{
    struct stat status;
    char end[END_LINE + 1] = "";
    uint64_t count = 0, at = 0, begin = 0;
    if (fstat(list->fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < END_LINE)
        return fail_list(list->path, "this is not a list of smempipe", err);
    const uint64_t size = (uint64_t)status.st_size;
    SMP_TRY(read_head(list, size, &begin, err));
    SMP_TRY(read_at(list, end, END_LINE, size - END_LINE, err));
    if (sscanf(end, END_READ, &count, &at, &list->links, &list->hash.a, &list->hash.b) != 5 ||
        end[END_LINE - 1] != '\n')
        return fail_list(list->path, "the list was cut off", err);
    if (at < begin || at > size - END_LINE || (size - END_LINE - at) % PIECE_LINE ||
        (size - END_LINE - at) / PIECE_LINE != count)
        return fail_changed(list, err);
    list->count = (size_t)count;
    list->begin = begin;
    list->end = at;
    return read_pieces(list, begin, at, err);
}

smp_code smp_work_list_open(const char *path, smp_work_list **out, smp_error *err)
{
    smp_work_list *list = *out = smp_alloc(sizeof *list);
    SMP_NEED(list, "a list", sizeof *list, err);
    list->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    list->path = smp_strdup(path);
    smp_code code = SMP_OK;
    if (!list->path)
        code = smp_fail_memory(err, "a path", strlen(path));
    else if (list->fd < 0) {
        smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(errno));
        if (!strcmp(path, "-"))
            smp_hint(err, "a list is a file, of which everybody reads parts: smempipe list DIR -o FILE");
        code = smp_at(err, "%s", path);
    } else
        code = read_list(list, err);
    if (code) {
        smp_work_list_close(list);
        *out = NULL;
    }
    return code;
}

void smp_work_list_close(smp_work_list *list)
{
    if (!list)
        return;
    if (list->fd >= 0)
        close(list->fd);
    smp_free_all(list->path, list->root, list->pieces, list);
}

size_t smp_work_list_pieces(const smp_work_list *list)
{
    return list->count;
}

const smp_work_piece *smp_work_list_piece(const smp_work_list *list, size_t piece)
{
    return &list->pieces[piece];
}

const smp_hash *smp_work_list_hash(const smp_work_list *list)
{
    return &list->hash;
}

const char *smp_work_list_root(const smp_work_list *list)
{
    return list->root;
}

bool smp_work_list_links(const smp_work_list *list)
{
    return list->links > 0;
}

/* A decimal number and the space behind it; *at moves behind that. */
static bool take_number(char **at, int64_t *out)
{
    char *end;
    if (!(**at == '-' || (**at >= '0' && **at <= '9')))
        return false;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    if (errno || *end != ' ')
        return false;
    *at = end + 1;
    return true;
}

/* One line, without its end. A name that leaves the folder is none. */
static bool read_file(const smp_work_list *list, char *line, char *path, smp_texts *texts, smp_found *found)
{
    int64_t size, collision = 0;
    const size_t root = strlen(list->root);
    *found = (smp_found){.regular = true, .link = line[0] == 'l'};
    line += found->link;
    if (*line == '=' && (++line, !take_number(&line, &collision) || collision <= 0))
        return false;
    found->collision = (uint64_t)collision;
    if (!take_number(&line, &size) || size < 0 || !take_number(&line, &found->mtime) || !line[0])
        return false;
    smp_line_unescape(line, line, '\0');
    if (smp_path_leaves(line))
        return false;
    found->size = (uint64_t)size;
    const size_t length = strlen(line);
    memcpy(path + root + 1, line, length + 1);
    found->path = smp_texts_add(texts, path, root + 1 + length);
    found->name = found->path ? found->path + root + 1 : NULL;
    return true;
}

/* The hash of a piece. */
static uint64_t hash_lines(const char *text, uint64_t offset)
{
    uint64_t hash = 0;
    for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
        hash += line_hash(at, (size_t)(end - at) + 1, offset + (uint64_t)(at - text));
    return hash;
}

typedef struct lines {
    char *text, *path; /* path: the root and its slash, with room for a name */
} lines;

static smp_code read_lines(const smp_work_list *list, uint64_t offset, size_t size, lines *l, smp_error *err)
{
    const size_t root = strlen(list->root);
    *l = (lines){smp_alloc_raw(size + 1), smp_alloc_raw(root + size + 2)};
    SMP_NEED(l->text && l->path, "a piece of a list", size, err);
    l->text[size] = '\0';
    memcpy(l->path, list->root, root);
    l->path[root] = '/';
    return read_at(list, l->text, size, offset, err);
}

static void free_lines(lines *l)
{
    smp_free_all(l->text, l->path);
}

smp_code smp_work_list_read(const smp_work_list *list, size_t piece, smp_texts *texts, smp_found **found, size_t *count,
                            smp_error *err)
{
    const smp_work_piece *p = &list->pieces[piece];
    lines l;
    *found = smp_alloc_array((size_t)p->files, sizeof **found);
    *count = 0;
    smp_code code = read_lines(list, p->offset, (size_t)p->length, &l, err);
    if (!code && !*found)
        code = smp_fail_memory(err, "a piece of a list", p->files * sizeof **found);
    if (!code && hash_lines(l.text, p->offset) != p->hash)
        code = fail_changed(list, err);
    char *at = l.text, *end;
    for (; !code && *count < p->files && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        if (!read_file(list, at, l.path, texts, &(*found)[*count]))
            code = fail_list(list->path, "a line of the list does not describe a file", err);
        else if (!(*found)[(*count)++].path)
            code = smp_fail_memory(err, "a piece of a list", p->length);
    }
    if (!code && (*count != p->files || at != l.text + p->length))
        code = fail_changed(list, err);
    free_lines(&l);
    if (code) {
        smp_free(*found);
        *found = NULL;
    }
    return code;
}

smp_code smp_work_list_read_line(const smp_work_list *list, uint64_t line, smp_texts *texts, smp_found *found,
                                 smp_error *err)
{
    enum { MOST_LINES = 256, MOST_LINE = 1 << 16 }; /* bytes of most lines, and of all */
    const bool within = line >= list->begin && line < list->end;
    const uint64_t left = within ? list->end - (line - 1) : 0; /* with the end of the line before it */
    smp_code code = SMP_OK;
    bool read = false;
    for (size_t most = MOST_LINES; within && !code && !read && most <= MOST_LINE; most *= MOST_LINE / MOST_LINES) {
        lines l;
        code = read_lines(list, line - 1, left < most ? (size_t)left : most, &l, err);
        char *end = !code && l.text[0] == '\n' ? strchr(l.text + 1, '\n') : NULL;
        if (end) {
            *end = '\0';
            read = read_file(list, l.text + 1, l.path, texts, found) && found->collision < line;
        }
        free_lines(&l);
    }
    if (!code && !read)
        return fail_list(list->path, "a line of the list does not describe a file", err);
    return code || found->path ? code : smp_fail_memory(err, "a piece of a list", left);
}
