/* TIFFs made by hand and by libtiff: every kind of samples, metadata, pages, and what is refused. */
#include "suite.h"

#include "io/tiff/tiff_glue.h"
#include "media_fixture.h"

#ifdef SMP_TEST_TIFF

#define DATA SMP_SOURCE_DIR "/tests/data/formats/"

enum { MOST = 8192 };
enum { BYTE = 1, ASCII, SHORT, LONG, RATIONAL, UNDEFINED = 7 };

typedef struct tiff_file {
    uint8_t bytes[MOST];
    size_t size, entries, first; /* first: where the directory's entries are */
    bool big_endian;
} tiff_file;

static void put(const tiff_file *file, uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * (file->big_endian ? bytes - 1 - i : i));
}

/* A header and a directory that will get `entries` entries. */
static tiff_file begin_tiff(bool big_endian, size_t entries)
{
    tiff_file file = {.size = 10 + 12 * entries + 4, .first = 10, .big_endian = big_endian};
    memcpy(file.bytes, big_endian ? "MM" : "II", 2);
    put(&file, file.bytes + 2, 42, 2);
    put(&file, file.bytes + 4, 8, 4);
    put(&file, file.bytes + 8, entries, 2);
    return file;
}

static uint8_t *put_entry(tiff_file *file, unsigned tag, unsigned type, size_t count)
{
    uint8_t *entry = file->bytes + file->first + 12 * file->entries++;
    put(file, entry, tag, 2);
    put(file, entry + 2, type, 2);
    put(file, entry + 4, count, 4);
    return entry + 8;
}

/* Numbers, behind the directory where they are more than an entry holds. */
static void put_numbers(tiff_file *file, unsigned tag, unsigned type, size_t count, const uint32_t *values)
{
    const size_t size = type == SHORT ? 2 : type == BYTE || type == ASCII || type == UNDEFINED ? 1 : 4;
    const size_t words = type == RATIONAL ? 2 * count : count;
    uint8_t *at = put_entry(file, tag, type, count);
    if (words * size > 4) {
        put(file, at, file->size, 4);
        at = file->bytes + file->size;
        file->size += words * size + (words * size & 1);
    }
    for (size_t i = 0; i < words; i++)
        put(file, at + i * size, values[i], size);
}

static void put_number(tiff_file *file, unsigned tag, uint32_t value)
{
    put_numbers(file, tag, LONG, 1, &value);
}

static void put_text(tiff_file *file, unsigned tag, unsigned type, const char *text, size_t size)
{
    uint8_t *at = put_entry(file, tag, type, size);
    if (size > 4) {
        put(file, at, file->size, 4);
        at = file->bytes + file->size;
        file->size += size + (size & 1);
    }
    memcpy(at, text, size);
}

/* A directory for samples in one strip: nine entries, and `more` that the test adds. */
static tiff_file begin_picture(bool big_endian, uint32_t width, uint32_t height, uint32_t samples, uint32_t bits,
                               uint32_t photometric, size_t more)
{
    tiff_file file = begin_tiff(big_endian, 9 + more);
    uint32_t each[8];
    for (int i = 0; i < 8; i++)
        each[i] = bits;
    put_number(&file, 256, width);
    put_number(&file, 257, height);
    put_numbers(&file, 258, SHORT, samples, each);
    put_number(&file, 259, 1);
    put_number(&file, 262, photometric);
    put_number(&file, 277, samples);
    put_number(&file, 278, height);
    return file;
}

static void put_strip(tiff_file *file, const void *data, size_t size)
{
    put_number(file, 273, (uint32_t)file->size);
    put_number(file, 279, (uint32_t)size);
    memcpy(file->bytes + file->size, data, size);
    file->size += size;
}

static void expect_tiff(const tiff_file *file, const void *want, size_t size, smp_format format)
{
    expect_bytes((const char *)file->bytes, file->size, want, size, format);
}

static void expect_refusal(const tiff_file *file, smp_code code, const char *says)
{
    expect_error(file->bytes, file->size, code, says);
}

