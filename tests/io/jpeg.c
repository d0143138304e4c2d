/* JPEG in and out: colour spaces, progressive files, damage, and memory that goes through the counted allocator. */
#include "suite.h"

#include "media_fixture.h"

#include "io/jpeg/jpeg_glue.h"

#include <jpeglib.h>
#include <math.h>

/* ------------------------------------------------------------------------------------------------ files made with
 * libjpeg */

enum { WIDTH = 37, HEIGHT = 23 };

typedef struct kind {
    J_COLOR_SPACE from, to;
    int channels, h, v, restart;
    bool progressive, arithmetic, adobe, separate; /* separate: a scan for each component */
} kind;

static uint8_t sample_at(int x, int y, int c)
{
    return (uint8_t)(20 + x * (3 + c) + y * 2 + c * 30);
}

static size_t compose(uint8_t **file, const kind *k, int width, int height)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned long size = 0;
    unsigned char *out = NULL;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &out, &size);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = k->channels;
    jpeg.in_color_space = k->from;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, k->to);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg.comp_info[0].h_samp_factor = k->h;
    jpeg.comp_info[0].v_samp_factor = k->v;
    jpeg.restart_interval = (unsigned)k->restart;
    jpeg.arith_code = k->arithmetic;
    if (k->progressive)
        jpeg_simple_progression(&jpeg);
    static const jpeg_scan_info scans[] = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    if (k->separate) {
        jpeg.scan_info = scans;
        jpeg.num_scans = 3;
    }
    jpeg.write_Adobe_marker = k->adobe;
    jpeg_start_compress(&jpeg, TRUE);
    uint8_t *row = malloc((size_t)width * 4);
    assert_non_null(row);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            for (int c = 0; c < k->channels; c++)
                row[x * k->channels + c] = sample_at(x, y, c);
        JSAMPROW line = row;
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    free(row);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *file = out;
    return size;
}

static const kind kinds[] = {
    {JCS_RGB, JCS_YCbCr, 3, 1, 1, 0, false, false, false},
    {JCS_RGB, JCS_YCbCr, 3, 2, 2, 0, false, false, false},
    {JCS_RGB, JCS_YCbCr, 3, 2, 1, 2, false, false, false},
    {JCS_RGB, JCS_YCbCr, 3, 1, 1, 0, true, false, false},
    {JCS_RGB, JCS_RGB, 3, 1, 1, 0, false, false, true},
    {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, 1, 0, false, false, false},
    {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, 1, 0, true, false, false},
    {JCS_CMYK, JCS_CMYK, 4, 1, 1, 0, false, false, true},
    {JCS_CMYK, JCS_YCCK, 4, 1, 1, 0, false, false, true},
    {JCS_CMYK, JCS_CMYK, 4, 1, 1, 0, false, false, false},
    {JCS_RGB, JCS_YCbCr, 3, 2, 2, 0, false, true, false},
    {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, 1, 0, true, true, false},
};

static int expected(const kind *k, int x, int y, int c)
{
    if (k->from != JCS_CMYK)
        return sample_at(x, y, c);
    return (sample_at(x, y, c) * sample_at(x, y, 3) + 127) / 255; /* 255 is no ink, whatever the markers say */
}

SMP_TEST(every_colour_space_is_read_as_gray_or_rgb)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const kind *k = &kinds[i];
        uint8_t *file;
        size_t size = compose(&file, k, WIDTH, HEIGHT);
        smp_error err = {0};
        picture p;
        assert_ok(read_memory(file, size, &p, &err));
        int channels = k->channels == 1 ? 1 : 3;
        assert_int_equal(p.shape.width, WIDTH);
        assert_int_equal(p.shape.height, HEIGHT);
        assert_int_equal(p.shape.channels, channels);
        double sum = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int c = 0; c < channels; c++)
                    sum += abs(p.data[(y * WIDTH + x) * channels + c] - expected(k, x, y, c));
        double mean = sum / (WIDTH * HEIGHT * channels); /* code values; more where colour is subsampled */
        if (mean > (k->h * k->v > 1 ? 12 : 2))
            fail_msg("kind %zu: off by %.2f on average", i, mean);
        free_picture(&p);
        free(file);
    }
}

