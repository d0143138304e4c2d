/* One decoder under fuzzing: reads whatever begins like that format, in memory, under small limits. Build:
 * cmake --preset fuzz. */
#ifndef SMP_TESTS_FUZZ_MEDIA_H
#define SMP_TESTS_FUZZ_MEDIA_H

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* For libraries that leak what a damaged file made of their memory; fuzz_media() counts our own. Weak, since
 * mutations.c has all targets in one program. */
const char *__asan_default_options(void);
#define FUZZ_WITHOUT_LEAKS                                                                                             \
    __attribute__((weak)) const char *__asan_default_options(void)                                                     \
    {                                                                                                                  \
        return "detect_leaks=0";                                                                                       \
    }

/* One picture, into a buffer of exactly the size of its rows. */
static inline bool fuzz_rows(smp_reader *reader)
{
    smp_error err = {0};
    const smp_media *media = smp_reader_media(reader);
    const smp_shape *shape = media->scan.shape.kind ? &media->scan.shape : &media->shape;
    int64_t row = smp_row_bytes(shape);
    void *rows = malloc((size_t)row * 3);
    bool good = rows;
    for (int64_t y = 0; good && y < shape->height; y += 3) {
        int64_t n = shape->height - y < 3 ? shape->height - y : 3;
        good = smp_reader_rows(reader, rows, row, n, &err) == SMP_OK;
    }
    free(rows);
    return good;
}

/* Reads all rows; then everything must be free again. how: what else is asked for. */
static inline void fuzz_media_as(const uint8_t *data, size_t size, smp_read_options how)
{
    enum { MOST_PICTURES = 20 };
    how.limits.max_pixels = 1 << 20;
    how.limits.max_memory = 1 << 26;
    how.limits.max_file = 1 << 24;
    smp_alloc_limit(UINT64_C(1) << 28);
    smp_error err = {0};
    smp_reader *reader;
    if (smp_reader_open_memory(data, size, &how, &reader, &err) == SMP_OK) {
        bool more = fuzz_rows(reader) && how.frames;
        for (int i = 1; more && i < MOST_PICTURES; i++)
            more = smp_reader_next(reader, &more, &err) == SMP_OK && more && fuzz_rows(reader);
    }
    smp_reader_close(reader);
    if (smp_alloc_live() != 0)
        abort();
}

static inline void fuzz_media_from(const uint8_t *data, size_t size, uint64_t scan_from)
{
    fuzz_media_as(data, size, (smp_read_options){.want.scan_from = scan_from});
}

static inline void fuzz_media(const uint8_t *data, size_t size)
{
    fuzz_media_from(data, size, 0);
}

/* Of a sound all of it as it is coded, and a part, whose place is that of two bytes. */
static inline void fuzz_coded(const uint8_t *data, size_t size)
{
    smp_read_want want = {.coded = true};
    fuzz_media_as(data, size, (smp_read_options){.want = want});
    want.from = data[size / 2] * 8;
    want.part = 1 + data[size / 3] * 8;
    fuzz_media_as(data, size, (smp_read_options){.want = want});
}

/* Every picture of an animation. */
static inline void fuzz_frames(const uint8_t *data, size_t size)
{
    fuzz_media_as(data, size, (smp_read_options){.frames = true});
}

/* An entry for files that are of one format by their beginning, and calls that are made with them. */
#define FUZZ_FORMAT(format, ...)                                                                                       \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                                       \
    {                                                                                                                  \
        if (smp_format_sniff(data, size) == &(format))                                                                 \
            (__VA_ARGS__);                                                                                             \
        return 0;                                                                                                      \
    }

#endif