static void load_tiff(const char *name, tiff_file *file)
{
    char path[512];
    snprintf(path, sizeof path, DATA "%s", name);
    uint8_t *bytes = load(path, &file->size);
    assert_true(file->size <= MOST);
    memcpy(file->bytes, bytes, file->size);
    free(bytes);
}

/* ------------------------------------------------------------------------------------------------ samples */

SMP_TEST(files_of_libtiff_give_their_samples)
{
    smp_error err = {0};
    picture p;
    assert_ok(read_picture(DATA "strips-be-lzw.tif", &p, &err));
    assert_int_equal(p.size, 37 * 21 * 3 * 2);
    for (int64_t i = 0; i < 37 * 21 * 3; i++) {
        const int64_t x = i / 3 % 37, y = i / 111;
        assert_int_equal(((uint16_t *)(void *)p.data)[i],
                         (pattern_of_files(x, y, i % 3) * 257 + 37 * x + 101 * y) % 65536);
    }
    free_picture(&p);
    assert_ok(read_picture(DATA "tiled-big-float.tif", &p, &err));
    assert_int_equal(p.size, 50 * 33 * 4);
    for (int64_t i = 0; i < 50 * 33; i++)
        assert_true(((float *)(void *)p.data)[i] == (float)pattern_of_files(i % 50, i / 50, 0) / 255.0f);
    free_picture(&p);
    assert_ok(read_picture(DATA "g4.tif", &p, &err));
    assert_int_equal(p.size, 40 * 16);
    for (int64_t i = 0; i < 40 * 16; i++)
        assert_int_equal(p.data[i], pattern_of_files(i % 40, i / 40, 0) > 99 ? 255 : 0);
    free_picture(&p);
}

