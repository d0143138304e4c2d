/* What tests of files share: a folder of their own, pictures of any shape, whole files in and out. */
#ifndef SMP_TESTS_MEDIA_FIXTURE_H
#define SMP_TESTS_MEDIA_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/format.h"

#define UNUSED __attribute__((unused))

static char folder[64];

/* A path in the test's folder; four at a time are valid. */
static UNUSED const char *in_folder(const char *name)
{
    static char paths[4][320];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static UNUSED int make_folder(void **context)
{
    (void)context;
    snprintf(folder, sizeof folder, "/tmp/smempipe-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static UNUSED int count_files(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return n;
}

static UNUSED void clear_folder(void)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}

static UNUSED int remove_folder(void **context)
{
    (void)context;
    clear_folder();
    return rmdir(folder);
}

typedef struct picture {
    smp_shape shape;
    uint8_t *data; /* tightly packed, malloc */
    size_t row, size;
} picture;

static UNUSED picture new_picture(int64_t width, int64_t height, int channels, bool alpha, smp_format format)
{
    picture p = {.shape = {.kind = SMP_IMAGE,
                           .width = width,
                           .height = height,
                           .channels = channels,
                           .alpha = alpha,
                           .format = format}};
    p.row = (size_t)smp_row_bytes(&p.shape);
    p.size = p.row * (size_t)height;
    p.data = calloc(1, p.size + 1);
    assert_non_null(p.data);
    return p;
}

/* Values that differ from place to place, smooth enough for JPEG. */
static UNUSED picture make_picture(int64_t width, int64_t height, int channels, bool alpha, smp_format format)
{
    picture p = new_picture(width, height, channels, alpha, format);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            for (int c = 0; c < channels; c++) {
                int64_t i = (y * width + x) * channels + c, v = x * 7 + y * 5 + c * 40;
                if (format == SMP_U8)
                    p.data[i] = (uint8_t)v;
                else if (format == SMP_U16)
                    ((uint16_t *)(void *)p.data)[i] = (uint16_t)(v * 259 + 3);
                else
                    ((float *)(void *)p.data)[i] = (float)v / 100.f - 0.3f;
            }
    return p;
}

static UNUSED void free_picture(picture *p)
{
    free(p->data);
    p->data = NULL;
}

static UNUSED smp_code write_with(const char *path, const picture *p, const smp_meta *meta,
                                  const smp_write_options *options, smp_error *err)
{
    smp_writer *writer;
    smp_code code = smp_writer_open(path, &p->shape, meta, options, &writer, err);
    if (code != SMP_OK) {
        assert_null(writer);
        return code;
    }
    for (int64_t y = 0; y < p->shape.height && code == SMP_OK; y += 3) {
        int64_t rows = p->shape.height - y < 3 ? p->shape.height - y : 3;
        code = smp_writer_rows(writer, p->data + (size_t)y * p->row, (int64_t)p->row, rows, err);
    }
    if (code == SMP_OK)
        return smp_writer_commit(writer, err);
    smp_writer_abort(writer);
    return code;
}

static UNUSED smp_code write_picture(const char *path, const picture *p, smp_error *err)
{
    smp_write_options options = smp_write_options_default();
    options.force = true;
    return write_with(path, p, NULL, &options, err);
}

/* Reads the rest of an opened reader, two rows at a time, into a buffer with padding that must stay untouched. */
static UNUSED smp_code read_rest(smp_reader *reader, picture *p, smp_error *err)
{
    enum { PAD = 24 };
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    *p = new_picture(shape->width, shape->height, shape->channels, shape->alpha, shape->format);
    p->shape = *shape;
    size_t stride = p->row + PAD;
    uint8_t *rows = malloc(2 * stride);
    assert_non_null(rows);
    smp_code code = SMP_OK;
    for (int64_t y = 0; y < shape->height && code == SMP_OK; y += 2) {
        int64_t n = shape->height - y < 2 ? 1 : 2;
        memset(rows, 0xA5, 2 * stride);
        code = smp_reader_rows(reader, rows, (int64_t)stride, n, err);
        for (int64_t i = 0; i < n; i++) {
            memcpy(p->data + (size_t)(y + i) * p->row, rows + (size_t)i * stride, p->row);
            for (size_t k = 0; k < PAD; k++)
                assert_int_equal(rows[(size_t)i * stride + p->row + k], 0xA5);
        }
    }
    free(rows);
    if (code != SMP_OK)
        free_picture(p);
    return code;
}

/* *p is empty on failure. */
static UNUSED smp_code read_picture(const char *path, picture *p, smp_error *err)
{
    smp_reader *reader;
    smp_limits limits = smp_limits_default();
    *p = (picture){0};
    smp_code code = smp_reader_open(path, &limits, &reader, err);
    if (code == SMP_OK)
        code = read_rest(reader, p, err);
    smp_reader_close(reader);
    return code;
}

static UNUSED smp_code read_memory(const void *data, size_t size, picture *p, smp_error *err)
{
    smp_reader *reader;
    smp_limits limits = smp_limits_default();
    *p = (picture){0};
    smp_code code = smp_reader_open_memory(data, size, &limits, &reader, err);
    if (code == SMP_OK)
        code = read_rest(reader, p, err);
    smp_reader_close(reader);
    return code;
}

static UNUSED uint8_t *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

static UNUSED void store(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#define assert_ok(expression)                                                                                          \
    do {                                                                                                               \
        if ((expression) != SMP_OK)                                                                                    \
            fail_msg("%s: %s: %s (%s)", #expression, err.where, err.message, err.hint);                                \
    } while (0)

/* Reads a picture and its notes, one line each. */
static UNUSED void read_with_notes(const uint8_t *file, size_t size, picture *p, char *notes, size_t room)
{
    smp_error err = {0};
    smp_reader *reader;
    smp_limits limits = smp_limits_default();
    assert_ok(smp_reader_open_memory(file, size, &limits, &reader, &err));
    assert_ok(read_rest(reader, p, &err));
    notes[0] = '\0';
    for (int i = 0; i < smp_reader_notes(reader)->count; i++) {
        strncat(notes, smp_reader_notes(reader)->items[i], room - strlen(notes) - 2);
        strcat(notes, "\n");
    }
    smp_reader_close(reader);
}

static UNUSED void assert_same_picture(const picture *a, const picture *b)
{
    assert_int_equal(a->shape.width, b->shape.width);
    assert_int_equal(a->shape.height, b->shape.height);
    assert_int_equal(a->shape.channels, b->shape.channels);
    assert_int_equal(a->shape.alpha, b->shape.alpha);
    assert_int_equal(a->shape.format, b->shape.format);
    assert_memory_equal(a->data, b->data, a->size);
}

/* The file, which lies in memory, holds these samples. */
static UNUSED void expect_bytes(const char *file, size_t size, const void *samples, size_t bytes, smp_format format)
{
    smp_error err = {0};
    picture p;
    assert_ok(read_memory(file, size, &p, &err));
    assert_int_equal(p.size, bytes);
    assert_int_equal(p.shape.format, format);
    assert_memory_equal(p.data, samples, bytes);
    free_picture(&p);
}

#define FILE_OF(text) text, sizeof(text) - 1

/* Each truncation of the file, at every step-th byte, is an error. */
static UNUSED void assert_truncations_fail(const char *path, size_t step)
{
    size_t size;
    uint8_t *data = load(path, &size);
    for (size_t n = 0; n < size; n += step) {
        smp_error err = {0};
        picture p;
        uint8_t *exact = malloc(n ? n : 1); /* of this size, so that reading past it is seen */
        assert_non_null(exact);
        memcpy(exact, data, n);
        smp_code code = read_memory(exact, n, &p, &err);
        if (code != SMP_E_DECODE)
            fail_msg("%zu of %zu bytes of %s: code %d, %s", n, size, path, code, err.message);
        assert_true(err.message[0] && err.where[0]);
        free(exact);
    }
    free(data);
}

/* Reading with the Nth allocation failing, for each N, gives an error or the right picture, and leaks nothing. */
static UNUSED void assert_allocation_failures_are_clean(const char *path)
{
    smp_error err = {0};
    picture good, p;
    assert_ok(read_picture(path, &good, &err));
    uint64_t live = smp_alloc_live();
    for (uint64_t n = 1;; n++) {
        smp_alloc_fail_at(n);
        uint64_t before = smp_alloc_count();
        smp_code code = read_picture(path, &p, &err);
        uint64_t made = smp_alloc_count() - before;
        smp_alloc_fail_at(0);
        assert_int_equal(smp_alloc_live(), live);
        if (code == SMP_OK)
            assert_same_picture(&good, &p);
        else
            assert_int_equal(code, SMP_E_MEMORY);
        free_picture(&p);
        if (made < n)
            break;
        assert_true(n < 5000);
    }
    free_picture(&good);
}

#endif
