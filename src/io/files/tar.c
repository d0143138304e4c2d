/* See tar.h. A header is a block of 512 bytes with text fields; data follows, up to a whole block. */
#include "io/files/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/files/source.h"
#include "io/files/tar_header.h"

enum {
    MOST_NAME = 4096,       /* bytes */
    MOST_HEAD = 64 << 10,   /* of what is said of a member in front of its header */
    MOST_ZEROS = 2048,      /* blocks behind the last member; tar writes 20 at most */
    MOST_MEMBER = 256 << 20 /* bytes in memory, of each file that is decoded at once */
};

typedef struct tar {
    int fd;
    uint64_t end, at; /* bytes of the file; of the next header */
    FILE *out;
    char name[MOST_NAME + 1]; /* of the next member, where it does not fit the header; "" */
    bool sized;               /* its size, likewise */
    uint64_t size;
} tar;

static smp_code fail(const tar *t, smp_error *err, const char *what)
{
    return smp_fail(err, SMP_E_DECODE, "the tar file %s, at byte %" PRIu64, what, t->at);
}

static smp_code read_at(const tar *t, uint64_t at, void *to, size_t size, smp_error *err)
{
    char text[128];
    for (size_t got = 0; got < size;) {
        const ssize_t n = pread(t->fd, (char *)to + got, size - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return smp_fail(err, SMP_E_READ, "cannot read: %s", smp_os_error(errno, text, sizeof text));
        if (n == 0)
            return fail(t, err, "is truncated");
        got += (size_t)n;
    }
    return SMP_OK;
}

/* Octal digits, or GNU's base 256, whose first bit is set. */
static bool number(const unsigned char *field, size_t size, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    if (field[0] & 0x80) {
        for (; i < size; i++) {
            if (*out >> 55)
                return false;
            *out = *out << 8 | (i ? field[i] : field[i] & 0x7f);
        }
        return true;
    }
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        *out = *out << 3 | (uint64_t)(field[i] - '0');
    return i == size || !field[i] || field[i] == ' ';
}

/* The sum of a header's bytes, its own field taken as blanks. Some programs of old summed signed bytes. */
static bool is_header(const unsigned char *head)
{
    uint64_t told;
    int64_t sum = 0, other = 0;
    for (int i = 0; i < BLOCK; i++) {
        const unsigned char byte = i >= SUM && i < SUM + SUMS ? ' ' : head[i];
        sum += byte;
        other += (signed char)byte;
    }
    return number(head + SUM, SUMS, &told) && ((int64_t)told == sum || (int64_t)told == other);
}

/* ------------------------------------------------------------------------------------------------ names */

static smp_code take_name(tar *t, const char *from, size_t length, smp_error *err)
{
    length = strnlen(from, length);
    if (length > MOST_NAME)
        return fail(t, err, "has a name of over 4096 bytes");
    memcpy(t->name, from, length);
    t->name[length] = '\0';
    return SMP_OK;
}

/* Records of pax: "30 path=a/very/long/name\n", the number being all of the record's bytes. */
static smp_code take_pax(tar *t, char *text, size_t size, smp_error *err)
{
    for (size_t at = 0; at < size;) {
        char *end;
        const unsigned long long length = strtoull(text + at, &end, 10);
        if (*end != ' ' || length > size - at || length < 5 || text[at + length - 1] != '\n')
            return fail(t, err, "has a damaged pax header");
        char *key = end + 1, *last = text + at + length - 1;
        *last = '\0';
        if (key < last && !strncmp(key, "path=", 5))
            SMP_TRY(take_name(t, key + 5, (size_t)(last - key) - 5, err));
        if (key < last && !strncmp(key, "GNU.sparse", 10))
            return fail(t, err, "has a sparse member");
        if (key < last && !strncmp(key, "size=", 5)) {
            errno = 0;
            t->size = strtoull(key + 5, &end, 10);
            t->sized = true;
            if (*end || errno || key[5] < '0' || key[5] > '9')
                return fail(t, err, "has a size that is no number");
        }
        at += length;
    }
    return SMP_OK;
}

/* What is said of the next member: a long name (L), pax (x). What is said of all (g) names none. */
static smp_code take_said(tar *t, char type, uint64_t at, uint64_t size, smp_error *err)
{
    if (type == 'g')
        return SMP_OK;
    if (size > MOST_HEAD)
        return fail(t, err, "says more than 64 KiB of one member");
    char *text = smp_alloc((size_t)size + 1);
    SMP_NEED(text, "a tar's header", size, err);
    smp_code code = read_at(t, at, text, (size_t)size, err);
    if (!code)
        code = type == 'x' ? take_pax(t, text, (size_t)size, err) : take_name(t, text, (size_t)size, err);
    smp_free(text);
    return code;
}

/* Whether a path has the part "..". */
static bool leads_up(const char *name)
{
    for (const char *at = name; (at = strstr(at, "..")); at += 2)
        if ((at == name || at[-1] == '/') && (!at[2] || at[2] == '/'))
            return true;
    return false;
}

static smp_code put_member(tar *t, const unsigned char *head, uint64_t at, uint64_t size, smp_error *err)
{
    if (!t->name[0]) {
        const char *prefix = (const char *)head + PREFIX;
        const bool split = !memcmp(head + MAGIC, "ustar\0", 6) && prefix[0]; /* GNU's "ustar " has other things there */
        snprintf(t->name, sizeof t->name, "%.*s%s%.*s", split ? 155 : 0, prefix, split ? "/" : "", NAMES,
                 (const char *)head + NAME);
    }
    const size_t length = strlen(t->name);
    if (!length || t->name[0] == '/' || leads_up(t->name))
        return fail(t, err, !length ? "has a member without a name" : "has a name that is absolute or leads upwards");
    if (t->name[length - 1] != '/') /* a folder, as tar wrote it before 1988 */
        fprintf(t->out, "%" PRIu64 " %" PRIu64 " %s%c", at, size, t->name, 0);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ members */

/* Goes over zeros; *more: there is a member behind them, which there may not be. */
static smp_code skip_end(tar *t, smp_error *err)
{
    unsigned char block[BLOCK];
    for (int i = 0; i < MOST_ZEROS && t->at + BLOCK <= t->end; i++, t->at += BLOCK) {
        SMP_TRY(read_at(t, t->at, block, BLOCK, err));
        for (int k = 0; k < BLOCK; k++)
            if (block[k])
                return fail(t, err, "goes on behind its end (tar files that were joined by cat?)");
    }
    return SMP_OK;
}

static smp_code walk_member(tar *t, const unsigned char *head, smp_error *err)
{
    const char type = (char)head[TYPE];
    const bool said = type == 'L' || type == 'x' || type == 'g', file = !type || type == '0' || type == '7';
    const uint64_t at = t->at + BLOCK;
    uint64_t size;
    if (!is_header(head) || !number(head + SIZE, NUMBERS, &size))
        return fail(t, err, "is damaged: there is no header");
    if (file && t->sized)
        size = t->size;
    if (size > t->end - at)
        return fail(t, err, "is truncated, or a size in it is wrong");
    if (said)
        SMP_TRY(take_said(t, type, at, size, err));
    else if (file)
        SMP_TRY(put_member(t, head, at, size, err));
    else if (type != '5')
        return fail(t, err,
                    type == '1' || type == '2' || type == 'K' ? "has a link, which names no samples"
                                                              : "has a member that is no file");
    if (!said) {
        t->name[0] = '\0';
        t->sized = false;
    }
    t->at = at + (size + BLOCK - 1) / BLOCK * BLOCK;
    return SMP_OK;
}

static smp_code walk(tar *t, smp_error *err)
{
    static const unsigned char zeros[BLOCK];
    unsigned char head[BLOCK];
    for (;;) {
        if (t->at + BLOCK > t->end)
            return fail(t, err, "is truncated: it has no end mark");
        SMP_TRY(read_at(t, t->at, head, BLOCK, err));
        if (!t->at && ((head[0] == 0x1f && head[1] == 0x8b) || !memcmp(head, "\x28\xb5\x2f\xfd", 4)))
            return smp_fail(err, SMP_E_DECODE, "the tar file is compressed: unpack it, its pictures are already");
        if (!memcmp(head, zeros, BLOCK))
            return skip_end(t, err);
        SMP_TRY(walk_member(t, head, err));
    }
}

bool smp_is_tar(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcasecmp(dot, ".tar");
}

smp_code smp_tar_file(const char *path, int *fd, smp_error *err)
{
    char why[128];
    struct stat status;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe by now */
    if (*fd >= 0 && fstat(*fd, &status) == 0 && S_ISREG(status.st_mode))
        return SMP_OK;
    smp_fail(err, SMP_E_READ, "cannot open: %s",
             *fd < 0 ? smp_os_error(errno, why, sizeof why) : "it is no regular file");
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return SMP_E_READ;
}

smp_code smp_tar_index(int file, char **text, size_t *size, smp_error *err)
{
    char why[128];
    struct stat status;
    tar t = {.fd = file};
    *text = NULL;
    if (fstat(file, &status) != 0)
        return smp_fail(err, SMP_E_READ, "cannot read: %s", smp_os_error(errno, why, sizeof why));
    t.end = (uint64_t)status.st_size;
    t.out = open_memstream(text, size);
    smp_code code = t.out ? walk(&t, err) : smp_fail_memory(err, "a tar's index", 0);
    if (t.out && fclose(t.out) != 0 && !code)
        code = smp_fail_memory(err, "a tar's index", *size);
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------ one member */

smp_code smp_tar_open(int file, uint64_t at, uint64_t size, int *fd, smp_error *err)
{
    char text[128];
    smp_code code = SMP_OK;
    off_t next = (off_t)at;
    *fd = -1;
    if (size > MOST_MEMBER)
        return smp_fail(err, SMP_E_LIMIT, "a member of %llu bytes", (unsigned long long)size);
    if ((*fd = memfd_create("member", MFD_CLOEXEC)) < 0)
        return smp_fail(err, SMP_E_PROCESS, "no memory for a member: %s", smp_os_error(errno, text, sizeof text));
    for (uint64_t left = size; !code && left;) {
        const ssize_t n = sendfile(*fd, file, &next, left);
        if (n > 0)
            left -= (uint64_t)n;
        else if (!n)
            code = smp_fail(err, SMP_E_READ, "the tar file ends early");
        else if (errno != EINTR)
            code = smp_fail(err, SMP_E_PROCESS, "cannot read: %s", smp_os_error(errno, text, sizeof text));
    }
    if (code) {
        close(*fd);
        *fd = -1;
    }
    return code;
}
