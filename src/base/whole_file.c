/* See whole_file.h. */
#include "base/whole_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

smp_code smp_read_stream(FILE *stream, size_t most, char **text, size_t *size, smp_error *err)
{
    enum { PORTION = 1 << 16 };
    size_t capacity = 0, got = 0;
    *text = NULL;
    *size = 0;
    do {
        SMP_NEED(smp_grow(text, &capacity, *size + PORTION + 1, 1), "a file", *size + PORTION, err);
        errno = 0;
        got = fread(*text + *size, 1, PORTION, stream);
        *size += got;
        (*text)[*size] = '\0';
    } while (got && *size <= most);
    if (ferror(stream))
        return smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(errno));
    return *size > most ? smp_fail(err, SMP_E_LIMIT, "the file has more than %zu MiB", most >> 20) : SMP_OK;
}

smp_code smp_read_file(const char *path, size_t most, char **text, size_t *size, smp_error *err)
{
    *text = NULL;
    *size = 0;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(errno));
    const smp_code code = smp_read_stream(file, most, text, size, err);
    fclose(file);
    return code;
}

bool smp_write_whole(int fd, const void *data, size_t size)
{
    for (const char *from = data; size;) {
        const ssize_t wrote = write(fd, from, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            errno = wrote < 0 ? errno : EIO;
            return false;
        }
        from += wrote;
        size -= (size_t)wrote;
    }
    return true;
}