SMP_TEST(packed_bits_become_bytes)
{
    static const struct {
        uint32_t bits, photometric;
        const char *stored;
        uint8_t want[6]; /* 3 x 2 */
    } cases[] = {
        {1, 1, "\xA0\x40", {255, 0, 255, 0, 255, 0}},           {1, 0, "\xA0\x40", {0, 255, 0, 255, 0, 255}},
        {2, 1, "\x1B\xE4", {0, 85, 170, 255, 170, 85}},         {4, 1, "\x0F\x10\xF8\x20", {0, 255, 17, 255, 136, 34}},
        {8, 0, "\1\2\3\4\5\6", {254, 253, 252, 251, 250, 249}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int big = 0; big < 2; big++) {
            tiff_file file = begin_picture(big, 3, 2, 1, cases[i].bits, cases[i].photometric, 0);
            put_strip(&file, cases[i].stored, (3 * cases[i].bits + 7) / 8 * 2);
            expect_tiff(&file, cases[i].want, 6, SMP_U8);
        }
}

SMP_TEST(palettes_have_sixteen_bits_or_eight)
{
    uint32_t wide[12], narrow[12];
    for (uint32_t i = 0; i < 12; i++) {
        narrow[i] = 20 * i;
        wide[i] = narrow[i] * 257;
    }
    static const uint8_t want[] = {0, 80, 160, 60, 140, 220, 20, 100, 180};
    for (int k = 0; k < 2; k++) {
        tiff_file file = begin_picture(k, 3, 1, 1, 2, 3, 1);
        put_numbers(&file, 320, SHORT, 12, k ? wide : narrow);
        put_strip(&file, "\x34", 1);
        expect_tiff(&file, want, 9, SMP_U8);
    }
    tiff_file file = begin_picture(false, 3, 1, 1, 2, 3, 1);
    put_numbers(&file, 320, SHORT, 6, wide);
    put_strip(&file, "\x34", 1);
    expect_refusal(&file, SMP_E_DECODE, "palette");
}

SMP_TEST(planes_and_pixels_give_the_same)
{
    const uint32_t planar = 2;
    tiff_file file = begin_picture(false, 2, 2, 3, 8, 2, 0);
    put_strip(&file, "abcdefghijkl", 12);
    expect_tiff(&file, "abcdefghijkl", 12, SMP_U8);
    file = begin_tiff(false, 10);
    put_number(&file, 256, 2);
    put_number(&file, 257, 2);
    put_numbers(&file, 258, SHORT, 3, (const uint32_t[]){8, 8, 8});
    put_number(&file, 262, 2);
    put_number(&file, 277, 3);
    put_number(&file, 278, 1);
    put_numbers(&file, 284, SHORT, 1, &planar);
    const uint32_t at = (uint32_t)file.size + 48;
    put_numbers(&file, 273, LONG, 6, (const uint32_t[]){at, at + 2, at + 4, at + 6, at + 8, at + 10});
    put_numbers(&file, 279, LONG, 6, (const uint32_t[]){2, 2, 2, 2, 2, 2});
    put_number(&file, 259, 1);
    assert_int_equal(file.size, at);
    memcpy(file.bytes + at, "adgjbehkcfil", 12);
    file.size += 12;
    expect_tiff(&file, "abcdefghijkl", 12, SMP_U8);
}

SMP_TEST(alpha_and_inks_are_converted)
{
    const uint32_t over = 1, beside = 2;
    tiff_file file = begin_picture(false, 2, 1, 4, 8, 2, 1);
    put_numbers(&file, 338, SHORT, 1, &beside);
    put_strip(&file, "\1\2\3\4\5\6\7\0", 8);
    expect_tiff(&file, "\1\2\3\4\5\6\7\0", 8, SMP_U8);
    file = begin_picture(false, 2, 1, 4, 8, 2, 1);
    put_numbers(&file, 338, SHORT, 1, &over);
    put_strip(&file, "\100\1\200\200\5\6\7\0", 8);
    expect_tiff(&file, "\200\2\377\200\0\0\0\0", 8, SMP_U8); /* 64 of 128 is 128 of 255 */
    file = begin_picture(false, 2, 1, 4, 8, 5, 0);           /* no ink but half black, and full cyan */
    put_strip(&file, "\0\0\0\177\377\0\0\0", 8);
    expect_tiff(&file, "\200\200\200\0\377\377", 6, SMP_U8);
    char notes[400];
    picture p;
    file = begin_picture(false, 2, 1, 4, 8, 2, 0);
    put_strip(&file, "abcXdefX", 8);
    read_with_notes(file.bytes, file.size, &p, notes, sizeof notes);
    assert_int_equal(p.size, 6);
    assert_memory_equal(p.data, "abcdef", 6);
    assert_non_null(strstr(notes, "1 sample of each pixel is left out"));
    free_picture(&p);
}

SMP_TEST(floats_of_any_size_become_floats_of_32_bits)
{
    const uint32_t kind = 3;
    const double wide[] = {0.5, -2};
    const uint16_t half[] = {0x3800, 0xC000, 0x0001};
    picture p;
    char notes[300];
    tiff_file file = begin_picture(false, 2, 1, 1, 64, 1, 1);
    put_numbers(&file, 339, SHORT, 1, &kind);
    put_strip(&file, wide, sizeof wide);
    read_with_notes(file.bytes, file.size, &p, notes, sizeof notes);
    assert_memory_equal(p.data, ((const float[]){0.5f, -2}), 8);
    assert_non_null(strstr(notes, "floats of 64 bits"));
    free_picture(&p);
    file = begin_picture(false, 3, 1, 1, 16, 1, 1);
    put_numbers(&file, 339, SHORT, 1, &kind);
    put_strip(&file, half, sizeof half);
    expect_tiff(&file, (const float[]){0.5f, -2, 0x1p-24f}, 12, SMP_F32);
}

/* ------------------------------------------------------------------------------------------------ metadata */

SMP_TEST(metadata_are_kept)
{
    for (int big = 0; big < 2; big++) {
        smp_error err = {0};
        smp_reader *reader;
        smp_read_options how = smp_read_defaults();
        tiff_file file = begin_picture(big, 2, 1, 1, 8, 1, 9);
        char icc[132] = {0};
        memcpy(icc + 16, "GRAY", 4);
        put_text(&file, 270, ASCII, "a description", 14);
        put_text(&file, 271, ASCII, "Maker", 6);
        put_numbers(&file, 274, SHORT, 1, &(const uint32_t){6});
        put_numbers(&file, 282, RATIONAL, 1, (const uint32_t[]){300, 1});
        put_numbers(&file, 283, RATIONAL, 1, (const uint32_t[]){150, 1});
        put_numbers(&file, 296, SHORT, 1, &(const uint32_t){2});
        put_text(&file, 700, BYTE, "<x tiff:Orientation=\"6\"/>", 25);
        put_number(&file, 34665,
                   (uint32_t)file.size + 132 + 2); /* EXIF's directory, behind the profile and the strip */
        put_text(&file, 34675, UNDEFINED, icc, 132);
        put_strip(&file, "ab", 2);
        const size_t at = file.size; /* one entry: ISO speed 400 */
        put(&file, file.bytes + at, 1, 2);
        put(&file, file.bytes + at + 2, 34855, 2);
        put(&file, file.bytes + at + 4, SHORT, 2);
        put(&file, file.bytes + at + 6, 1, 4);
        put(&file, file.bytes + at + 10, 400, 2);
        file.size += 18;
        assert_ok(smp_reader_open_memory(file.bytes, file.size, &how, &reader, &err));
        const smp_media *media = smp_reader_media(reader);
        const smp_meta *meta = &media->meta;
        assert_int_equal(media->orientation, 6);
        assert_true(meta->x_density == 150 / 0.0254 && meta->y_density == 300 / 0.0254); /* axes are exchanged */
        assert_string_equal(find_text(meta, "Description"), "a description");
        assert_string_equal(find_text(meta, SMP_XMP_KEY), "<x tiff:Orientation=\"1\"/>");
        assert_int_equal(meta->icc.size, 132);
        uint32_t value;
        assert_true(meta->exif.size > 60 && meta->exif.size < 100);
        assert_true(smp_tiff_number(meta->exif.data, meta->exif.size, 34665, &value));
        assert_int_equal(meta->exif.data[value + 2] | meta->exif.data[value + 3] << 8, 34855);
        assert_int_equal(meta->exif.data[value + 10] | meta->exif.data[value + 11] << 8, 400);
        smp_reader_close(reader);
    }
}

static smp_code read_page(const char *name, int64_t page, picture *p, smp_error *err)
{
    char path[512];
    smp_reader *reader;
    smp_read_options how = smp_read_defaults();
    how.page = page;
    snprintf(path, sizeof path, DATA "%s", name);
    *p = (picture){0};
    smp_code code = smp_reader_open(path, &how, &reader, err);
    if (!code)
        assert_int_equal(smp_reader_media(reader)->pages, 2);
    if (!code)
        code = read_rest(reader, p, err);
    smp_reader_close(reader);
    return code;
}

SMP_TEST(each_page_can_be_read)
{
    smp_error err = {0};
    picture one, two;
    assert_ok(read_page("pages-packbits.tif", 0, &one, &err));
    for (int64_t i = 0; i < 19 * 11; i++)
        assert_int_equal(one.data[i], pattern_of_files(i % 19, i / 19, 0));
    assert_ok(read_page("pages-packbits.tif", 2, &two, &err));
    for (int64_t y = 0; y < 11; y++)
        assert_memory_equal(one.data + y * 19, two.data + (10 - y) * 19, 19);
    free_picture(&one);
    free_picture(&two);
    assert_int_equal(read_page("pages-packbits.tif", 3, &one, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "no page 3: the TIFF has 2"));
}

/* More than the reader looks at in one go. */
SMP_TEST(each_of_many_strips_is_found)
{
    enum { STRIPS = TIFF_VALUES + 32 };
    uint8_t pixels[STRIPS];
    uint32_t places[STRIPS], sizes[STRIPS];
    const uint32_t eight = 8;
    for (int damaged = 0; damaged < 2; damaged++)
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            tiff_file file = begin_tiff(big_endian, 9);
            for (uint32_t i = 0; i < STRIPS; i++) {
                pixels[i] = (uint8_t)(i * i / 3);
                places[i] = (uint32_t)file.size + STRIPS - 1 - i; /* the last row is stored first */
                sizes[i] = 1;
                file.bytes[places[i]] = pixels[i];
            }
            file.size += STRIPS;
            if (damaged)
                places[STRIPS - 2] = 60000;
            put_number(&file, 256, 1);
            put_number(&file, 257, STRIPS);
            put_numbers(&file, 258, SHORT, 1, &eight);
            put_number(&file, 259, 1);
            put_number(&file, 262, 1);
            put_numbers(&file, 273, SHORT, STRIPS, places);
            put_number(&file, 277, 1);
            put_number(&file, 278, 1);
            put_numbers(&file, 279, SHORT, STRIPS, sizes);
            if (damaged)
                expect_refusal(&file, SMP_E_DECODE, "strips reach past the end");
            else
                expect_tiff(&file, pixels, STRIPS, SMP_U8);
        }
}