SMP_TEST(writing_and_reading_stays_close)
{
    smp_error err = {0};
    for (int channels = 1; channels <= 3; channels += 2) {
        picture p = new_picture(61, 45, channels, false, SMP_U8), q;
        for (size_t i = 0; i < p.size; i++)
            p.data[i] = (uint8_t)(100 + 60 * sin((double)i / (97. * channels)));
        assert_ok(write_picture(in_folder("a.jpg"), &p, &err));
        assert_ok(read_picture(in_folder("a.jpg"), &q, &err));
        assert_int_equal(p.size, q.size);
        double sum = 0;
        for (size_t i = 0; i < p.size; i++)
            sum += abs(p.data[i] - q.data[i]);
        assert_true(sum / (double)p.size < 3);
        free_picture(&p);
        free_picture(&q);
    }
}

SMP_TEST(quality_changes_the_size)
{
    smp_error err = {0};
    picture p = make_picture(100, 80, 3, false, SMP_U8);
    size_t sizes[3];
    for (int i = 0; i < 3; i++) {
        smp_write_options options = {0};
        options.output.force = true;
        smp_write_set(&options.values, &smp_jpeg_quality, (int[]){20, 0, 100}[i]);
        assert_ok(write_with(in_folder("q.jpg"), &p, NULL, &options, &err));
        free(load(in_folder("q.jpg"), &sizes[i]));
    }
    assert_true(sizes[0] < sizes[1] && sizes[1] < sizes[2]);
    free_picture(&p);
}

SMP_TEST(shapes_lose_alpha_and_depth)
{
    smp_error err = {0};
    smp_shape in = {.kind = SMP_IMAGE, .width = 5, .height = 5, .channels = 4, .alpha = true, .format = SMP_F32}, out;
    assert_ok(smp_writer_shape("a.JPEG", &in, &out, &err));
    assert_true(out.channels == 3 && !out.alpha && out.format == SMP_U8);
    in.channels = 2;
    assert_ok(smp_writer_shape("a.jpg", &in, &out, &err));
    assert_true(out.channels == 1 && !out.alpha);
    in.alpha = false;
    assert_int_equal(smp_writer_shape("a.jpg", &in, &out, &err), SMP_E_WRITE);
    in.channels = 1;
    in.width = 70000;
    assert_int_equal(smp_writer_shape("a.jpg", &in, &out, &err), SMP_E_WRITE);
    assert_non_null(strstr(err.hint, ".png"));
}

/* ------------------------------------------------------------------------------------------ damage */

SMP_TEST(every_truncation_is_an_error)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint8_t *file;
        size_t size = compose(&file, &kinds[i], WIDTH, HEIGHT);
        store(in_folder("t.jpg"), file, size);
        assert_truncations_fail(in_folder("t.jpg"), 7);
        free(file);
    }
}

SMP_TEST(a_picture_cut_and_closed_again_is_an_error)
{
    uint8_t *file;
    size_t size = compose(&file, &kinds[0], WIDTH, HEIGHT);
    for (size_t n = size - 400; n < size - 40; n += 5) {
        uint8_t *cut = malloc(n + 2);
        assert_non_null(cut);
        memcpy(cut, file, n);
        memcpy(cut + n, "\xFF\xD9", 2);
        if (cut[n - 1] == 0xFF)
            cut[n - 1] = 0;
        smp_error err = {0};
        picture p;
        assert_int_equal(read_memory(cut, n + 2, &p, &err), SMP_E_DECODE);
        free(cut);
    }
    free(file);
}

SMP_TEST(a_missing_component_is_an_error)
{
    uint8_t *file;
    kind k = kinds[0];
    k.separate = true;
    size_t size = compose(&file, &k, WIDTH, HEIGHT), last = 0;
    smp_error err = {0};
    picture p;
    assert_ok(read_memory(file, size, &p, &err));
    free_picture(&p);
    for (size_t i = 0; i + 1 < size; i++)
        if (file[i] == 0xFF && file[i + 1] == 0xDA)
            last = i;
    memcpy(file + last, "\xFF\xD9", 2);
    assert_int_equal(read_memory(file, last + 2, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "component 3"));
    free(file);
}

