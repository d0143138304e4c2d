/* See kernel_source.h. */
#include "lab/stage/kernel_source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/whole_file.h"

enum { MOST_INCLUDES = 200, MOST_BYTES = 256 << 20 /* of all */ };

/* ------------------------------------------------------------------------------------------------ reading */

static bool within(const char *real, const smp_kernel_reach *reach)
{
    bool allowed = !reach || reach->trusted;
    for (size_t i = 0; !allowed && reach->folders[i]; i++)
        allowed = smp_path_within(real, reach->folders[i]);
    return allowed;
}

/* What the path leads to is held before it is looked at, and opened after: a device may do something when it is. */
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
        code = smp_fail(err, SMP_E_PROCESS, "it is no regular file");
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

/* ------------------------------------------------------------------------------------------------ the hash */

typedef struct hashed {
    const char *const *includes;
    size_t include_count;
    const smp_kernel_reach *reach;
    smp_sha256 *hash;
    bool *has_main;
    char *files[MOST_INCLUDES]; /* as they were named */
    size_t count, bytes;
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

/* The first that is there, as the compiler seeks it. */
static smp_code add_include(hashed *h, const char *from, const char *name, size_t length, smp_error *err)
{
    const char *slash = strrchr(from, '/');
    smp_code code = SMP_E_READ;
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
        if (known || h->count == MOST_INCLUDES) {
            smp_free(path);
            return SMP_OK;
        }
        code = smp_kernel_source_read(path, h->reach, &text, &size, &real, &why);
        if (!code)
            code = add_text(h, path, real, text, size, err);
        else if (code == SMP_E_LIMIT)
            code = SMP_OK;
        else if (code != SMP_E_READ) {
            smp_fail(err, SMP_E_DECODE, "cannot include '%.200s': %s", path, why.message);
            code = smp_at(err, "%s", from);
        }
        smp_free(real);
        smp_free(text);
        smp_free(path);
    }
    return code == SMP_E_READ ? SMP_OK : code;
}

static smp_code add_text(hashed *h, const char *path, const char *real, const char *text, size_t size, smp_error *err)
{
    smp_code code = SMP_OK;
    if (!(h->files[h->count] = smp_strdup(path)))
        return smp_fail_memory(err, "a path", strlen(path));
    h->count++;
    h->bytes += size;
    if (h->bytes > MOST_BYTES)
        return smp_fail(err, SMP_E_LIMIT, "it includes more than %d MiB", MOST_BYTES >> 20);
    smp_sha256_add(h->hash, real, strlen(real) + 1); /* which the lines of what is compiled name */
    smp_sha256_add(h->hash, &size, sizeof size);
    smp_sha256_add(h->hash, text, size);
    if (h->has_main)
        *h->has_main = *h->has_main || names_main(text, text + size);
    for (const char *line = text, *end = text + size; !code && line < end; line++) {
        const char *at = line + strspn(line, " \t"), *next = memchr(line, '\n', (size_t)(end - line));
        if (*at == '#') {
            at += 1 + strspn(at + 1, " \t");
            const bool included = !strncmp(at, "include", 7);
            at += included ? 7 + strspn(at + 7, " \t") : 0;
            const size_t length = included && (*at == '"' || *at == '<') ? strcspn(at + 1, "\">\n") : 0;
            if (length)
                code = add_include(h, path, at + 1, length, err);
        }
        line = next ? next : end;
    }
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
