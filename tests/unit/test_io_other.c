/* BMP, TGA, PNM in and out, PSD and HDR in: round trips, files made by hand, damage and bombs. */
#include "media_fixture.h"

#include <math.h>

static void samples_come_back(void **context)
{
    (void)context;
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
        {"a.pam", 6, 6, true, SMP_U8},
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

static void shapes_are_what_the_file_can_hold(void **context)
{
    (void)context;
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
        {"a.hdr", 3, false, SMP_F32, SMP_E_WRITE, 0, false, 0},  {"-", 4, true, SMP_U8, SMP_OK, 4, true, SMP_U8},
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

/* ------------------------------------------------------------------------------------------ PNM by hand */

static void expect_bytes(const char *file, size_t size, const void *samples, size_t bytes, smp_format format)
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

static void every_pnm_variant_is_read(void **context)
{
    (void)context;
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

static void faulty_pnm_is_refused(void **context)
{
    (void)context;
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

/* ------------------------------------------------------------------------------------------ HDR and PSD by hand */

static void hdr_gives_linear_floats(void **context)
{
    (void)context;
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

/* A run of no samples: stb_image waits for ever when the file ends there. */
static void an_hdr_that_ends_in_empty_runs_is_an_error(void **context)
{
    (void)context;
    static const char file[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n\2\2\0\10\0\0\0";
    smp_error err = {0};
    picture p;
    assert_int_equal(read_memory(file, sizeof file - 1, &p, &err), SMP_E_DECODE);
}

/* Whether the fourth byte is alpha is what the header's last byte says: here, of the colours of a palette. */
static void padding_in_a_palette_of_a_tga_is_no_alpha(void **context)
{
    (void)context;
    uint8_t file[] = {0, 1, 1, 0, 0, 2, 0, 32, 0, 0, 0, 0, 2, 0, 1, 0, 8, 0x20, 1, 2, 3, 0, 4, 5, 6, 0, 1, 0};
    expect_bytes((const char *)file, sizeof file, "\6\5\4\3\2\1", 6, SMP_U8);
    file[17] |= 8;
    expect_bytes((const char *)file, sizeof file, "\6\5\4\0\3\2\1\0", 8, SMP_U8);
}

static size_t compose_psd(uint8_t *file, int channels, int bits, int coding)
{
    static const uint8_t head[] = {'8', 'B', 'P', 'S', 0, 1, 0, 0, 0, 0, 0, 0, 0,
                                   0,   0,   0,   0,   1, 0, 0, 0, 2, 0, 0, 0, 3};
    memset(file, 0, 128);
    memcpy(file, head, sizeof head);
    file[13] = (uint8_t)channels;
    file[23] = (uint8_t)bits;
    file[39] = (uint8_t)coding;
    size_t n = 40;
    for (int c = 0; c < channels; c++)
        for (int x = 0; x < 2; x++) {
            file[n++] = (uint8_t)(c == 3 ? 255 : 10 * c + x);
            if (bits == 16)
                file[n++] = (uint8_t)(c == 3 ? 255 : 7);
        }
    return n;
}

static void psd_gives_its_merged_picture(void **context)
{
    (void)context;
    uint8_t file[128];
    smp_error err = {0};
    picture p;
    size_t size = compose_psd(file, 3, 8, 0);
    assert_ok(read_memory(file, size, &p, &err));
    assert_int_equal(p.shape.channels, 3);
    assert_memory_equal(p.data, "\0\12\24\1\13\25", 6);
    free_picture(&p);
    size = compose_psd(file, 4, 16, 0);
    assert_ok(read_memory(file, size, &p, &err));
    assert_int_equal(p.shape.channels, 4);
    assert_int_equal(p.shape.format, SMP_U16);
    const uint16_t want[] = {7, 10 * 256 + 7, 20 * 256 + 7, 65535, 263, 11 * 256 + 7, 21 * 256 + 7, 65535};
    assert_memory_equal(p.data, want, sizeof want);
    free_picture(&p);
    for (size_t n = 0; n < size; n++)
        assert_int_equal(read_memory(file, n, &p, &err), SMP_E_DECODE);
    size = compose_psd(file, 3, 16, 1);
    assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
    file[25] = 4; /* CMYK */
    assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.hint, "RGB"));
}

/* ------------------------------------------------------------------------------------------ damage */

static void every_truncation_is_an_error(void **context)
{
    (void)context;
    static const char *const names[] = {"t.bmp", "t.tga", "t.ppm", "t.pam"};
    smp_error err = {0};
    for (size_t i = 0; i < 4; i++)
        for (int channels = 1; channels <= 4; channels++) {
            if (i == 2 && channels % 2 == 0)
                continue;
            picture p = make_picture(5, 40, channels, channels % 2 == 0, SMP_U8);
            assert_ok(write_picture(in_folder(names[i]), &p, &err));
            assert_truncations_fail(in_folder(names[i]), channels == 3 ? 1 : 11);
            free_picture(&p);
        }
}

static void tiny_files_with_giant_sizes_are_refused(void **context)
{
    (void)context;
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

static void changed_bytes_never_crash(void **context)
{
    (void)context;
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

static void foreign_files_are_named(void **context)
{
    (void)context;
    static const char *const files[][2] = {{"GIF89a..........", "a GIF"},
                                           {"RIFF....WEBPVP8 ", "a WebP"},
                                           {"....ftypM4A .", "an M4A sound"},
                                           {"hello, this is text", "no known format"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        smp_error err = {0};
        picture p;
        assert_int_equal(read_memory(files[i][0], strlen(files[i][0]), &p, &err), SMP_E_DECODE);
        assert_non_null(strstr(err.message, files[i][1]));
        assert_non_null(strstr(err.hint, "PNG"));
    }
    smp_error err = {0};
    picture p;
    assert_int_equal(read_memory("", 0, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "empty"));
}

static void allocation_failures_are_clean(void **context)
{
    (void)context;
    static const char *const names[] = {"m.bmp", "m.tga", "m.ppm"};
    smp_error err = {0};
    for (size_t i = 0; i < 3; i++) {
        picture p = make_picture(6, 5, 3, false, SMP_U8);
        assert_ok(write_picture(in_folder(names[i]), &p, &err));
        free_picture(&p);
        assert_allocation_failures_are_clean(in_folder(names[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_come_back),
        cmocka_unit_test(shapes_are_what_the_file_can_hold),
        cmocka_unit_test(every_pnm_variant_is_read),
        cmocka_unit_test(faulty_pnm_is_refused),
        cmocka_unit_test(hdr_gives_linear_floats),
        cmocka_unit_test(an_hdr_that_ends_in_empty_runs_is_an_error),
        cmocka_unit_test(padding_in_a_palette_of_a_tga_is_no_alpha),
        cmocka_unit_test(psd_gives_its_merged_picture),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(tiny_files_with_giant_sizes_are_refused),
        cmocka_unit_test(changed_bytes_never_crash),
        cmocka_unit_test(foreign_files_are_named),
        cmocka_unit_test(allocation_failures_are_clean),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
