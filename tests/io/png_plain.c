/* Plain PNGs are read without libpng where the file can be read twice, and through libpng from a pipe: both must give
 * the same rows, or refuse the same files. */
#include "suite.h"

#include "media_fixture.h"
#include "png_bytes.h"

#include <zlib.h>

#include "io/format.h"
#include "io/png/png_filter.h"

typedef struct kind {
    int colour, depth, width, height, filters, window_bits, level, chunk; /* chunk: bytes of an IDAT at most */
} kind;

/* Smooth enough that filters differ, rough enough that matches are found and missed. */
static uint8_t byte_at(int x, int y)
{
    return (uint8_t)(x * 3 + y * 5 + (int)((uint32_t)(x * 31 + y * 17) * 2654435761u >> 29));
}

static void compose(bytes *file, const kind *k)
{
    file->size = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, file, keep, flush);
    png_set_IHDR(png, info, (png_uint_32)k->width, (png_uint_32)k->height, k->depth, k->colour, PNG_INTERLACE_NONE, 0,
                 0);
    png_set_filter(png, 0, k->filters);
    png_set_compression_level(png, k->level);
    if (k->window_bits)
        png_set_compression_window_bits(png, k->window_bits);
    if (k->chunk)
        png_set_compression_buffer_size(png, (size_t)k->chunk);
    png_write_info(png, info);
    size_t row_bytes = png_get_rowbytes(png, info);
    uint8_t *row = malloc(row_bytes);
    assert_non_null(row);
    for (int y = 0; y < k->height; y++) {
        for (size_t x = 0; x < row_bytes; x++)
            row[x] = byte_at((int)x, y);
        png_write_row(png, row);
    }
    free(row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
}

/* All rows, in portions of `portion`; *rows from malloc, null unless all went well. */
static smp_code read_all(const bytes *file, bool again, int portion, uint8_t **rows, size_t *size, smp_error *err)
{
    smp_source source;
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    smp_source_memory(&source, file->data, file->size);
    source.seekable = again; /* a pipe cannot be read again: libpng reads it */
    *rows = NULL;
    smp_code code = smp_reader_open_source(&source, "memory", &how, &reader, err);
    if (code)
        return code;
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    int64_t stride = smp_row_bytes(shape);
    *size = (size_t)(stride * shape->height);
    *rows = malloc(*size);
    assert_non_null(*rows);
    for (int64_t y = 0; !code && y < shape->height; y += portion) {
        int64_t n = shape->height - y < portion ? shape->height - y : portion;
        code = smp_reader_rows(reader, *rows + y * stride, stride, n, err);
    }
    smp_reader_close(reader);
    if (code) {
        free(*rows);
        *rows = NULL;
    }
    return code;
}

static void assert_alike(const bytes *file, int portion, const char *what, size_t at)
{
    uint8_t *ours, *theirs;
    size_t our_size = 0, their_size = 0;
    smp_error our_error = {0}, their_error = {0};
    smp_code our_code = read_all(file, true, portion, &ours, &our_size, &our_error);
    smp_code their_code = read_all(file, false, portion, &theirs, &their_size, &their_error);
    if (our_code != their_code || strcmp(our_error.message, their_error.message) != 0)
        fail_msg("%s at %zu: %d (%s), but libpng %d (%s)", what, at, our_code, our_error.message, their_code,
                 their_error.message);
    if (!our_code && (our_size != their_size || memcmp(ours, theirs, our_size) != 0))
        fail_msg("%s at %zu: other rows than libpng's", what, at);
    free(ours);
    free(theirs);
}

static const int colours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGB_ALPHA};
static const int filters[] = {PNG_FILTER_NONE, PNG_FILTER_SUB,   PNG_FILTER_UP,
                              PNG_FILTER_AVG,  PNG_FILTER_PAETH, PNG_ALL_FILTERS};