SMP_TEST(what_is_not_supported_is_named)
{
    uint8_t *file;
    smp_error err = {0};
    picture p;
    size_t size = compose(&file, &kinds[0], WIDTH, HEIGHT);
    for (size_t i = 0; i + 5 < size; i++)
        if (file[i] == 0xFF && file[i + 1] == 0xC0) {
            file[i + 4] = 12;
            assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
            assert_non_null(strstr(err.message, "12"));
            assert_non_null(strstr(err.hint, "16 bits"));
            file[i + 4] = 8;
            file[i + 1] = 0xC3;
            assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
            assert_non_null(strstr(err.message, "lossless"));
            break;
        }
    free(file);
}

/* Changes the size that the frame header states. */
static void resize_header(uint8_t *file, size_t size, unsigned width, unsigned height)
{
    for (size_t i = 0; i + 9 < size; i++)
        if (file[i] == 0xFF && (file[i + 1] == 0xC0 || file[i + 1] == 0xC2)) {
            file[i + 5] = (uint8_t)(height >> 8);
            file[i + 6] = (uint8_t)height;
            file[i + 7] = (uint8_t)(width >> 8);
            file[i + 8] = (uint8_t)width;
            return;
        }
}

SMP_TEST(giant_headers_are_refused_before_allocation)
{
    for (int progressive = 0; progressive < 2; progressive++)
        for (unsigned side = 20000; side <= 65500; side += 45500) {
            uint8_t *file;
            kind k = kinds[0];
            k.progressive = progressive;
            size_t size = compose(&file, &k, WIDTH, HEIGHT);
            resize_header(file, size, side, side);
            smp_error err = {0};
            picture p;
            uint64_t before = smp_alloc_peak();
            smp_code code = read_memory(file, size, &p, &err);
            assert_int_equal(code, side > 60000 ? SMP_E_LIMIT : SMP_E_DECODE);
            assert_true(smp_alloc_peak() < before + (1 << 22));
            free(file);
        }
}

/* The file with bytes put in at a place. */
static uint8_t *put_in(const uint8_t *file, size_t size, size_t at, const void *more, size_t length)
{
    uint8_t *longer = malloc(size + length);
    assert_non_null(longer);
    memcpy(longer, file, at);
    memcpy(longer + at, more, length);
    memcpy(longer + at + length, file + at, size - at);
    return longer;
}

static size_t put_marker(uint8_t *at, int marker, const void *data, size_t size)
{
    at[0] = 0xFF;
    at[1] = (uint8_t)marker;
    at[2] = (uint8_t)((size + 2) >> 8);
    at[3] = (uint8_t)(size + 2);
    memcpy(at + 4, data, size);
    return size + 4;
}

SMP_TEST(markers_without_end_are_refused)
{
    static const struct {
        int marker, count;
        size_t bytes;
        smp_code code;
    } cases[] = {
        {0xFE, 1000, 3, SMP_OK},         {0xFE, 1001, 3, SMP_E_LIMIT}, {0xFE, 80000, 0, SMP_E_LIMIT},
        {0xE1, 80000, 0, SMP_E_LIMIT},   {0xE5, 1000, 9, SMP_OK},      {0xEF, 1001, 9, SMP_E_LIMIT},
        {0xFE, 600, 65000, SMP_E_LIMIT},
    };
    static uint8_t text[65000];
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *plain, *markers = malloc((size_t)cases[i].count * (cases[i].bytes + 4));
        assert_non_null(markers);
        size_t n = 0, size = compose(&plain, &kinds[5], WIDTH, HEIGHT);
        for (int k = 0; k < cases[i].count; k++)
            n += put_marker(markers + n, cases[i].marker, text, cases[i].bytes);
        uint8_t *file = put_in(plain, size, 2, markers, n);
        smp_error err = {0};
        smp_reader *reader;
        smp_read_options how = smp_read_defaults();
        smp_code code = smp_reader_open_memory(file, size + n, &how, &reader, &err);
        if (code != cases[i].code)
            fail_msg("case %zu: code %d: %s", i, code, err.message);
        if (code == SMP_OK) {
            const smp_meta *meta = &smp_reader_media(reader)->meta;
            assert_int_equal(meta->text_count, cases[i].marker == 0xFE ? cases[i].count : 0);
            if (meta->text_count)
                assert_string_equal(meta->texts[999].value, "xxx");
        }
        smp_reader_close(reader);
        free(plain);
        free(markers);
        free(file);
    }
}

