/* NumPy arrays in and out: exact bytes, every header that NumPy writes, and those it never would. */
#include "suite.h"

#include "media_fixture.h"

#include <math.h>

SMP_TEST(every_format_and_channel_count_comes_back)
{
    smp_error err = {0};
    for (int format = 0; format < SMP_FORMATS; format++)
        for (int channels = 1; channels <= SMP_MAX_CHANNELS; channels++) {
            picture p = make_picture(13, 7, channels, false, (smp_format)format), q;
            assert_ok(write_picture(in_folder("a.npy"), &p, &err));
            assert_ok(read_picture(in_folder("a.npy"), &q, &err));
            assert_same_picture(&p, &q);
            free_picture(&p);
            free_picture(&q);
        }
}

SMP_TEST(header_is_what_numpy_writes)
{
    smp_error err = {0};
    picture p = make_picture(5, 4, 1, false, SMP_U16);
    assert_ok(write_picture(in_folder("a.npy"), &p, &err));
    size_t size;
    uint8_t *data = load(in_folder("a.npy"), &size);
    char want[128];
    memset(want, ' ', sizeof want);
    memcpy(want, "\x93NUMPY\1\0\x76\0", 10);
    const char *text = "{'descr': '<u2', 'fortran_order': False, 'shape': (4, 5), }";
    memcpy(want + 10, text, strlen(text));
    want[127] = '\n';
    assert_int_equal(size, 128 + 40);
    assert_memory_equal(data, want, 128);
    assert_memory_equal(data + 128, p.data, 40);
    free(data);
    free_picture(&p);
    p = make_picture(5, 4, 3, false, SMP_U8);
    assert_ok(write_picture(in_folder("a.npy"), &p, &err));
    data = load(in_folder("a.npy"), &size);
    text = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 5, 3), }";
    assert_memory_equal(data + 10, text, strlen(text));
    free(data);
    free_picture(&p);
}

/* A file with this dictionary and data; size bytes of data. */
static size_t compose(uint8_t *file, int version, const char *header, const void *data, size_t size)
{
    size_t length = strlen(header), n = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[7] = 0;
    memset(file + 8, 0, 4);
    file[8] = (uint8_t)(length & 0xFF);
    file[9] = (uint8_t)(length >> 8);
    memcpy(file + n, header, length);
    memcpy(file + n + length, data, size);
    return n + length + size;
}

SMP_TEST(versions_spacing_quotes_and_orders_are_understood)
{
    static const char *const headers[] = {
        "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{\"descr\":\"<u2\",\"fortran_order\":False,\"shape\":(2,3)}",
        "{ 'shape' : ( 2 , 3 , ) , 'descr':'=u2','fortran_order': False }   \n",
        "{'shape': (2L, 3L), 'fortran_order': False, 'descr': '<u2'}",
    };
    const uint16_t samples[] = {1, 2, 3, 400, 500, 65535};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        for (int version = 1; version <= 3; version++) {
            uint8_t file[256];
            smp_error err = {0};
            picture p;
            size_t size = compose(file, version, headers[i], samples, sizeof samples);
            assert_ok(read_memory(file, size, &p, &err));
            assert_int_equal(p.shape.width, 3);
            assert_int_equal(p.shape.height, 2);
            assert_memory_equal(p.data, samples, sizeof samples);
            free_picture(&p);
        }
}

SMP_TEST(big_endian_samples_are_swapped)
{
    uint8_t file[256];
    smp_error err = {0};
    picture p;
    size_t size = compose(file, 1, "{'descr': '>u2', 'fortran_order': False, 'shape': (1, 2), }", "\1\2\3\4", 4);
    assert_ok(read_memory(file, size, &p, &err));
    assert_int_equal(((uint16_t *)(void *)p.data)[0], 0x0102);
    assert_int_equal(((uint16_t *)(void *)p.data)[1], 0x0304);
    free_picture(&p);
    size = compose(file, 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1), }", "\x3F\x80\0\0", 4);
    assert_ok(read_memory(file, size, &p, &err));
    assert_true(((float *)(void *)p.data)[0] == 1.f);
    free_picture(&p);
}

SMP_TEST(fortran_order_gives_the_same_picture)
{
    uint8_t file[256], data[2 * 3 * 2];
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++)
            for (int c = 0; c < 2; c++)
                data[y + 2 * (x + 3 * c)] = (uint8_t)(100 * y + 10 * x + c);
    smp_error err = {0};
    picture p;
    size_t size = compose(file, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }", data, sizeof data);
    assert_ok(read_memory(file, size, &p, &err));
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++)
            for (int c = 0; c < 2; c++)
                assert_int_equal(p.data[(y * 3 + x) * 2 + c], 100 * y + 10 * x + c);
    free_picture(&p);
}

