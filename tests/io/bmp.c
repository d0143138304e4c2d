/* BMPs of every header, depth and coding, made by hand; what browsers do where the documentation is silent. */
#include "suite.h"

#include "media_fixture.h"

typedef struct bmp_file {
    uint8_t bytes[4096];
    size_t size;
} bmp_file;

static void put(bmp_file *file, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        file->bytes[file->size++] = (uint8_t)(value >> 8 * i);
}

static void put_bytes(bmp_file *file, const void *bytes, size_t size)
{
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

/* The headers; what follows is put behind, then begin_pixels() says where they begin. */
static bmp_file begin(uint32_t header, int width, int height, uint32_t bits, uint32_t coding)
{
    bmp_file file = {.bytes = {'B', 'M'}, .size = 14};
    put(&file, header, 4);
    int bytes = header == 12 ? 2 : 4;
    put(&file, (uint32_t)width, bytes);
    put(&file, (uint32_t)height, bytes);
    put(&file, 1, 2);
    put(&file, bits, 2);
    if (header > 16)
        put(&file, coding, 4);
    file.size = 14 + header;
    return file;
}

static void begin_pixels(bmp_file *file)
{
    size_t size = file->size;
    file->size = 10;
    put(file, (uint32_t)size, 4);
    file->size = size;
}

static void expect(const bmp_file *file, int channels, const uint8_t *samples, size_t count)
{
    smp_error err = {0};
    picture p;
    assert_ok(read_memory(file->bytes, file->size, &p, &err));
    assert_int_equal(p.shape.channels, channels);
    assert_int_equal(p.shape.alpha, channels == 4);
    assert_int_equal(p.size, count);
    assert_memory_equal(p.data, samples, count);
    free_picture(&p);
}

#define EXPECT(file, channels, ...)                                                                                    \
    do {                                                                                                               \
        const uint8_t samples_[] = {__VA_ARGS__};                                                                      \
        expect(file, channels, samples_, sizeof samples_);                                                             \
    } while (0)

static void expect_failure(const bmp_file *file, smp_code code, const char *says)
{
    expect_error(file->bytes, file->size, code, says);
}

/* Each colour of a palette of 256 is used once: OS/2's colours have three bytes, others four. */
SMP_TEST(every_colour_of_a_palette_is_right)
{
    static const uint32_t headers[] = {12, 16, 40, 52, 56, 64, 108, 124};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        bmp_file file = begin(headers[i], 16, 16, 8, 0);
        uint8_t want[256 * 3];
        for (uint32_t c = 0; c < 256; c++) {
            uint32_t red = c, green = 255 - c, blue = c * 7 & 255;
            put(&file, blue | green << 8 | red << 16 | 0xEE000000, headers[i] == 12 ? 3 : 4);
            memcpy(want + 3 * c, (const uint8_t[]){(uint8_t)red, (uint8_t)green, (uint8_t)blue}, 3);
        }
        begin_pixels(&file);
        for (uint32_t y = 16; y-- > 0;)
            for (uint32_t x = 0; x < 16; x++)
                put(&file, y * 16 + x, 1);
        expect(&file, 3, want, sizeof want);
    }
}

/* OS/2's header cannot say how many colours there are: those in front of the pixels. The rest is black. */
SMP_TEST(colours_that_are_not_there_are_black)
{
    bmp_file file = begin(12, 3, 1, 8, 0);
    put_bytes(&file, "\1\2\3\4\5\6", 6);
    begin_pixels(&file);
    put_bytes(&file, "\1\2\377\0", 4);
    EXPECT(&file, 3, 6, 5, 4, 0, 0, 0, 0, 0, 0);
    file = begin(40, 3, 1, 8, 0);
    file.bytes[46] = 2; /* colours */
    put_bytes(&file, "\1\2\3\0\4\5\6\0gap", 11);
    begin_pixels(&file);
    put_bytes(&file, "\1\2\0\0", 4);
    EXPECT(&file, 3, 6, 5, 4, 0, 0, 0, 3, 2, 1);
}