/* A gray progressive file of zeros: a scan for DC coefficients, then scans of one AC coefficient and one bit each. */
static uint8_t *make_scans(int side, int scans, size_t *size)
{
    enum { END_OF_BAND = 16384 /* blocks that one code of 15 bits says to be empty */ };
    const size_t blocks = (size_t)(side / 8) * (size_t)(side / 8), dc = (blocks + 7) / 8;
    const size_t bits = (blocks + END_OF_BAND - 1) / END_OF_BAND * 15, ac = (bits + 7) / 8;
    uint8_t *file = calloc(1, 1000 + dc + (size_t)scans * (ac + 10)), body[80] = {0};
    assert_non_null(file);
    size_t n = 2;
    memcpy(file, "\xFF\xD8", 2);
    memset(body + 1, 1, 64);
    n += put_marker(file + n, 0xDB, body, 65);
    const uint8_t high = (uint8_t)(side >> 8), low_byte = (uint8_t)side;
    const uint8_t frame[] = {8, high, low_byte, high, low_byte, 1, 1, 0x11, 0};
    n += put_marker(file + n, 0xC2, frame, sizeof frame);
    memset(body, 0, sizeof body);
    body[1] = 1;
    n += put_marker(file + n, 0xC4, body, 18);
    body[0] = 0x10;
    body[17] = 0xE0;
    n += put_marker(file + n, 0xC4, body, 18);
    n += put_marker(file + n, 0xDA, "\1\1\0\0\0\0", 6) + dc;
    if (blocks % 8)
        file[n - 1] = (uint8_t)((1 << (8 - blocks % 8)) - 1); /* bits that fill the last byte are ones */
    for (int i = 0; i < scans - 1; i++) {
        const uint8_t k = (uint8_t)(1 + i % 63), low = (uint8_t)(13 - i / 63);
        const uint8_t scan[] = {1, 1, 0, k, k, (uint8_t)((low < 13 ? low + 1 : 0) << 4 | low)};
        n += put_marker(file + n, 0xDA, scan, sizeof scan) + ac;
        if (bits % 8)
            file[n - 1] = (uint8_t)((1 << (8 - bits % 8)) - 1);
    }
    memcpy(file + n, "\xFF\xD9", 2);
    *size = n + 2;
    return file;
}

SMP_TEST(the_larger_a_picture_the_fewer_scans_it_may_have)
{
    static const struct {
        int side, scans, most;
    } cases[] = {{64, 500, 500}, {64, 501, 500}, {4096, 257, 256}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size;
        uint8_t *file = make_scans(cases[i].side, cases[i].scans, &size);
        smp_error err = {0};
        picture p;
        smp_code code = read_memory(file, size, &p, &err);
        char most[32];
        snprintf(most, sizeof most, "more than %d scans", cases[i].most);
        if (code != (cases[i].scans > cases[i].most ? SMP_E_LIMIT : SMP_OK) || (code && !strstr(err.message, most)))
            fail_msg("case %zu: code %d: %s", i, code, err.message);
        free_picture(&p);
        free(file);
    }
}

SMP_TEST(bytes_too_many_are_noted_and_lose_nothing)
{
    static const uint8_t zeros[100];
    for (size_t i = 0; i < 2; i++) { /* with colour, gray */
        uint8_t *plain;
        size_t size = compose(&plain, &kinds[i * 5], WIDTH, HEIGHT);
        picture p, q;
        char notes[600];
        read_with_notes(plain, size, &p, notes, sizeof notes);
        assert_string_equal(notes, "");
        for (size_t n = 10; n <= sizeof zeros; n += 90) {
            uint8_t *file = put_in(plain, size, size - 2, zeros, n);
            read_with_notes(file, size + n, &q, notes, sizeof notes);
            assert_same_picture(&p, &q);
            if (n == 10)
                assert_string_equal(notes, "");
            else
                assert_non_null(strstr(notes, "extraneous bytes"));
            free_picture(&q);
            free(file);
        }
        free_picture(&p);
        free(plain);
    }
}

