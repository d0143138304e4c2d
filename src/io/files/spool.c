/* Reads a pipe to its end, for headers that cannot be read in order. The first bytes stay in memory; a longer input
 * goes to an unnamed file. So memory is constant, and nothing is left behind however the program ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/whole_file.h"
#include "io/files/source.h"

enum { MOST_IN_MEMORY = 8 << 20 /* bytes */ };

/* -1 where the folder takes no files. */
static int open_nameless(const char *folder)
{
    char path[4096];
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (file >= 0)
        return file;
    if ((size_t)snprintf(path, sizeof path, "%s/smempipe-XXXXXX", folder) >= sizeof path)
        return -1;
    int named = mkostemp(path, O_CLOEXEC);
    if (named >= 0)
        unlink(path);
    return named;
}

static int open_spool(const char **folder)
{
    const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        int file = folders[i] && folders[i][0] ? open_nameless(folders[i]) : -1;
        *folder = folders[i];
        if (file >= 0)
            return file;
    }
    return -1;
}

int smp_spool_file(void)
{
    const char *folder;
    return open_spool(&folder);
}

/* The file that was opened for it, or one of its own. */
static int take_spool(smp_source *source, const char **folder)
{
    const int file = source->spool_file;
    if (file <= 0)
        return open_spool(folder);
    source->spool_file = 0;
    *folder = "the folder of temporary files";
    return file;
}

smp_code smp_spool_put(int file, const char *folder, const void *from, size_t size, smp_error *err)
{
    char text[128];
    if (smp_write_whole(file, from, size))
        return SMP_OK;
    smp_fail(err, SMP_E_READ, "cannot keep the input%s%s: %s", folder ? " in " : "", folder ? folder : "",
             smp_os_error(errno, text, sizeof text));
    return smp_hint(err, "set TMPDIR to a folder with more room, or give the input as a file");
}

/* Moves what was read so far, and all that follows, into the file, which becomes the source's. */
static smp_code go_on_in_file(smp_source *source, int file, const char *folder, uint8_t *begun, size_t used,
                              smp_error *err)
{
    uint64_t size = used;
    smp_code code = smp_spool_put(file, folder, begun, used, err);
    for (size_t got; code == SMP_OK && (got = smp_source_read(source, begun, MOST_IN_MEMORY)) > 0; size += got)
        code = smp_spool_put(file, folder, begun, got, err);
    if (code == SMP_OK && (source->failed || source->over_limit))
        code = smp_source_ended(source, err);
    if (code != SMP_OK) {
        close(file);
        return code;
    }
    if (source->owned)
        close(source->fd);
    source->fd = file;
    source->owned = true;
    source->size = size;
    source->seekable = true;
    return SMP_OK;
}

/* Bytes of a pipe that were read ahead. */
typedef struct ahead {
    uint8_t *data;
    size_t size, capacity;
    bool whole; /* the input ended with them */
} ahead;

/* Reads until there are `most` bytes or the input ends. On failure nothing is kept. */
static smp_code gather(smp_source *source, size_t most, ahead *a, smp_error *err)
{
    size_t got = 1;
    smp_code code = SMP_OK;
    while (got && a->size < most && code == SMP_OK) {
        const size_t portion = (size_t)smp_min_u64(most - a->size, SMP_SOURCE_BUFFER);
        if (!smp_grow(&a->data, &a->capacity, a->size + portion, 1)) {
            code = smp_fail_memory(err, "standard input", a->size + portion);
        } else {
            got = smp_source_read(source, a->data + a->size, (size_t)smp_min_u64(a->capacity, most) - a->size);
            a->size += got;
        }
    }
    if (code == SMP_OK && (source->failed || source->over_limit))
        code = smp_source_ended(source, err);
    a->whole = !got || source->at_end;
    if (code != SMP_OK) {
        smp_free(a->data);
        *a = (ahead){0};
    }
    return code;
}

static void keep_whole(smp_source *source, const ahead *a)
{
    source->memory = source->spooled = a->data;
    source->begin = 0;
    source->end = a->size;
    source->size = a->size;
    source->position = 0;
    source->seekable = true;
}

smp_code smp_source_spool(smp_source *source, smp_error *err)
{
    ahead a = {0};
    if (source->seekable)
        return SMP_OK;
    smp_source_keep_no_more(source);
    SMP_TRY(gather(source, MOST_IN_MEMORY, &a, err));
    smp_code code = SMP_OK;
    const char *folder;
    const int file = a.whole ? -1 : take_spool(source, &folder);
    if (file >= 0) {
        code = go_on_in_file(source, file, folder, a.data, a.size, err);
        smp_free(a.data);
        if (code == SMP_OK && !smp_source_seek(source, 0))
            code = smp_fail(err, SMP_E_READ, "cannot read back the input that was kept in %s", folder);
        return code;
    }
    if (!a.whole) /* no folder accepts a file */
        code = gather(source, SIZE_MAX, &a, err);
    if (code == SMP_OK)
        keep_whole(source, &a);
    return code;
}

smp_code smp_source_read_ahead(smp_source *source, size_t most, smp_error *err)
{
    ahead a = {0};
    if (source->seekable)
        return SMP_OK;
    SMP_TRY(gather(source, most, &a, err));
    if (a.whole) {
        keep_whole(source, &a);
        return SMP_OK;
    }
    const size_t rest = source->end - source->begin; /* read into the buffer, and not yet taken out of it */
    if (!smp_grow(&a.data, &a.capacity, a.size + rest, 1)) {
        smp_free(a.data);
        return smp_fail_memory(err, "standard input", a.size + rest);
    }
    memcpy(a.data + a.size, source->buffer + source->begin, rest);
    a.size += rest;
    smp_free(source->buffer);
    source->buffer = a.data;
    source->begin = 0;
    source->end = a.size;
    source->position = 0;
    return SMP_OK;
}
