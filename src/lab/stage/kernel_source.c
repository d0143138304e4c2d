/* See kernel_source.h. */
#include "lab/stage/kernel_source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/whole_file.h"

enum {
    MOST_INCLUDES = 5000,
    MOST_DEPTH = 200 /* as compilers have it */,
    MOST_BYTES = 256 << 20 /* of all */,
    MOST_NAMES = 1 << 18
};

static bool within(const char *real, const smp_kernel_reach *reach)
{
    bool allowed = !reach || reach->trusted;
    for (size_t i = 0; !allowed && reach->folders[i]; i++)
        allowed = smp_path_within(real, reach->folders[i]);
    return allowed;
}

/* Holds the path's target before it is looked at, and opens it after: opening a device may have effects. */
smp_code smp_kernel_source_read(const char *path, const smp_kernel_reach *reach, char **text, size_t *size, char **real,
                                smp_error *err)
{
    struct stat status;
    char way[40], where[PATH_MAX];
    *text = NULL;
    *size = 0;
    const int held = open(path, O_PATH | O_CLOEXEC);
    if (held < 0)
        return smp_fail(err, SMP_E_READ, "cannot open it: %s", strerror(errno));
    snprintf(way, sizeof way, "/proc/self/fd/%d", held);
    const ssize_t length = readlink(way, where, sizeof where - 1);
    where[length > 0 ? length : 0] = '\0';
    smp_code code = SMP_OK;
    if (length <= 0)
        code = smp_fail(err, SMP_E_PROCESS, "cannot tell which file it is: /proc is not there");
    else if (!within(where, reach))
        code = smp_fail(err, SMP_E_LIMIT, "it lies outside the pipe file's folder");
    else if (fstat(held, &status) != 0 || !S_ISREG(status.st_mode))
        code = smp_fail(err, SMP_E_PROCESS, "it is not a regular file");
    else
        code = smp_read_file(way, SMP_KERNEL_SOURCE_MOST, text, size, err);
    close(held);
    if (!code && real && !(*real = smp_strdup(where)))
        code = smp_fail_memory(err, "a path", PATH_MAX);
    if (code) {
        smp_free(*text);
        *text = NULL;
    }
    return code;
}

typedef struct hashed {
    const char *const *includes;
    size_t include_count;
    const smp_kernel_reach *reach;
    smp_sha256 *hash;
    bool *has_main;
    char *files[MOST_INCLUDES]; /* as they were named */
    size_t count, bytes, depth, names;
} hashed;

/* Whether code (no comment and no text) has the word main, or a macro's name that ends so: CATCH_CONFIG_MAIN. */
static bool names_main(const char *at, const char *end)
{
    char word[8] = "";
    size_t letters = 0;
    for (; at < end; at++) {
        if (*at == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*')) {
            const char *begin = at;
            for (at += 2; at < end && !(begin[1] == '/' ? *at == '\n' : *at == '/' && at[-1] == '*' && at - begin > 2);)
                at++;
        } else if (*at == '"')
            for (at++; at < end && *at != '"' && *at != '\n'; at++)
                at += *at == '\\';
        if (at < end && isalnum((unsigned char)*at)) {
            word[letters < sizeof word - 1 ? letters++ : letters] = (char)toupper((unsigned char)*at);
            continue;
        }
        if (letters == 4 && !memcmp(word, "MAIN", 4))
            return true;
        letters = 0;
    }
    return false;
}

static smp_code add_text(hashed *h, const char *path, const char *real, const char *text, size_t size, smp_error *err);

/* The first that is there, as the compiler seeks it. plain: a directive that names it includes it; otherwise one may.
 */
static smp_code add_include(hashed *h, const char *from, const char *name, size_t length, bool plain, smp_error *err)
{
    const char *slash = strrchr(from, '/');
    smp_code code = SMP_E_READ;
    if (++h->names > MOST_NAMES)
        return smp_fail(err, SMP_E_LIMIT, "its directives name more than %d files", MOST_NAMES);
    for (size_t i = 0; code == SMP_E_READ && i <= h->include_count; i++) {
        char *text, *real = NULL;
        size_t size;
        smp_error why = {0};
        char *path = name[0] == '/' ? smp_strndup(name, length)
                     : i            ? smp_asprintf("%s/%.*s", h->includes[i - 1], (int)length, name)
                         : smp_asprintf("%.*s%.*s", slash ? (int)(slash - from) + 1 : 0, from, (int)length, name);
        bool known = !path;
        for (size_t k = 0; path && k < h->count; k++)
            known = known || !strcmp(h->files[k], path);
        if (known || h->depth == MOST_DEPTH) {
            smp_free(path);
            return SMP_OK;
        }
        code = smp_kernel_source_read(path, h->reach, &text, &size, &real, &why);
        if (!code)
            code = add_text(h, path, real, text, size, err);
        else if (code == SMP_E_LIMIT || !plain)
            code = code == SMP_E_READ ? code : SMP_OK;
        else if (code != SMP_E_READ) {
            smp_fail(err, SMP_E_DECODE, "cannot include '%.200s': %s", path, why.message);
            code = smp_at(err, "%s", from);
        }
        smp_free_all(real, text, path);
    }
    return code == SMP_E_READ ? SMP_OK : code;
}

