/* JPEG in and out: colour spaces, progressive files, damage, and memory that goes through the counted allocator. */
#include "media_fixture.h"

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
};

static int expected(const kind *k, int x, int y, int c)
{
    if (k->from != JCS_CMYK)
        return sample_at(x, y, c);
    int ink = sample_at(x, y, c), black = sample_at(x, y, 3);
    return k->adobe ? (ink * black + 127) / 255 : ((255 - ink) * (255 - black) + 127) / 255;
}

static void every_colour_space_is_read_as_gray_or_rgb(void **context)
{
    (void)context;
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

static void writing_and_reading_stays_close(void **context)
{
    (void)context;
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

static void quality_changes_the_size(void **context)
{
    (void)context;
    smp_error err = {0};
    picture p = make_picture(100, 80, 3, false, SMP_U8);
    size_t sizes[3];
    for (int i = 0; i < 3; i++) {
        smp_write_options options = smp_write_options_default();
        options.force = true;
        options.jpeg_quality = (int[]){20, 0, 100}[i];
        assert_ok(write_with(in_folder("q.jpg"), &p, NULL, &options, &err));
        free(load(in_folder("q.jpg"), &sizes[i]));
    }
    assert_true(sizes[0] < sizes[1] && sizes[1] < sizes[2]);
    free_picture(&p);
}

static void shapes_lose_alpha_and_depth(void **context)
{
    (void)context;
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

static void every_truncation_is_an_error(void **context)
{
    (void)context;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint8_t *file;
        size_t size = compose(&file, &kinds[i], WIDTH, HEIGHT);
        store(in_folder("t.jpg"), file, size);
        assert_truncations_fail(in_folder("t.jpg"), 7);
        free(file);
    }
}

static void a_picture_cut_and_closed_again_is_an_error(void **context)
{
    (void)context;
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

static void a_missing_component_is_an_error(void **context)
{
    (void)context;
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

static void what_is_not_supported_is_named(void **context)
{
    (void)context;
    uint8_t *file;
    kind k = kinds[0];
    k.arithmetic = true;
    size_t size = compose(&file, &k, WIDTH, HEIGHT);
    smp_error err = {0};
    picture p;
    assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
    assert_non_null(strstr(err.message, "arithmetic"));
    free(file);

    size = compose(&file, &kinds[0], WIDTH, HEIGHT);
    for (size_t i = 0; i + 5 < size; i++)
        if (file[i] == 0xFF && file[i + 1] == 0xC0) {
            file[i + 4] = 12;
            assert_int_equal(read_memory(file, size, &p, &err), SMP_E_DECODE);
            assert_non_null(strstr(err.message, "12"));
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

static void giant_headers_are_refused_before_allocation(void **context)
{
    (void)context;
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

static void memory_is_counted_and_limited(void **context)
{
    (void)context;
    uint8_t *file;
    kind k = kinds[3]; /* progressive: keeps all coefficients, 2 bytes each */
    size_t size = compose(&file, &k, 512, 512);
    smp_limits limits = smp_limits_default();
    limits.max_memory = 512 * 512 * 3;
    smp_reader *reader;
    smp_error err = {0};
    assert_int_equal(smp_reader_open_memory(file, size, &limits, &reader, &err), SMP_E_LIMIT);
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

static void changed_bytes_never_crash(void **context)
{
    (void)context;
    uint32_t seed = 7;
    int good = 0, bad = 0;
    for (int i = 0; i < 1500; i++) {
        uint8_t *file;
        size_t size = compose(&file, &kinds[(size_t)i % (sizeof kinds / sizeof kinds[0])], WIDTH, HEIGHT);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            file[2 + (seed >> 8) % (size - 2)] = (uint8_t)(seed >> 24);
        }
        smp_error err = {0};
        picture p;
        smp_code code = read_memory(file, size, &p, &err);
        if (code == SMP_OK) {
            good++;
            free_picture(&p);
        } else {
            bad++;
            if (code != SMP_E_DECODE && code != SMP_E_LIMIT)
                fail_msg("code %d: %s", code, err.message);
        }
        free(file);
    }
    assert_true(good > 0 && bad > 0);
}

static void allocation_failures_are_clean(void **context)
{
    (void)context;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i += 3) {
        uint8_t *file;
        size_t size = compose(&file, &kinds[i], WIDTH, HEIGHT);
        store(in_folder("m.jpg"), file, size);
        assert_allocation_failures_are_clean(in_folder("m.jpg"));
        free(file);
    }
}

static void allocation_failures_while_writing_leave_nothing(void **context)
{
    (void)context;
    clear_folder();
    smp_error err = {0};
    picture p = make_picture(20, 20, 3, false, SMP_U8);
    uint64_t live = smp_alloc_live();
    smp_write_options options = smp_write_options_default();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_colour_space_is_read_as_gray_or_rgb),
        cmocka_unit_test(writing_and_reading_stays_close),
        cmocka_unit_test(quality_changes_the_size),
        cmocka_unit_test(shapes_lose_alpha_and_depth),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(a_picture_cut_and_closed_again_is_an_error),
        cmocka_unit_test(a_missing_component_is_an_error),
        cmocka_unit_test(what_is_not_supported_is_named),
        cmocka_unit_test(giant_headers_are_refused_before_allocation),
        cmocka_unit_test(memory_is_counted_and_limited),
        cmocka_unit_test(changed_bytes_never_crash),
        cmocka_unit_test(allocation_failures_are_clean),
        cmocka_unit_test(allocation_failures_while_writing_leave_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