SMP_TEST(the_first_of_several_pictures_is_read_with_a_note)
{
    static const uint8_t index[] = {'M',  'P', 'F', 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 1,
                                    0xB0, 4,   0,   1, 0,   0,   0,  3, 0, 0, 0, 0, 0, 0, 0};
    uint8_t *plain, marker[64];
    size_t size = compose(&plain, &kinds[0], WIDTH, HEIGHT);
    picture p, q;
    char notes[600];
    read_with_notes(plain, size, &p, notes, sizeof notes);
    uint8_t *twice = put_in(plain, size, size, plain, size);
    read_with_notes(twice, 2 * size, &q, notes, sizeof notes);
    assert_same_picture(&p, &q);
    assert_string_equal(notes, "another JPEG follows; only the first is read\n");
    free_picture(&q);
    size_t n = put_marker(marker, 0xE2, index, sizeof index);
    uint8_t *several = put_in(twice, 2 * size, 2, marker, n);
    read_with_notes(several, 2 * size + n, &q, notes, sizeof notes);
    assert_same_picture(&p, &q);
    assert_string_equal(notes, "the file holds 3 pictures (MPO); only the first is read\n");
    free_picture(&q);
    free_picture(&p);
    free(plain);
    free(twice);
    free(several);
}

SMP_TEST(a_profile_with_a_part_missing_is_left_out_with_a_note)
{
    uint8_t *plain, marker[300], part[200] = "ICC_PROFILE";
    size_t size = compose(&plain, &kinds[0], WIDTH, HEIGHT);
    part[12] = 1;
    part[13] = 2;
    size_t n = put_marker(marker, 0xE2, part, sizeof part);
    uint8_t *file = put_in(plain, size, 2, marker, n);
    picture p;
    char notes[600];
    read_with_notes(file, size + n, &p, notes, sizeof notes);
    assert_string_equal(notes, "the ICC profile is left out: a part of it is missing\n");
    free_picture(&p);
    free(plain);
    free(file);
}

SMP_TEST(memory_is_counted_and_limited)
{
    uint8_t *file;
    kind k = kinds[3]; /* progressive: keeps all coefficients, 2 bytes each */
    size_t size = compose(&file, &k, 512, 512);
    smp_read_options how = smp_read_defaults();
    how.limits.max_memory = 512 * 512 * 3;
    smp_reader *reader;
    smp_error err = {0};
    assert_int_equal(smp_reader_open_memory(file, size, &how, &reader, &err), SMP_E_LIMIT);
    assert_non_null(strstr(err.hint, "--max-memory"));
    assert_null(reader);

    picture p;
    uint64_t live = smp_alloc_live();
    smp_alloc_limit(live + 512 * 512 * 3);
    assert_int_equal(read_memory(file, size, &p, &err), SMP_E_LIMIT);
    smp_alloc_limit(live + 512 * 512 * 8);
    assert_ok(read_memory(file, size, &p, &err));
    smp_alloc_limit(0);
    free_picture(&p);
    assert_int_equal(smp_alloc_live(), live);
    free(file);
}

SMP_TEST(changed_bytes_never_crash)
{
    uint32_t seed = 7;
    int good = 0;
    for (int i = 0; i < 1500; i++) {
        uint8_t *file;
        size_t size = compose(&file, &kinds[(size_t)i % (sizeof kinds / sizeof kinds[0])], WIDTH, HEIGHT);
        good += read_changed(file, size, 2, 3, NULL, &seed);
        free(file);
    }
    assert_true(good > 0 && good < 1500);
}

SMP_TEST(allocation_failures_are_clean)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i += 3) {
        uint8_t *file;
        size_t size = compose(&file, &kinds[i], WIDTH, HEIGHT);
        store(in_folder("m.jpg"), file, size);
        assert_allocation_failures_are_clean(in_folder("m.jpg"));
        free(file);
    }
}

SMP_TEST(allocation_failures_while_writing_leave_nothing)
{
    clear_folder();
    smp_error err = {0};
    picture p = make_picture(20, 20, 3, false, SMP_U8);
    uint64_t live = smp_alloc_live();
    smp_write_options options = {0};
    for (uint64_t n = 1;; n++) {
        smp_alloc_fail_at(n);
        smp_code code = write_with(in_folder("w.jpg"), &p, NULL, &options, &err);
        smp_alloc_fail_at(0);
        assert_int_equal(smp_alloc_live(), live);
        if (code == SMP_OK)
            break;
        assert_int_equal(code, SMP_E_MEMORY);
        assert_int_equal(count_files(), 0);
        assert_true(n < 1000);
    }
    free_picture(&p);
}

SMP_TESTS_AROUND(make_folder, remove_folder)