/* A row of two samples of this type, in either byte order, comes out as these two. */
static void expect_converted(const char *type, const void *samples, size_t bytes, const void *want, smp_format format)
{
    for (int swap = 0; swap < 2; swap++) {
        uint8_t file[256], data[16];
        char header[128];
        const char order = bytes == 1 ? '|' : smp_little_endian() != (swap == 1) ? '<' : '>';
        for (size_t i = 0; i < 2 * bytes; i++)
            data[i] = ((const uint8_t *)samples)[swap ? i / bytes * bytes + bytes - 1 - i % bytes : i];
        snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (1, 2), }", order, type,
                 swap ? "True" : "False");
        smp_error err = {0};
        picture p;
        size_t size = compose(file, 1, header, data, 2 * bytes);
        assert_ok(read_memory(file, size, &p, &err));
        assert_int_equal(p.shape.format, format);
        assert_memory_equal(p.data, want, p.size);
        free_picture(&p);
    }
}

SMP_TEST(other_types_are_converted_exactly)
{
    expect_converted("b1", "\0\1", 1, "\0\377", SMP_U8);
    expect_converted("i1", (const int8_t[]){-128, 127}, 1, (const float[]){-128, 127}, SMP_F32);
    expect_converted("i2", (const int16_t[]){-32768, 300}, 2, (const float[]){-32768, 300}, SMP_F32);
    expect_converted("i4", (const int32_t[]){-16777216, 16777216}, 4, (const float[]){-16777216, 16777216}, SMP_F32);
    expect_converted("i8", (const int64_t[]){-16777216, 255}, 8, (const float[]){-16777216, 255}, SMP_F32);
    expect_converted("u4", (const uint32_t[]){0, 16777216}, 4, (const float[]){0, 16777216}, SMP_F32);
    expect_converted("u8", (const uint64_t[]){16777215, 1}, 8, (const float[]){16777215, 1}, SMP_F32);
    expect_converted("f8", (const double[]){-0.5, 16777216}, 8, (const float[]){-0.5f, 16777216}, SMP_F32);
    expect_converted("f8", (const double[]){INFINITY, 0x1p-149}, 8, (const float[]){INFINITY, 0x1p-149f}, SMP_F32);
    expect_converted("f2", (const uint16_t[]){0x3C00, 0xC000}, 2, (const float[]){1, -2}, SMP_F32);
    expect_converted("f2", (const uint16_t[]){0x7BFF, 0x0001}, 2, (const float[]){65504, 0x1p-24f}, SMP_F32);
    expect_converted("f2", (const uint16_t[]){0x8000, 0xFC00}, 2, (const float[]){-0.f, -INFINITY}, SMP_F32);
}