/* Files cannot show which of the two a machine takes. */
SMP_TEST(four_rows_come_out_alike_by_both_ways_whatever_their_filters)
{
#if defined(__x86_64__)
    enum { MOST = 8 * 40, GUARD = 0xA5 };
    static uint8_t lines[2][5][MOST + 1], filtered[4 * (MOST + 1)];
    static const int pixels[] = {1, 2, 3, 4, 6, 8};
    uint32_t seed = 1;
    if (!__builtin_cpu_supports("avx2"))
        skip();
    for (int k = 0; k < 6; k++)
        for (int width = 1; width <= 40; width++)
            for (int mix = 0; mix < 5 * 5 * 5 * 5;
                 mix += width % 8 ? 39 : 1) { /* 39: all four alike, and some others */
                const int n = width * pixels[k];
                uint8_t *line[2][5];
                for (size_t i = 0; i < sizeof filtered; i++)
                    filtered[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
                memset(lines, GUARD, sizeof lines);
                for (int way = 0; way < 2; way++) {
                    memcpy(lines[way][0], filtered + 7, (size_t)n);
                    for (int i = 0; i < 5; i++)
                        line[way][i] = lines[way][i];
                }
                for (int i = 0, rest = mix; i < 4; i++, rest /= 5)
                    filtered[i * (n + 1)] = (uint8_t)(rest % 5);
                smp_png_undo_four(line[0], filtered + 1, n, pixels[k]);
                smp_png_undo_four_avx2(line[1], filtered + 1, n, pixels[k]);
                assert_memory_equal(lines[0], lines[1], sizeof lines[0]);
                for (int i = 0; i < 5; i++)
                    assert_int_equal(lines[1][i][n], GUARD);
            }
#else
    skip();
#endif
}

SMP_TEST(every_filter_of_every_plain_kind_is_undone)
{
    static bytes file;
    static const int sizes[][2] = {{1, 1}, {1, 9}, {2, 4}, {3, 5}, {5, 17}, {67, 70}, {700, 45}};
    for (int colour = 0; colour < 4; colour++)
        for (int depth = 8; depth <= 16; depth += 8)
            for (int filter = 0; filter < 6; filter++)
                for (int size = 0; size < 7; size++) {
                    kind k = {colours[colour], depth, sizes[size][0], sizes[size][1], filters[filter], 0, 6, 0};
                    compose(&file, &k);
                    assert_alike(&file, size % 2 ? 7 : 1000, "a whole file", (size_t)(colour * 100 + depth + filter));
                }
}

SMP_TEST(windows_levels_and_chunks_of_any_size_are_read)
{
    static bytes file;
    for (int bits = 9; bits <= 15; bits++)
        for (int level = 0; level <= 9; level += 3) {
            kind k = {PNG_COLOR_TYPE_RGB, 8, 211, 90, PNG_ALL_FILTERS, bits, level, bits * 7};
            compose(&file, &k);
            assert_alike(&file, 13, "a whole file", (size_t)bits);
        }
}

SMP_TEST(rows_of_more_than_inflate_is_asked_for_at_a_time_are_whole)
{
    static bytes file;
    kind k = {PNG_COLOR_TYPE_RGB, 8, 600000, 2, PNG_FILTER_NONE, 0, 1, 0};
    compose(&file, &k);
    assert_alike(&file, 2, "a whole file", 0);
}

/* ------------------------------------------------------------------------------------------ damage */

static uint32_t be32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The chunk of that type, which is there. */
static uint8_t *chunk_of(bytes *file, const char *type)
{
    size_t at = 8;
    while (memcmp(file->data + at + 4, type, 4) != 0) {
        at += be32(file->data + at) + 12;
        assert_true(at + 12 <= file->size);
    }
    return file->data + at;
}

static void mend(uint8_t *chunk)
{
    uint32_t size = be32(chunk);
    put32(chunk + 8 + size, (uint32_t)crc32(0, chunk + 4, (uInt)size + 4));
}

static void small(bytes *file)
{
    compose(file, &(kind){PNG_COLOR_TYPE_RGB, 8, 17, 14, PNG_ALL_FILTERS, 0, 6, 0});
}

SMP_TEST(damaged_data_behind_right_checksums_is_judged_alike)
{
    static bytes file;
    small(&file);
    uint8_t *chunk = chunk_of(&file, "IDAT");
    for (uint32_t i = 0; i < be32(chunk); i++)
        for (int bit = 0; bit < 8; bit += 1 + (i > 40)) {
            chunk[8 + i] ^= (uint8_t)(1 << bit);
            mend(chunk);
            assert_alike(&file, 5, "a changed bit", i);
            chunk[8 + i] ^= (uint8_t)(1 << bit);
            mend(chunk);
        }
}

/* Puts the compressed form of `raw` in place of the picture's data. */
static void replace_data(bytes *file, const uint8_t *raw, size_t size, size_t cut, size_t extra)
{
    uint8_t *chunk = chunk_of(file, "IDAT"), packed[4096], tail[64];
    size_t old = be32(chunk), rest = file->size - (size_t)(chunk - file->data) - 12 - old;
    uLongf n = sizeof packed - extra;
    assert_true(rest <= sizeof tail);
    memcpy(tail, chunk + 12 + old, rest);
    assert_int_equal(compress2(packed, &n, raw, (uLong)size, 6), Z_OK);
    n -= cut;
    memset(packed + n, 0xA5, extra);
    n += extra;
    put32(chunk, (uint32_t)n);
    memcpy(chunk + 8, packed, n);
    mend(chunk);
    memcpy(chunk + 12 + n, tail, rest);
    file->size = (size_t)(chunk - file->data) + 12 + n + rest;
}

SMP_TEST(too_little_and_too_much_data_are_judged_alike)
{
    static bytes file;
    uint8_t raw[14 * (17 * 3 + 1) + 100] = {0};
    const size_t right = 14 * (17 * 3 + 1);
    for (size_t i = 0; i < right; i++)
        raw[i] = i % 52 == 0 ? (uint8_t)(i / 52 % 5) : byte_at((int)i, 0);
    for (size_t size = right - 60; size <= right + 60; size += 12) {
        small(&file);
        replace_data(&file, raw, size, 0, 0);
        assert_alike(&file, 5, "data of another size", size);
    }
    for (size_t i = 0; i <= 8; i++) {
        small(&file);
        replace_data(&file, raw, right, i, 0);
        assert_alike(&file, 5, "a stream cut short by", i);
        small(&file);
        replace_data(&file, raw, right, 0, i);
        assert_alike(&file, 5, "bytes behind the stream:", i);
    }
    for (int filter = 5; filter < 256; filter += 50) {
        small(&file);
        raw[52 * 3] = (uint8_t)filter;
        replace_data(&file, raw, right, 0, 0);
        assert_alike(&file, 5, "an unknown filter", (size_t)filter);
    }
}

SMP_TEST(truncation_and_changed_bytes_are_judged_alike)
{
    static bytes file;
    small(&file);
    const size_t whole = file.size;
    for (file.size = 30; file.size <= whole; file.size++)
        assert_alike(&file, 5, "truncated", file.size);
    file.size = whole;
    for (size_t i = 33; i < whole; i++) {
        file.data[i] ^= 0x20;
        assert_alike(&file, 5, "a changed byte", i);
        file.data[i] ^= 0x20;
    }
}

/* Chunks behind the picture: harmless, out of place, unknown and needed, damaged, a second run of IDAT. */
SMP_TEST(what_stands_behind_the_picture_is_judged_alike)
{
    static bytes file;
    static const char *const types[] = {"tEXt", "tIME", "PLTE", "tRNS", "IDAT", "IHDR",
                                        "ABCD", "abcd", "gAMA", "a1cd", "IEND"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int damaged = 0; damaged < 2; damaged++) {
            small(&file);
            uint8_t *end = chunk_of(&file, "IEND");
            memmove(end + 15, end, 12);
            put32(end, 3);
            memcpy(end + 4, types[i], 4);
            memcpy(end + 8, "A\0B", 3);
            mend(end);
            end[9] ^= (uint8_t)damaged;
            file.size += 15;
            assert_alike(&file, 5, types[i], (size_t)damaged);
        }
}