SMP_TEST(small_depths_are_unpacked)
{
    static const struct {
        uint32_t bits;
        const char *row;
        uint8_t want[10];
    } cases[] = {
        {1, "\xB2\x80\0\0", {1, 0, 1, 1, 0, 0, 1, 0, 1, 0}},
        {2, "\x1B\xE4\x90\0", {0, 1, 2, 3, 3, 2, 1, 0, 2, 1}},
        {4, "\x01\x23\x45\x67\x89\0\0\0", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    };
    for (size_t i = 0; i < 3; i++) {
        bmp_file file = begin(40, 10, 1, cases[i].bits, 0);
        for (uint32_t c = 0; c < UINT32_C(1) << cases[i].bits; c++)
            put(&file, 0x010203 * c, 4);
        begin_pixels(&file);
        put_bytes(&file, cases[i].row, cases[i].bits == 4 ? 8 : 4);
        uint8_t want[30];
        for (int x = 0; x < 10; x++)
            for (int c = 0; c < 3; c++)
                want[3 * x + c] = (uint8_t)(cases[i].want[x] * (c + 1));
        expect(&file, 3, want, sizeof want);
    }
}

SMP_TEST(rows_begin_at_the_top_or_the_bottom_behind_a_gap)
{
    bmp_file file = begin(40, 1, 2, 24, 0);
    put_bytes(&file, "a gap of any size", 17);
    begin_pixels(&file);
    put_bytes(&file, "\1\2\3\0\4\5\6\0", 8);
    EXPECT(&file, 3, 6, 5, 4, 3, 2, 1);
    file.bytes[22] = 0xFE; /* height -2 */
    memset(file.bytes + 23, 0xFF, 3);
    EXPECT(&file, 3, 3, 2, 1, 6, 5, 4);
}

/* The byte that 32 bits leave over is padding, whatever stands there; alpha needs a mask. */
SMP_TEST(the_reserved_byte_is_no_alpha)
{
    static const uint32_t headers[] = {40, 108, 124};
    for (size_t i = 0; i < 3; i++) {
        bmp_file file = begin(headers[i], 2, 1, 32, 0);
        begin_pixels(&file);
        put_bytes(&file, "\1\2\3\7\4\5\6\377", 8);
        EXPECT(&file, 3, 3, 2, 1, 6, 5, 4);
    }
    bmp_file file = begin(40, 2, 1, 16, 0);
    begin_pixels(&file);
    put(&file, 0x8000 | 31 << 10 | 3, 2);
    put(&file, 16 << 5, 2);
    EXPECT(&file, 3, 255, 0, 25, 0, 132, 0);
}

static bmp_file masked(uint32_t header, uint32_t bits, uint32_t coding, const uint32_t *masks, uint32_t pixel)
{
    bmp_file file = begin(header, 1, 1, bits, coding);
    file.size = 54;
    for (int i = 0; i < (header >= 56 || coding == 6 ? 4 : 3); i++)
        put(&file, masks[i], 4);
    if (file.size < 14 + header)
        file.size = 14 + header;
    begin_pixels(&file);
    put(&file, pixel, 4);
    return file;
}

/* Each value is scaled to nearest, so that the largest is 255. */
SMP_TEST(masks_are_obeyed)
{
    static const uint32_t rgb565[] = {0xF800, 0x07E0, 0x001F, 0}, swapped[] = {0xFF, 0xFF00, 0xFF0000, 0xFF000000},
                          deep[] = {0x3FF00000, 0xFFC00, 0x3FF, 0xC0000000}, no_blue[] = {0xFF00, 0xFF, 0, 0};
    static const uint32_t plain[] = {40, 52, 56, 108, 124}, with_alpha[] = {56, 108, 124};
    bmp_file file;
    for (size_t i = 0; i < 5; i++) {
        file = masked(plain[i], 16, 3, rgb565, 31 << 11 | 32 << 5 | 1);
        EXPECT(&file, 3, 255, 130, 8);
    }
    for (size_t i = 0; i < 3; i++) {
        file = masked(with_alpha[i], 32, 3, swapped, 0x80030201);
        EXPECT(&file, 4, 1, 2, 3, 128);
        file = masked(with_alpha[i], 32, 3, deep, UINT32_C(1) << 30 | 1023 << 20 | 512 << 10 | 1);
        EXPECT(&file, 4, 255, 128, 0, 85);
    }
    file = masked(40, 32, 6, swapped, 0x80030201);
    EXPECT(&file, 4, 1, 2, 3, 128);
    file = masked(40, 16, 3, no_blue, 0x1234);
    EXPECT(&file, 3, 0x12, 0x34, 0);
    static const uint32_t gaps[] = {0xF0F0, 0x0F00, 0x000F, 0}, overlapping[] = {0xFF00, 0x0FF0, 0xF, 0}, none[4] = {0};
    file = masked(40, 16, 3, gaps, 0);
    expect_failure(&file, SMP_E_DECODE, "gaps");
    file = masked(40, 16, 3, overlapping, 0);
    expect_failure(&file, SMP_E_DECODE, "overlap");
    file = masked(40, 16, 3, none, 0);
    expect_failure(&file, SMP_E_DECODE, "are 0");
}

/* ------------------------------------------------------------------------------------------------ runs */

/* With 16 colours, of which number k is (k, 2 k, 3 k). */
static bmp_file with_runs(uint32_t header, int width, int height, uint32_t bits, uint32_t coding, const void *codes,
                          size_t size)
{
    bmp_file file = begin(header, width, height, bits, coding);
    for (uint32_t c = 0; c < 16 && bits < 16; c++)
        put(&file, 0x010203 * c, 4);
    begin_pixels(&file);
    put_bytes(&file, codes, size);
    return file;
}

#define CODES(text) text, sizeof(text) - 1
#define GRAY(k)     k, 2 * k, 3 * k

SMP_TEST(runs_are_decoded)
{
    bmp_file file = with_runs(40, 4, 2, 8, 1, CODES("\3\1\1\2\0\0\0\3\4\5\6\0\1\7\0\1"));
    EXPECT(&file, 3, GRAY(4), GRAY(5), GRAY(6), GRAY(7), GRAY(1), GRAY(1), GRAY(1), GRAY(2));
    file = with_runs(40, 5, 2, 4, 2, CODES("\5\x12\0\0\0\5\x34\x56\x70\0\0\1"));
    EXPECT(&file, 3, GRAY(3), GRAY(4), GRAY(5), GRAY(6), GRAY(7), GRAY(1), GRAY(2), GRAY(1), GRAY(2), GRAY(1));
    file = with_runs(64, 4, 1, 24, 4, CODES("\1\1\2\3\0\3\4\5\6\7\10\11\12\13\14\0\0\1"));
    EXPECT(&file, 3, 3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10);
    /* Runs past a row's end are dropped; the picture may end without its end code. */
    file = with_runs(40, 3, 1, 8, 1, CODES("\4\1\0\0"));
    EXPECT(&file, 3, GRAY(1), GRAY(1), GRAY(1));
}

SMP_TEST(pixels_that_runs_skip_are_transparent)
{
    bmp_file file = with_runs(40, 3, 2, 8, 1, CODES("\1\1\0\2\1\1\1\2\0\1"));
    EXPECT(&file, 4, 0, 0, 0, 0, 0, 0, 0, 0, GRAY(2), 255, GRAY(1), 255, 0, 0, 0, 0, 0, 0, 0, 0);
}

SMP_TEST(damaged_runs_are_refused)
{
    bmp_file file = with_runs(40, 3, 2, 8, 1, CODES("\3\1\0\2\0\2\3\1\0\1"));
    expect_failure(&file, SMP_E_DECODE, "past the last row");
    file = with_runs(40, 3, 2, 8, 1, CODES("\3\1\0\0\0\3\1\2\3\0\0\0"));
    for (size_t size = file.size; size-- > 0;) {
        bmp_file shorter = file;
        shorter.size = size;
        expect_failure(&shorter, SMP_E_DECODE, size ? "" : "empty");
    }
    file = with_runs(40, 3, -2, 8, 1, CODES("\3\1\0\0\3\1\0\1"));
    expect_failure(&file, SMP_E_DECODE, "top row");
    file = with_runs(40, 30000, 30000, 8, 1, CODES("\3\1\0\1"));
    expect_failure(&file, SMP_E_DECODE, "truncated");
}

/* ------------------------------------------------------------------------------------------------ the rest */

SMP_TEST(what_is_not_read_is_named)
{
    static const struct {
        uint32_t header, bits, coding;
        const char *says;
    } cases[] = {
        {124, 0, 4, "a JPEG"},       {124, 0, 5, "a PNG"},        {64, 1, 3, "Huffman"},
        {40, 64, 0, "64 bits"},      {40, 24, 9, "method 9"},     {40, 3, 0, "3 bits"},
        {40, 4, 1, "compression 1"}, {40, 8, 3, "compression 3"}, {66, 24, 0, "66 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bmp_file file = begin(cases[i].header, 1, 1, cases[i].bits, cases[i].coding);
        begin_pixels(&file);
        put_bytes(&file, (const uint8_t[16]){0}, 16);
        expect_failure(&file, SMP_E_DECODE, cases[i].says);
    }
    bmp_file file = begin(40, 1, 1, 24, 0);
    file.bytes[10] = 20;
    put(&file, 0, 4);
    expect_failure(&file, SMP_E_DECODE, "inside its header");
    file = begin(40, 1, 1, 8, 0);
    begin_pixels(&file);
    put(&file, 0, 4);
    expect_failure(&file, SMP_E_DECODE, "no palette");
    file = begin(40, -5, 1, 24, 0);
    begin_pixels(&file);
    expect_failure(&file, SMP_E_DECODE, "no pixels");
}

/* More rows than are read at once, last row first, through a file and through a pipe, which cannot seek. */
SMP_TEST(tall_pictures_are_read_from_files_and_pipes)
{
    enum { WIDTH = 33, HEIGHT = 9000, ROW = (WIDTH * 3 + 3) / 4 * 4 };
    bmp_file head = begin(40, WIDTH, HEIGHT, 24, 0);
    begin_pixels(&head);
    size_t size = head.size + (size_t)ROW * HEIGHT;
    uint8_t *bytes = calloc(1, size);
    assert_non_null(bytes);
    memcpy(bytes, head.bytes, head.size);
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < WIDTH * 3; i++)
            bytes[head.size + (size_t)y * ROW + (size_t)i] = (uint8_t)((y * 31 + i * 7) >> 2);
    store(in_folder("tall.bmp"), bytes, size);
    char command[400], way[32];
    snprintf(command, sizeof command, "cat %s", in_folder("tall.bmp"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    snprintf(way, sizeof way, "/dev/fd/%d", fileno(pipe));
    smp_error err = {0};
    picture file, piped;
    assert_ok(read_picture(in_folder("tall.bmp"), &file, &err));
    assert_ok(read_picture(way, &piped, &err));
    pclose(pipe);
    assert_same_picture(&file, &piped);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++)
                assert_int_equal(file.data[(y * WIDTH + x) * 3 + c],
                                 bytes[head.size + (size_t)(HEIGHT - 1 - y) * ROW + (size_t)(3 * x + 2 - c)]);
    free_picture(&file);
    free_picture(&piped);
    free(bytes);
}

SMP_TEST(changed_bytes_never_crash)
{
    static const uint32_t masks[] = {0xFF, 0xFF00, 0xFF0000, 0xFF000000};
    bmp_file files[] = {
        with_runs(40, 4, 2, 8, 1, CODES("\3\1\1\2\0\0\0\3\4\5\6\0\1\7\0\1")),
        with_runs(64, 4, 1, 24, 4, CODES("\1\1\2\3\0\3\4\5\6\7\10\11\12\13\14\0\0\1")),
        with_runs(12, 2, 1, 8, 0, CODES("\1\2\0\0")),
        masked(124, 32, 3, masks, 7),
    };
    uint32_t seed = 5;
    int good = 0;
    for (int i = 0; i < 40000; i++)
        good += read_changed(files[i % 4].bytes, files[i % 4].size, 2, 1 + i / 4 % 4, NULL, &seed);
    assert_true(good > 0 && good < 40000);
}

SMP_TEST(allocation_failures_are_clean)
{
    bmp_file file = with_runs(40, 4, 2, 8, 1, CODES("\3\1\1\2\0\0\0\3\4\5\6\0\1\7\0\1"));
    store(in_folder("m.bmp"), file.bytes, file.size);
    assert_allocation_failures_are_clean(in_folder("m.bmp"));
}

SMP_TESTS_AROUND(make_folder, remove_folder)