/* Without the ends of lines that a backslash continues; from smp_alloc. */
static char *join_lines(const char *text, size_t size)
{
    char *copy = smp_alloc(size + 1), *to = copy;
    for (size_t i = 0; copy && i < size; i++)
        if (text[i] == '\\' && (text[i + 1] == '\n' || (text[i + 1] == '\r' && text[i + 2] == '\n')))
            i += text[i + 1] == '\n' ? 1 : 2;
        else
            *to++ = text[i] ? text[i] : ' ';
    return copy;
}

/* #include "util.h", with blanks alone in between. *name: behind the quote. */
static bool is_plain(const char *line, const char **name)
{
    const char *at = line + strspn(line, " \t");
    if (*at != '#')
        return false;
    at += 1 + strspn(at + 1, " \t");
    if (strncmp(at, "include", 7) != 0)
        return false;
    at += 7 + strspn(at + 7, " \t");
    *name = at + 1;
    return *at == '"' || *at == '<';
}

/* Adds what a line includes or may include: names in quotes behind a '#', "%:" or "import", as of a macro that a
 * directive includes, of __has_include, of a directive behind a comment. Each quote may be a first one. */
static smp_code add_line(hashed *h, const char *path, const char *line, const char *end, smp_error *err)
{
    const char *name = NULL, *at;
    smp_code code = SMP_OK;
    if (is_plain(line, &name)) {
        const size_t length = strcspn(name, "\">\n");
        return length ? add_include(h, path, name, length, true, err) : SMP_OK;
    }
    for (at = line; at < end && *at != '#' && strncmp(at, "%:", 2) != 0 && strncmp(at, "import", 6) != 0; at++)
        ;
    for (; !code && at < end; at++) {
        const size_t length = *at == '"' ? strcspn(at + 1, "\"\n") : *at == '<' ? strcspn(at + 1, "<>\"\n") : 0;
        const bool closed = length && at[1 + length] == (*at == '"' ? '"' : '>');
        if (closed && length < NAME_MAX && (*at == '"' || memchr(at + 1, '.', length)))
            code = add_include(h, path, at + 1, length, false, err);
    }
    return code;
}

static smp_code add_text(hashed *h, const char *path, const char *real, const char *text, size_t size, smp_error *err)
{
    if (h->count == MOST_INCLUDES)
        return smp_fail(err, SMP_E_LIMIT, "it includes more than %d files", MOST_INCLUDES);
    SMP_NEED(h->files[h->count] = smp_strdup(path), "a path", strlen(path), err);
    h->count++;
    h->bytes += size;
    if (h->bytes > MOST_BYTES)
        return smp_fail(err, SMP_E_LIMIT, "it includes more than %d MiB", MOST_BYTES >> 20);
    smp_sha256_add(h->hash, real, strlen(real) + 1); /* which the lines of what is compiled name */
    smp_sha256_add(h->hash, &size, sizeof size);
    smp_sha256_add(h->hash, text, size);
    if (h->has_main)
        *h->has_main = *h->has_main || names_main(text, text + size);
    char *copy = join_lines(text, size);
    smp_code code = copy ? SMP_OK : smp_fail_memory(err, "a source", size);
    h->depth++;
    for (const char *line = copy; !code && *line;) {
        const size_t length = strcspn(line, "\r\n");
        code = add_line(h, path, line, line + length, err);
        line += length + (line[length] != '\0');
    }
    h->depth--;
    smp_free(copy);
    return code;
}

smp_code smp_kernel_source_hash(const char *path, const char *text, size_t size, const char *const *includes,
                                size_t include_count, const smp_kernel_reach *reach, smp_sha256 *hash, bool *has_main,
                                smp_error *err)
{
    hashed h = {
        .includes = includes, .include_count = include_count, .reach = reach, .hash = hash, .has_main = has_main};
    char *real = smp_real_path(path);
    const smp_code code = real ? add_text(&h, path, real, text, size, err) : smp_fail_memory(err, "a path", PATH_MAX);
    for (size_t i = 0; i < h.count; i++)
        smp_free(h.files[i]);
    smp_free(real);
    return code;
}
