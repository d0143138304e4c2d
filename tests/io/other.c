/* BMP, TGA, PNM, PFM in and out, HDR in: round trips, files made by hand, damage, bombs and memory. */
#include "suite.h"

#include "media_fixture.h"

#include <math.h>

SMP_TEST(samples_come_back)
{
    static const struct {
        const char *name;
        int channels, read_channels;
        bool alpha;
        smp_format format;
    } cases[] = {
        {"a.bmp", 1, 3, false, SMP_U8},  {"a.bmp", 3, 3, false, SMP_U8},  {"a.bmp", 2, 4, true, SMP_U8},
        {"a.bmp", 4, 4, true, SMP_U8},   {"a.tga", 1, 1, false, SMP_U8},  {"a.tga", 2, 2, true, SMP_U8},
        {"a.tga", 3, 3, false, SMP_U8},  {"a.tga", 4, 4, true, SMP_U8},   {"a.pgm", 1, 1, false, SMP_U8},
        {"a.pgm", 1, 1, false, SMP_U16}, {"a.ppm", 3, 3, false, SMP_U8},  {"a.ppm", 3, 3, false, SMP_U16},
        {"a.ppm", 1, 3, false, SMP_U8},  {"a.ppm", 1, 3, false, SMP_U16}, {"a.pnm", 1, 1, false, SMP_U8},
        {"a.pnm", 3, 3, false, SMP_U16}, {"a.pam", 1, 1, false, SMP_U8},  {"a.pam", 2, 2, true, SMP_U16},
        {"a.pam", 3, 3, false, SMP_U8},  {"a.pam", 4, 4, true, SMP_U16},  {"a.pam", 5, 5, false, SMP_U8},
        {"a.pam", 6, 6, true, SMP_U8},   {"a.pfm", 1, 1, false, SMP_F32}, {"a.pfm", 3, 3, false, SMP_F32},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int64_t width = 1; width <= 7; width += 2) {
            smp_error err = {0};
            picture p = make_picture(width, 5, cases[k].channels, cases[k].alpha, cases[k].format), q;
            assert_ok(write_picture(in_folder(cases[k].name), &p, &err));
            assert_ok(read_picture(in_folder(cases[k].name), &q, &err));
            assert_int_equal(q.shape.width, width);
            assert_int_equal(q.shape.height, 5);
            assert_int_equal(q.shape.channels, cases[k].read_channels);
            assert_int_equal(q.shape.alpha, cases[k].alpha);
            assert_int_equal(q.shape.format, cases[k].format);
            size_t size = (size_t)smp_sample_size((int)cases[k].format);
            int from = cases[k].channels, to = cases[k].read_channels;
            for (int64_t i = 0; i < width * 5; i++)
                for (int c = 0; c < to; c++) {
                    int source = from == to ? c : cases[k].alpha && c == to - 1 ? from - 1 : 0; /* gray spreads */
                    if (memcmp(q.data + (size_t)(i * to + c) * size, p.data + (size_t)(i * from + source) * size, size))
                        fail_msg("case %zu, width %d, pixel %d, channel %d", k, (int)width, (int)i, c);
                }
            free_picture(&p);
            free_picture(&q);
        }
}

