/* Writes tar files: see tar.h. A header is a block of 512 bytes; data is filled up with zeros to a whole block. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/files/source.h"
#include "io/files/tar.h"
#include "io/files/tar_header.h"

enum { PART = 64 << 10 /* bytes that are copied at once */ };
#define MOST UINT64_C(077777777777) /* bytes of a member that a header's digits hold */

static smp_code put_block(smp_output *to, const char *name, char type, uint64_t size, smp_error *err)
{
    char head[BLOCK] = {0}, digits[24];
    unsigned sum = 0;
    memcpy(head, name, strnlen(name, NAMES));
    memcpy(head + MODE, "0000644", 8);
    memcpy(head + OWNER,
           "0000000\0"
           "0000000",
           16); /* and group */
    snprintf(digits, sizeof digits, "%011" PRIo64, size);
    memcpy(head + SIZE, digits, 11);
    snprintf(head + TIME, 12, "%011o", 0U);
    head[TYPE] = type;
    memcpy(head + MAGIC,
           "ustar\0"
           "00",
           8);
    memset(head + SUM, ' ', SUMS);
    for (int i = 0; i < BLOCK; i++)
        sum += (unsigned char)head[i];
    snprintf(head + SUM, SUMS, "%06o", sum);
    return smp_output_write(to, head, BLOCK, err);
}

static smp_code fill_up(smp_output *to, uint64_t size, smp_error *err)
{
    static const char zeros[BLOCK];
    return size % BLOCK ? smp_output_write(to, zeros, BLOCK - size % BLOCK, err) : SMP_OK;
}

static smp_code put_data(smp_output *to, const void *data, size_t size, smp_error *err)
{
    SMP_TRY(smp_output_write(to, data, size, err));
    return fill_up(to, size, err);
}

/* A record of pax, "30 path=NAME\n", counts its own digits. Null without memory. */
static char *record(const char *key, const char *value)
{
    const size_t rest = strlen(key) + strlen(value) + 3;
    char digits[24];
    size_t length = rest + 1;
    while ((size_t)snprintf(digits, sizeof digits, "%zu", length) + rest != length)
        length++;
    return smp_asprintf("%zu %s=%s\n", length, key, value);
}

static smp_code put_record(smp_output *to, const char *key, const char *value, smp_error *err)
{
    char *text = record(key, value);
    SMP_NEED(text, "a tar's header", strlen(value), err);
    smp_code code = put_block(to, "pax", 'x', strlen(text), err);
    code = code ? code : put_data(to, text, strlen(text), err);
    smp_free(text);
    return code;
}

/* The headers of a member. */
static smp_code begin(smp_output *to, const char *name, uint64_t size, smp_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, size);
    if (strlen(name) > NAMES)
        SMP_TRY(put_record(to, "path", name, err));
    if (size > MOST)
        SMP_TRY(put_record(to, "size", text, err));
    return put_block(to, name, '0', size > MOST ? 0 : size, err);
}

smp_code smp_tar_copy(smp_output *to, const char *name, int fd, uint64_t at, uint64_t size, smp_error *err)
{
    char part[PART], text[128];
    SMP_TRY(begin(to, name, size, err));
    for (uint64_t done = 0; done < size;) {
        const size_t want = (size_t)smp_min_u64(PART, size - done);
        const ssize_t n = pread(fd, part, want, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return smp_fail(err, SMP_E_READ, n ? "cannot read: %s" : "the tar file ends early%s",
                            n ? smp_os_error(errno, text, sizeof text) : "");
        done += (size_t)n;
        SMP_TRY(smp_output_write(to, part, (size_t)n, err));
    }
    return fill_up(to, size, err);
}

smp_code smp_tar_end(smp_output *to, smp_error *err)
{
    static const char zeros[2 * BLOCK];
    return smp_output_write(to, zeros, sizeof zeros, err);
}