/* ------------------------------------------------------------------------------------------------ refusals */

SMP_TEST(what_is_not_read_is_named)
{
    static const struct {
        uint32_t samples, bits, photometric, tag, value;
        const char *says;
    } cases[] = {
        {3, 8, 10, 0, 0, "L*a*b*"},   {1, 16, 32803, 0, 0, "raw samples"}, {1, 16, 1, 339, 5, "complex"},
        {1, 33, 1, 0, 0, "33 bits"},  {1, 17, 1, 0, 0, "17 bits"},         {1, 24, 3, 0, 0, "kind of colours"},
        {4, 8, 5, 332, 2, "inks"},    {3, 8, 6, 284, 2, "in planes"},      {1, 8, 1, 50706, 1, "raw"},
        {2, 8, 2, 0, 0, "2 samples"}, {1, 8, 1, 284, 7, "not possible"},   {4, 8, 6, 338, 2, "alpha beside colours"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tiff_file file =
            begin_picture(i & 1, 1, 1, cases[i].samples, cases[i].bits, cases[i].photometric, cases[i].tag ? 1 : 0);
        if (cases[i].tag)
            put_numbers(&file, cases[i].tag, SHORT, 1, &cases[i].value);
        put_strip(&file, "0123456789", 10);
        expect_refusal(&file, SMP_E_DECODE, cases[i].says);
    }
}

/* Colours of half the resolution, which the library makes RGBA of, in a strip of `rows` or in 4 tiles as high. */
static tiff_file begin_rgba(bool tiled, uint32_t rows)
{
    static const uint8_t zeros[96];
    static const uint32_t places[] = {0, 0, 0, 0}, sizes[] = {96, 96, 96, 96};
    tiff_file file = begin_picture(false, tiled ? 64 : 8, rows, 3, 8, 6, tiled ? 2 : 0);
    if (!tiled)
        return put_strip(&file, zeros, sizeof zeros), file;
    put_number(&file, 322, 16);
    put_number(&file, 323, rows);
    put_numbers(&file, 324, LONG, 4, places);
    put_numbers(&file, 325, LONG, 4, sizes);
    return file;
}

static smp_code check_with(tiff_file *file, const smp_limits *limits, smp_tiff_page *page)
{
    smp_source source = {0};
    smp_tiff tiff = {0};
    smp_error err = {0};
    smp_source_memory(&source, file->bytes, file->size);
    assert_ok(smp_tiff_open(&tiff, &source, 1, &err));
    const smp_code code = smp_tiff_check_page(&tiff, limits, page, &err);
    smp_tiff_close(&tiff);
    return code;
}

SMP_TEST(sizes_of_strips_and_tiles_are_counted_whole)
{
    smp_limits limits = smp_limits_default();
    smp_tiff_page page;
    tiff_file file = begin_rgba(true, 4096);
    assert_int_equal(check_with(&file, &limits, &page), SMP_OK);
    assert_true(page.memory > 4 * 64 * 4096 + 3 * 64 * 4096); /* RGBA, and samples, of a row of tiles */
    limits.max_pixels = limits.max_memory = INT64_MAX;
    file = begin_picture(false, 1 << 30, 1 << 28, 8, 64, 2, 2); /* one strip of 2^64 bytes, whose size is not told */
    put_number(&file, 339, 3);
    put_number(&file, 273, 8);
    put_number(&file, 284, 1);
    put_number(&file, 296, 1);
    assert_int_equal(check_with(&file, &limits, &page), SMP_E_DECODE);
}

/* As when the file changes between the walk and the library's own: it would write as much as it finds. */
SMP_TEST(a_library_that_sees_other_strips_or_tiles_is_not_used)
{
    const smp_limits limits = smp_limits_default();
    for (int i = 0; i < 5; i++) {
        tiff_file file = begin_rgba(i > 2, 16);
        smp_reader reader = {0};
        smp_tiff tiff = {0};
        smp_tiff_page page;
        smp_tiff_handle *handle = NULL;
        smp_error err = {0};
        smp_source_memory(&reader.source, file.bytes, file.size);
        assert_ok(smp_tiff_open(&tiff, &reader.source, 1, &err));
        assert_ok(smp_tiff_check_page(&tiff, &limits, &page, &err));
        assert_true(page.rgba);
        page.unit_rows -= i == 1 || i == 3 ? 8 : 0;
        page.unit -= i == 2 || i == 4 ? 1 : 0;
        assert_int_equal(smp_tiff_handle_open(&reader, &tiff, &page, &handle, &err), i ? SMP_E_DECODE : SMP_OK);
        assert_true(!i || strstr(err.message, "contradict each other"));
        smp_tiff_handle_close(handle);
        smp_tiff_close(&tiff);
    }
}

SMP_TEST(hostile_headers_take_no_memory)
{
    tiff_file file;
    const uint64_t live = smp_alloc_live();
    smp_alloc_restart_peak();
    load_tiff("hostile-size.tif", &file);
    expect_refusal(&file, SMP_E_DECODE, "size is not possible");
    load_tiff("hostile-spp.tif", &file);
    expect_refusal(&file, SMP_E_DECODE, "65000 samples");
    load_tiff("hostile-strip.tif", &file);
    expect_refusal(&file, SMP_E_LIMIT, "60000 x 60000");
    file = begin_picture(false, 40000, 40000, 1, 8, 1, 0); /* one strip, which is not there */
    put_number(&file, 273, 8);
    put_number(&file, 279, 1600000000);
    expect_refusal(&file, SMP_E_DECODE, "truncated");
    file = begin_picture(false, 100, 100, 1, 8, 1, 2);
    put_number(&file, 322, 1 << 20);
    put_number(&file, 323, 1 << 20);
    put_strip(&file, "a", 1);
    expect_refusal(&file, SMP_E_DECODE, "size of its tiles");
    file = begin_tiff(true, 0);
    put(&file, file.bytes + 8, 65535, 2);
    expect_refusal(&file, SMP_E_DECODE, "truncated");
    file = begin_picture(false, 1, 1, 1, 8, 1, 0);
    put_strip(&file, "a", 1);
    put(&file, file.bytes + file.first + 12 * 9, 8, 4); /* the next directory is the first again */
    expect_tiff(&file, "a", 1, SMP_U8);
    assert_true(smp_alloc_peak() - live < 100000);
}

SMP_TEST(every_truncation_is_an_error)
{
    assert_truncations_fail(DATA "strips-be-lzw.tif", 61);
    assert_truncations_fail(DATA "tiled-big-float.tif", 127);
    assert_truncations_fail(DATA "g4.tif", 1);
}

SMP_TEST(changed_bytes_never_crash)
{
    static const char *const names[] = {DATA "strips-be-lzw.tif", DATA "pages-packbits.tif", DATA "g4.tif"};
    uint32_t seed = 1;
    for (size_t f = 0; f < 3; f++)
        assert_changes_never_crash(names[f], 4, 300, &seed);
}

SMP_TEST(allocation_failures_are_clean)
{
    assert_allocation_failures_are_clean(DATA "tiled-big-float.tif");
}

#else

SMP_TEST(a_build_without_the_library_names_the_format)
{
    expect_error(FILE_OF("II*\0\10\0\0\0........"), SMP_E_DECODE, "is a TIFF");
    expect_error(FILE_OF("II*\0\10\0\0\0........"), SMP_E_DECODE, "not supported");
}

#endif

SMP_TESTS_AROUND(make_folder, remove_folder)