SMP_TEST(shapes_are_what_the_file_can_hold)
{
    static const struct {
        const char *name;
        int channels;
        bool alpha;
        smp_format format;
        smp_code code;
        int out_channels;
        bool out_alpha;
        smp_format out_format;
    } cases[] = {
        {"a.bmp", 4, true, SMP_F32, SMP_OK, 4, true, SMP_U8},    {"a.tga", 2, true, SMP_U16, SMP_OK, 2, true, SMP_U8},
        {"a.ppm", 4, true, SMP_F32, SMP_OK, 3, false, SMP_U16},  {"a.pgm", 2, true, SMP_U8, SMP_OK, 1, false, SMP_U8},
        {"a.pgm", 3, false, SMP_U8, SMP_E_WRITE, 0, false, 0},   {"a.bmp", 2, false, SMP_U8, SMP_E_WRITE, 0, false, 0},
        {"a.pam", 7, false, SMP_F32, SMP_OK, 7, false, SMP_U16}, {"a.psd", 3, false, SMP_U8, SMP_E_WRITE, 0, false, 0},
        {"a.hdr", 3, false, SMP_F32, SMP_E_WRITE, 0, false, 0},  {"a.pfm", 4, true, SMP_U8, SMP_OK, 3, false, SMP_F32},
        {"-", 4, true, SMP_U8, SMP_OK, 4, true, SMP_U8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_error err = {0};
        smp_shape out, in = {.kind = SMP_IMAGE,
                             .width = 5,
                             .height = 5,
                             .channels = cases[i].channels,
                             .alpha = cases[i].alpha,
                             .format = cases[i].format};
        smp_code code = smp_writer_shape(cases[i].name, &in, &out, &err);
        if (code != cases[i].code)
            fail_msg("case %zu: %d %s", i, code, err.message);
        if (code != SMP_OK)
            continue;
        assert_int_equal(out.channels, cases[i].out_channels);
        assert_int_equal(out.alpha, cases[i].out_alpha);
        assert_int_equal(out.format, cases[i].out_format);
    }
}

SMP_TEST(an_icon_is_made_of_as_many_pixels_as_its_sums_hold)
{
    for (int large = 0; large < 2; large++) {
        smp_error err = {0};
        smp_shape out, in = {.kind = SMP_IMAGE, .width = 1 << 24, .height = (1 << 24) + large, .channels = 3};
        assert_int_equal(smp_writer_shape("a.ico", &in, &out, &err), large ? SMP_E_WRITE : SMP_OK);
        in = (smp_shape){.kind = SMP_IMAGE, .width = (1LL << 48) + large, .height = 1, .channels = 3};
        assert_int_equal(smp_writer_shape("a.ico", &in, &out, &err), large ? SMP_E_WRITE : SMP_OK);
    }
}

/* ------------------------------------------------------------------------------------------ PNM by hand */

SMP_TEST(every_pnm_variant_is_read)
{
    expect_bytes(FILE_OF("P1\n# a comment\n3 2\n1 0 1\n0 1 0\n"), "\0\377\0\377\0\377", 6, SMP_U8);
    expect_bytes(FILE_OF("P1 3 2 101010"), "\0\377\0\377\0\377", 6, SMP_U8);
    expect_bytes(FILE_OF("P2 2 1 15 0 15\n"), "\0\377", 2, SMP_U8);
    expect_bytes(FILE_OF("P3 1 1\n255\n1 2 3"), "\1\2\3", 3, SMP_U8);
    expect_bytes(FILE_OF("P4 10 1\n\xAA\x80"), "\0\377\0\377\0\377\0\377\0\377", 10, SMP_U8);
    expect_bytes(FILE_OF("P5 2 1 255\nab"), "ab", 2, SMP_U8);
    const uint16_t scaled[] = {0, 65535, 32800}; /* 512 of 1023, to nearest */
    expect_bytes(FILE_OF("P5 3 1 1023\n\0\0\3\377\2\0"), scaled, 6, SMP_U16);
    expect_bytes(FILE_OF("P6#x\n1 1 255 abc\n"), "abc", 3, SMP_U8);
    expect_bytes(FILE_OF("P5 2#wide\n1 255#the last\nab"), "ab", 2, SMP_U8);
    expect_bytes(FILE_OF("P2 2 1 15 0#first\n15"), "\0\377", 2, SMP_U8);
    expect_bytes(FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nab"), "ab", 2,
                 SMP_U8);
}

SMP_TEST(faulty_pnm_is_refused)
{
    static const struct {
        const char *file;
        size_t size;
        smp_code code;
    } cases[] = {
        {FILE_OF("P5 2 1 255\nabc"), SMP_E_DECODE},
        {FILE_OF("P5 2 1 100\na\xFF"), SMP_E_DECODE},
        {FILE_OF("P5 2 1 70000\nab"), SMP_E_DECODE},
        {FILE_OF("P5 2 1 0\nab"), SMP_E_DECODE},
        {FILE_OF("P5 0 1 255\nab"), SMP_E_DECODE},
        {FILE_OF("P5 -2 1 255\nab"), SMP_E_DECODE},
        {FILE_OF("P1 2 1\n1 2"), SMP_E_DECODE},
        {FILE_OF("P2 2 1 100 7 101 "), SMP_E_DECODE},
        {FILE_OF("P5 99999999999 1 255\n"), SMP_E_DECODE},
        {FILE_OF("P5 2000000000 2 255\nab"), SMP_E_LIMIT},
        {FILE_OF("P5 40000 40000 255\nab"), SMP_E_DECODE},
        {FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 9\nMAXVAL 255\nENDHDR\nx"), SMP_E_DECODE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_error err = {0};
        picture p;
        smp_code code = read_memory(cases[i].file, cases[i].size, &p, &err);
        if (code != cases[i].code)
            fail_msg("case %zu: code %d: %s", i, code, err.message);
    }
}

/* ------------------------------------------------------------------------------------------ HDR by hand */

SMP_TEST(hdr_gives_linear_floats)
{
    static const char file[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n\x80\x40\x20\x81\x80\x80\x80\x80";
    smp_error err = {0};
    picture p;
    assert_ok(read_memory(file, sizeof file - 1, &p, &err));
    assert_int_equal(p.shape.format, SMP_F32);
    assert_int_equal(p.shape.channels, 3);
    const float want[] = {1.f, 0.5f, 0.25f, 0.5f, 0.5f, 0.5f};
    assert_memory_equal(p.data, want, sizeof want);
    free_picture(&p);
    for (size_t n = 0; n < sizeof file - 1; n++)
        assert_int_equal(read_memory(file, n, &p, &err), SMP_E_DECODE);
}

/* In both layouts: one channel after another, as newer files have it, and pixel by pixel. */
SMP_TEST(hdr_reads_every_exponent)
{
    enum { WIDTH = 256, PART = 64 };
    static const int mantissas[3] = {255, 2, 129};
    char planes[2048], pixels[2048];
    float want[3 * WIDTH];
    size_t size = (size_t)sprintf(planes, "#?RGBE\n\n-Y 1 +X %d\n\2\2\1%c", WIDTH, 0);
    size_t begin = (size_t)sprintf(pixels, "#?RGBE\n\n-Y 1 +X %d\n", WIDTH), end = begin;
    for (int c = 0; c < 4; c++)
        for (int x = 0; x < WIDTH; x++) {
            if (x % PART == 0)
                planes[size++] = PART;
            planes[size++] = (char)(c < 3 ? mantissas[c] : x);
            pixels[begin + (size_t)(4 * x + c)] = (char)(c < 3 ? mantissas[c] : x);
            end++;
            if (c < 3)
                want[3 * x + c] = x ? ldexpf((float)mantissas[c], x - 136) : 0;
        }
    expect_bytes(planes, size, want, sizeof want, SMP_F32);
    expect_bytes(pixels, end, want, sizeof want, SMP_F32);
}

/* A run of no samples goes nowhere, which must not wait for ever. */
SMP_TEST(an_hdr_that_ends_in_empty_runs_is_an_error)
{
    static const char file[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n\2\2\0\10\0\0\0";
    smp_error err = {0};
    picture p;
    assert_int_equal(read_memory(file, sizeof file - 1, &p, &err), SMP_E_DECODE);
}

/* A pixel of 1, 1, 1 repeats the one before it: the older kind of runs. */
SMP_TEST(an_hdr_with_runs_of_either_kind_is_read)
{
    static const char old[] = "#?RGBE\n\n-Y 1 +X 4\n\x80\x40\x20\x81\1\1\1\2\x80\x80\x80\x80";
    const float want[] = {1, .5f, .25f, 1, .5f, .25f, 1, .5f, .25f, .5f, .5f, .5f};
    expect_bytes(FILE_OF(old), want, sizeof want, SMP_F32);
    static const char runs[] = "#?RGBE\n\n-Y 1 +X 8\n\2\2\0\10\x88\x80\x88\x40\x84\x20\4\x10\x10\x10\x10\x88\x81";
    float eight[24];
    for (int x = 0; x < 8; x++)
        memcpy(eight + 3 * x, (const float[]){1, .5f, x < 4 ? .25f : .125f}, 3 * sizeof(float));
    expect_bytes(FILE_OF(runs), eight, sizeof eight, SMP_F32);
    smp_error err = {0};
    picture p;
    assert_int_equal(read_memory(FILE_OF("#?RGBE\n\n-Y 1 +X 8\n\2\2\0\10\x89\x80"), &p, &err), SMP_E_DECODE);
    assert_int_equal(read_memory(FILE_OF("#?RGBE\n\n-Y 1 +X 2\n\x80\x40\x20\x81\1\1\1\2"), &p, &err), SMP_E_DECODE);
    assert_int_equal(read_memory(FILE_OF("#?RGBE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n1234"), &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "xyze"));
}

SMP_TEST(pfm_is_read_in_either_byte_order)
{
    const float gray[] = {3, 4, 1, 2}; /* the last row comes first */
    expect_bytes(FILE_OF("Pf\n2 2\n-1.0\n\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40\0\0\x80\x40"), gray, sizeof gray, SMP_F32);
    expect_bytes(FILE_OF("Pf 2 2 2.5\n\x3F\x80\0\0\x40\0\0\0\x40\x40\0\0\x40\x80\0\0"), gray, sizeof gray, SMP_F32);
    const float colour[] = {1, 2, 3};
    expect_bytes(FILE_OF("PF\n1 1\n-1\n\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40"), colour, sizeof colour, SMP_F32);
    static const char *const faulty[] = {"Pf\n0 2\n-1.0\n1234", "Pf\n2 x\n-1.0\n1234", "Pf\n1 1\n0\n1234",
                                         "Pf\n1 1\nnan\n1234",  "Pf\n1 1\n-1.0\n123",  "Pf\n1 1\n"};
    for (size_t i = 0; i < sizeof faulty / sizeof faulty[0]; i++) {
        smp_error err = {0};
        picture p;
        assert_int_equal(read_memory(faulty[i], strlen(faulty[i]), &p, &err), SMP_E_DECODE);
    }
}

/* Whether the fourth byte is alpha is what the header's last byte says: here, of the colours of a palette. */
SMP_TEST(padding_in_a_palette_of_a_tga_is_no_alpha)
{
    uint8_t file[] = {0, 1, 1, 0, 0, 2, 0, 32, 0, 0, 0, 0, 2, 0, 1, 0, 8, 0x20, 1, 2, 3, 0, 4, 5, 6, 0, 1, 0};
    expect_bytes((const char *)file, sizeof file, "\6\5\4\3\2\1", 6, SMP_U8);
    file[17] |= 8;
    expect_bytes((const char *)file, sizeof file, "\6\5\4\0\3\2\1\0", 8, SMP_U8);
}

/* Four pixels of number 1 to 4, plain or in runs that go on in the next row, from any corner. */
SMP_TEST(a_tga_begins_at_any_corner)
{
    static const struct {
        uint8_t corner;
        const char *want;
    } cases[] = {{0x20, "\1\2\3\4"}, {0x00, "\3\4\1\2"}, {0x30, "\2\1\4\3"}, {0x10, "\4\3\2\1"}};
    for (size_t i = 0; i < 4; i++)
        for (int runs = 0; runs < 2; runs++) {
            uint8_t file[32] = {2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 8, 0, 'i', 'd'};
            size_t size = 20;
            file[2] |= (uint8_t)(runs ? 8 : 0);
            file[17] = cases[i].corner;
            memcpy(file + size, runs ? "\2\1\2\3\200\4" : "\1\2\3\4", runs ? 6 : 4);
            size += runs ? 6 : 4;
            expect_bytes((const char *)file, size, cases[i].want, 4, SMP_U8);
            for (size_t n = 18; n < size; n++) {
                smp_error err = {0};
                picture p;
                assert_int_equal(read_memory(file, n, &p, &err), SMP_E_DECODE);
            }
        }
}

/* Without bits of alpha in the header, the fourth byte is padding; a palette may begin at any number. */
SMP_TEST(a_tga_has_the_alpha_that_its_header_declares)
{
    uint8_t file[] = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 32, 0x20, 1, 2, 3, 99};
    expect_bytes((const char *)file, sizeof file, "\3\2\1", 3, SMP_U8);
    file[17] |= 8;
    expect_bytes((const char *)file, sizeof file, "\3\2\1\143", 4, SMP_U8);
    uint8_t gray[] = {0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 16, 0x20, 7, 99};
    expect_bytes((const char *)gray, sizeof gray, "\7", 1, SMP_U8);
    uint8_t palette[] = {0, 1, 1, 5, 0, 1, 0, 24, 0, 0, 0, 0, 1, 0, 1, 0, 8, 0x20, 1, 2, 3, 5};
    expect_bytes((const char *)palette, sizeof palette, "\3\2\1", 3, SMP_U8);
    smp_error err = {0};
    picture p;
    palette[21] = 4;
    assert_int_equal(read_memory(palette, sizeof palette, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "colour 4"));
    uint8_t fives[] = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 16, 0x20, 0x01, 0x7E};
    expect_bytes((const char *)fives, sizeof fives, "\377\204\10", 3, SMP_U8); /* 31, 16, 1 */
    fives[17] |= 1;
    expect_bytes((const char *)fives, sizeof fives, "\377\204\10\0", 4, SMP_U8);
    fives[19] |= 0x80;
    expect_bytes((const char *)fives, sizeof fives, "\377\204\10\377", 4, SMP_U8);
    uint8_t fifteen[] = {0, 1, 1, 0, 0, 1, 0, 16, 0, 0, 0, 0, 1, 0, 1, 0, 8, 0x21, 0x01, 0xFE, 0};
    expect_bytes((const char *)fifteen, sizeof fifteen, "\377\204\10\377", 4, SMP_U8); /* of a palette */
}

/* ------------------------------------------------------------------------------------------ memory */

/* The least limit of this kind under which the file is read: 0 max_memory, 1 what can be allocated at all. */
static uint64_t least_memory(const char *path, int kind)
{
    uint64_t low = 0, high = UINT64_C(1) << 30;
    while (high - low > 1024) {
        uint64_t middle = low + (high - low) / 2;
        smp_read_options how = smp_read_defaults();
        if (kind == 0)
            how.limits.max_memory = middle;
        else
            smp_alloc_limit(smp_alloc_live() + middle);
        smp_error err = {0};
        smp_reader *reader;
        uint8_t row[4 * 4 * 3000];
        smp_code code = smp_reader_open(path, &how, &reader, &err);
        for (int64_t y = 0; code == SMP_OK && y < smp_reader_media(reader)->shape.height; y++)
            code = smp_reader_rows(reader, row, sizeof row, 1, &err);
        smp_reader_close(reader);
        smp_alloc_limit(0);
        if (code == SMP_OK)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* --max-memory refuses what would take more: the estimates, which are made before anything is allocated, are within 1.3
 * of what is used, or both are small. */
SMP_TEST(estimates_of_memory_are_what_is_used)
{
    enum { WIDTH = 3000, HEIGHT = 1000, FIXED = 3 << 17 }; /* FIXED: buffers of any file */
    const size_t pixels = (size_t)WIDTH * HEIGHT;
    uint8_t *file = calloc(1, 5 * pixels);
    assert_non_null(file);
    const uint8_t tga[18] = {0, 0, 2, [12] = WIDTH & 255, WIDTH >> 8, HEIGHT & 255, HEIGHT >> 8, 24};
    memcpy(file, tga, 18);
    store(in_folder("plain.tga"), file, 18 + 3 * pixels);
    file[2] = 11; /* gray in runs, last row first: kept whole */
    file[16] = 8;
    memset(file + 18, 255, pixels / 64);
    store(in_folder("runs.tga"), file, 18 + pixels / 64 + 64);
    memset(file, 0, 5 * pixels);
    memcpy(file, "8BPS\0\1\0\0\0\0\0\0\0\3\0\0\3\350\0\0\13\270\0\10\0\3", 26);
    store(in_folder("plain.psd"), file, 40 + 3 * pixels);
    memset(file, 0, 5 * pixels);
    size_t begin = (size_t)sprintf((char *)file, "#?RGBE\n\n-Y %d +X %d\n", HEIGHT, WIDTH);
    store(in_folder("plain.hdr"), file, begin + 4 * pixels);
    memset(file, 0, 5 * pixels);
    begin = (size_t)sprintf((char *)file, "PF %d %d -1.0\n", WIDTH, HEIGHT / 4);
    store(in_folder("plain.pfm"), file, begin + 3 * pixels);
    const uint8_t bmp[54] = {
        'B',         'M',      [10] = 54, [14] = 40, [18] = WIDTH & 255, WIDTH >> 8, [22] = HEIGHT & 255,
        HEIGHT >> 8, [26] = 1, [28] = 24};
    memcpy(file, bmp, 54);
    store(in_folder("plain.bmp"), file, 54 + 3 * pixels);
    file[28] = 8;
    file[30] = 1;
    file[10] = 58;
    for (size_t i = 58, y = 0; y < HEIGHT; y++, i += 2)
        for (int x = 0; x < WIDTH; x += 250, i += 2)
            file[i] = 250;
    store(in_folder("runs.bmp"), file, 58 + 26 * HEIGHT);
    free(file);
    static const char *const names[] = {"plain.tga", "runs.tga",  "plain.psd", "plain.hdr",
                                        "plain.pfm", "plain.bmp", "runs.bmp"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t told = least_memory(in_folder(names[i]), 0), used = least_memory(in_folder(names[i]), 1);
        if (told > used + used / 10 * 3 || used > told + told / 10 * 3 + FIXED)
            fail_msg("%s: %llu bytes estimated, %llu used", names[i], (unsigned long long)told,
                     (unsigned long long)used);
        if (strncmp(names[i], "plain", 5) == 0)
            assert_true(used < 3 << 19); /* not the picture, which has 3 bytes a pixel or more */
    }
}

/* ------------------------------------------------------------------------------------------ damage */

SMP_TEST(every_truncation_is_an_error)
{
    static const char *const names[] = {"t.bmp", "t.tga", "t.ppm", "t.pam", "t.pfm"};
    smp_error err = {0};
    for (size_t i = 0; i < 5; i++)
        for (int channels = 1; channels <= 4; channels++) {
            if ((i == 2 || i == 4) && channels % 2 == 0)
                continue;
            picture p = make_picture(5, 40, channels, channels % 2 == 0, i == 4 ? SMP_F32 : SMP_U8);
            assert_ok(write_picture(in_folder(names[i]), &p, &err));
            assert_truncations_fail(in_folder(names[i]), channels == 3 ? 1 : 11);
            free_picture(&p);
        }
}

SMP_TEST(tiny_files_with_giant_sizes_are_refused)
{
    uint8_t tga[18] = {0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 24, 0};
    uint8_t runs[18] = {0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x9C, 0x40, 0x9C, 32, 8};
    uint8_t bmp[54] = {'B', 'M', 0, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 24};
    smp_error err = {0};
    picture p;
    uint64_t before = smp_alloc_peak();
    assert_int_equal(read_memory(tga, sizeof tga, &p, &err), SMP_E_LIMIT);
    assert_int_equal(read_memory(runs, sizeof runs, &p, &err), SMP_E_DECODE);
    assert_int_equal(read_memory(bmp, sizeof bmp, &p, &err), SMP_E_LIMIT);
    bmp[21] = bmp[25] = 0;
    bmp[20] = bmp[24] = 9;
    smp_code code = read_memory(bmp, sizeof bmp, &p, &err);
    assert_true(code == SMP_E_DECODE || code == SMP_E_LIMIT);
    assert_true(smp_alloc_peak() < before + (1 << 20));
}

SMP_TEST(changed_bytes_never_crash)
{
    static const char *const names[] = {"f.bmp", "f.tga", "f.ppm", "f.pam"};
    uint32_t seed = 3;
    smp_error err = {0};
    for (int channels = 1; channels <= 4; channels++)
        for (size_t k = 0; k < 4; k++) {
            if (k == 2 && channels % 2 == 0)
                continue;
            picture p = make_picture(6, 5, channels, channels % 2 == 0, SMP_U8);
            assert_ok(write_picture(in_folder(names[k]), &p, &err));
            free_picture(&p);
            size_t size;
            uint8_t *file = load(in_folder(names[k]), &size), *copy = malloc(size);
            assert_non_null(copy);
            for (int i = 0; i < 1500; i++) {
                memcpy(copy, file, size);
                for (int n = 0; n < 1 + i % 4; n++) {
                    seed = seed * 1664525u + 1013904223u;
                    copy[2 + (seed >> 8) % 70 % (size - 2)] = (uint8_t)(seed >> 24);
                }
                smp_code code = read_memory(copy, size, &p, &err);
                if (code == SMP_OK)
                    free_picture(&p);
                else if (code != SMP_E_DECODE && code != SMP_E_LIMIT)
                    fail_msg("code %d: %s", code, err.message);
            }
            free(file);
            free(copy);
        }
}

SMP_TEST(foreign_files_are_named)
{
    static const char *const files[][2] = {{"PK\3\4............", "a zip archive"},
                                           {"\x1F\x8B..............", "a gzip file"},
                                           {"hello, this is text", "no known format"}};
    enum { SIZE = 16 };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        smp_error err = {0};
        picture p;
        assert_int_equal(read_memory(files[i][0], SIZE, &p, &err), SMP_E_DECODE);
        assert_non_null(strstr(err.message, files[i][1]));
        assert_non_null(strstr(err.hint, "'smempipe help formats'"));
    }
    smp_error err = {0};
    picture p;
    assert_int_equal(read_memory("", 0, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "empty"));
}

SMP_TEST(allocation_failures_are_clean)
{
    static const char *const names[] = {"m.bmp", "m.tga", "m.ppm", "m.ico"};
    smp_error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        picture p = make_picture(6, 5, 3, false, SMP_U8);
        assert_ok(write_picture(in_folder(names[i]), &p, &err));
        free_picture(&p);
        assert_allocation_failures_are_clean(in_folder(names[i]));
    }
}

SMP_TESTS_AROUND(make_folder, remove_folder)