/* numpy.save of a float picture writes float64. */
SMP_TEST(float64_is_rounded_and_told)
{
    static const struct {
        double sample;
        size_t notes;
    } cases[] = {{0.1, 1}, {0.5, 0}, {1e-60, 1}, {(double)NAN, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t file[256];
        char header[128];
        const double data[4] = {1, cases[i].sample, 2, cases[i].sample};
        float rows[4];
        snprintf(header, sizeof header, "{'descr': '%cf8', 'fortran_order': False, 'shape': (2, 2), }",
                 smp_little_endian() ? '<' : '>');
        const size_t size = compose(file, 1, header, data, 32);
        smp_read_options how = smp_read_defaults();
        smp_error err = {0};
        smp_reader *reader;
        assert_int_equal(smp_reader_open_memory(file, size, &how, &reader, &err), SMP_OK);
        assert_int_equal(smp_reader_rows(reader, rows, 8, 2, &err), SMP_OK);
        const float want = (float)cases[i].sample;
        assert_memory_equal(&rows[3], &want, sizeof want);
        assert_int_equal(smp_reader_notes(reader)->count, cases[i].notes);
        smp_reader_close(reader);
    }
}

/* --layout chw writes such arrays, and is no option of inputs. */
SMP_TEST(planes_in_front_are_told_apart)
{
    static const struct {
        const char *shape;
        bool first;
    } cases[] = {{"(3, 2, 12)", true}, {"(9, 2, 12)", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t file[512], data[216] = {0};
        char header[128];
        smp_error err = {0};
        picture p;
        snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", cases[i].shape);
        const size_t size = compose(file, 1, header, data, cases[i].first ? 72 : 216);
        assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
        assert_int_equal(strstr(err.hint, "--layout chw") != NULL, cases[i].first);
    }
}

/* The message names the place and the value, the hint what to type. */
SMP_TEST(samples_that_do_not_fit_are_refused)
{
    static const struct {
        const char *type, *says, *hint;
        union {
            double f;
            int64_t i;
            uint64_t u;
        } sample;
    } cases[] = {
        {"f8", "float64 at row 1, column 1, channel 0 is 1.0000000000000001e+300", "numpy.float32", {.f = 1e300}},
        {"i8", "is 16777217", "numpy.uint16", {.i = 16777217}},
        {"i8", "is -9223372036854775808", "numpy.uint16", {.i = INT64_MIN}},
        {"u8", "is 18446744073709551615", "numpy.uint16", {.u = UINT64_MAX}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t file[256], data[32] = {0};
        char header[128];
        snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (2, 2), }",
                 smp_little_endian() ? '<' : '>', cases[i].type);
        memcpy(data + 24, &cases[i].sample, 8);
        smp_error err = {0};
        picture p;
        size_t size = compose(file, 1, header, data, 32);
        assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
        if (!strstr(err.message, cases[i].says))
            fail_msg("'%s' does not say '%s'", err.message, cases[i].says);
        assert_non_null(strstr(err.hint, cases[i].hint));
    }
}

SMP_TEST(what_cannot_be_read_is_refused_with_a_reason)
{
    static const struct {
        const char *header, *says;
        smp_code code;
    } cases[] = {
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }", "complex64", SMP_E_DECODE},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1, 1), }", "longdouble", SMP_E_DECODE},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }", "object", SMP_E_DECODE},
        {"{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (1, 1), }", "fields", SMP_E_DECODE},
        {"{'descr': '|u2', 'fortran_order': False, 'shape': (1, 1), }", "unknown", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (8,), }", "1 dimension", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "0 dimensions", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", "4 dimensions", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 9), }", "9 channels", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (0, 4), }", "no pixels", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 4), }", "understood", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 99999999999999999999), }", "understood", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (4000000000, 4000000000), }", "more than the limit",
         SMP_E_LIMIT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1999999999, 8), }", "more than the limit", SMP_E_LIMIT},
        {"{'descr': '|u1', 'fortran_order': True, 'shape': (40000, 40000), }", "truncated", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 7), }", "1 bytes follow", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 9), }", "truncated", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': 0, 'shape': (1, 8), }", "understood", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False}", "understood", SMP_E_DECODE},
        {"{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1, 8)}", "understood", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 8), 'x': 1}", "understood", SMP_E_DECODE},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 8)} + 1", "understood", SMP_E_DECODE},
        {"", "understood", SMP_E_DECODE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t file[256];
        smp_error err = {0};
        picture p;
        size_t size = compose(file, 1, cases[i].header, "12345678", 8);
        smp_code code = read_memory(file, size, &p, &err);
        if (code != cases[i].code || !strstr(err.message, cases[i].says))
            fail_msg("%s: code %d: %s", cases[i].header, code, err.message);
        assert_string_equal(err.where, "memory");
    }
    smp_error err = {0};
    picture p;
    assert_int_equal(read_memory("\x93NUMPY\4\0\2\0{}", 12, &p, &err), SMP_E_DECODE);
    assert_int_equal(read_memory("\x93NUMPY\2\0\xFF\xFF\xFF\x7F{}", 14, &p, &err), SMP_E_LIMIT);
}

SMP_TEST(every_truncation_is_an_error)
{
    smp_error err = {0};
    picture p = make_picture(5, 4, 3, false, SMP_U16);
    assert_ok(write_picture(in_folder("t.npy"), &p, &err));
    free_picture(&p);
    assert_truncations_fail(in_folder("t.npy"), 1);
}

SMP_TEST(changed_headers_never_crash)
{
    uint8_t file[256];
    uint32_t seed = 1;
    size_t size = compose(file, 1, "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 2), }", "12345678", 8);
    int good = 0;
    for (int i = 0; i < 20000; i++)
        good += read_changed(file, size, 6, 1 + i % 3, NULL, &seed);
    assert_true(good > 0 && good < 20000);
}

SMP_TEST(allocation_failures_are_clean)
{
    smp_error err = {0};
    picture p = make_picture(5, 4, 3, false, SMP_U16);
    assert_ok(write_picture(in_folder("m.npy"), &p, &err));
    free_picture(&p);
    assert_allocation_failures_are_clean(in_folder("m.npy"));
}

SMP_TESTS_AROUND(make_folder, remove_folder)
