/* libFuzzer entry: the data of a plain PNG, as raw deflate. Whatever ISA-L makes of it gets the checksums that it needs
 * to be taken for good; libpng, which reads the same file from a pipe, must agree. */
#include <stdlib.h>
#include <string.h>

#include <isa-l.h>
#include <zlib.h>

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WIDTH = 17, HEIGHT = 14, ROW = WIDTH * 3, RAW = HEIGHT * (ROW + 1), MOST = 1 << 12 };

static size_t chunk(uint8_t *to, const char *type, const void *data, size_t size)
{
    smp_put_be(to, (uint32_t)size, 4);
    memcpy(to + 4, type, 4);
    if (size)
        memcpy(to + 8, data, size);
    smp_put_be(to + 8 + size, (uint32_t)crc32(0, to + 4, (uInt)size + 4), 4);
    return size + 12;
}

static smp_code read_all(const uint8_t *file, size_t size, bool again, uint8_t *rows)
{
    smp_source source;
    smp_reader *reader;
    smp_read_options how = {.limits = {.max_pixels = 1 << 20, .max_memory = 1 << 26, .max_file = 1 << 24}};
    smp_error err = {0};
    smp_source_memory(&source, file, size);
    source.seekable = again;
    smp_code code = smp_reader_open_source(&source, "memory", &how, &reader, &err);
    for (int y = 0; !code && y < HEIGHT; y++)
        code = smp_reader_rows(reader, rows + y * ROW, ROW, 1, &err);
    smp_reader_close(reader);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct inflate_state z;
    uint8_t raw[RAW + 64], stream[MOST + 8], file[MOST + 200], ours[HEIGHT * ROW], theirs[HEIGHT * ROW];
    if (size > MOST)
        return 0;
    isal_inflate_init(&z);
    z.next_in = (uint8_t *)(uintptr_t)data;
    z.avail_in = (uint32_t)size;
    z.next_out = raw;
    z.avail_out = sizeof raw;
    if (isal_inflate(&z) != ISAL_DECOMP_OK || z.block_state != ISAL_BLOCK_FINISH || z.avail_in > size)
        return 0;
    const size_t made = sizeof raw - z.avail_out, n = size - z.avail_in;
    stream[0] = 0x78, stream[1] = 0x01;
    memcpy(stream + 2, data, n);
    smp_put_be(stream + 2 + n, (uint32_t)adler32(1, raw, (uInt)made), 4);

    static const uint8_t header[] = {0, 0, 0, WIDTH, 0, 0, 0, HEIGHT, 8, 2, 0, 0, 0};
    size_t at = 8;
    memcpy(file, "\x89PNG\r\n\x1A\n", 8);
    at += chunk(file + at, "IHDR", header, sizeof header);
    at += chunk(file + at, "IDAT", stream, n + 6);
    at += chunk(file + at, "IEND", NULL, 0);
    smp_code our_code = read_all(file, at, true, ours), their_code = read_all(file, at, false, theirs);
    if (our_code != their_code || (!our_code && memcmp(ours, theirs, sizeof ours) != 0))
        abort();
    if (smp_alloc_live() != 0)
        abort();
    return 0;
}
