/* libFuzzer target for indexes of tar files: any bytes must give an error, or members that lie inside the file, under
 * names that lead nowhere. Sums of headers, which would keep a fuzzer out, are mended first. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/files/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend_sums(uint8_t *file, size_t size)
{
    for (size_t at = 0; at + 512 <= size; at += 512) {
        unsigned sum = 8 * ' ';
        for (size_t i = 0; i < 512; i++)
            sum += i < 148 || i >= 156 ? file[at + i] : 0;
        if (!memcmp(file + at + 257, "ustar", 5))
            snprintf((char *)file + at + 148, 8, "%06o", sum);
    }
}

static bool leads_away(const char *name)
{
    char around[8192];
    snprintf(around, sizeof around, "/%s/", name);
    return name[0] == '/' || strstr(around, "/../");
}

/* Members follow each other: the data of one lies behind that of the one before. */
static void check(const char *text, size_t length, size_t size)
{
    uint64_t offset, bytes, before = 0;
    for (const char *at = text, *end = text + length; at < end; at += strlen(at) + 1, before = offset + bytes) {
        char *name; /* which may begin with a blank */
        offset = strtoumax(at, &name, 10);
        bytes = strtoumax(name, &name, 10);
        if (*name != ' ' || offset > size || bytes > size - offset || offset < before + 512 || leads_away(name + 1))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = smp_alloc(size + 1);
    const int fd = memfd_create("tar", MFD_CLOEXEC);
    char *text = NULL;
    size_t length = 0;
    smp_error err;
    if (!file || fd < 0)
        abort();
    memcpy(file, data, size);
    mend_sums(file, size);
    if (write(fd, file, size) != (ssize_t)size)
        abort();
    if (!smp_tar_index(fd, &text, &length, &err))
        check(text, length, size);
    free(text);
    close(fd);
    smp_free(file);
    return 0;
}
