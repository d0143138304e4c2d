/* JPEGs whose scan a device codes: files are those that the writer makes of samples, byte for byte. */
#include "suite.h"

#include "kernel_case.h"

#include "io/format.h"
#include "io/jpeg/jpeg_by_device.h"

#include "io/jpeg/jpeg_glue.h"

#include <unistd.h>

extern const smp_stage smp_stage_jpeg_encode;

static char folder[] = "/tmp/smp_jpeg_XXXXXX", first[64], second[64];

static uint8_t *load(const char *path, size_t *size)
{
    enum { MOST = 1 << 20 };
    uint8_t *bytes = malloc(MOST);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(bytes);
    *size = fread(bytes, 1, MOST, file);
    fclose(file);
    assert_true(*size > 0 && *size < MOST);
    return bytes;
}

/* Writes all rows of a picture, `at once` rows a call. */
static smp_code write_all(const char *path, const smp_shape *shape, const smp_meta *meta,
                          const smp_write_options *options, const picture *rows, int64_t at_once, smp_error *err)
{
    smp_writer *writer;
    smp_code code = smp_writer_open(path, shape, meta, options, &writer, err);
    for (int64_t y = 0; !code && y < rows->view.rows; y += at_once) {
        const int64_t left = rows->view.rows - y;
        code =
            smp_writer_rows(writer, smp_row(&rows->view, y), rows->view.stride, left < at_once ? left : at_once, err);
    }
    if (!code)
        return smp_writer_commit(writer, err);
    smp_writer_abort(writer);
    return code;
}

static picture smooth(const smp_shape *shape)
{
    picture p = picture_make(shape, SMP_U8);
    for (int64_t y = 0; y < shape->height; y++)
        for (int64_t x = 0; x < shape->width; x++)
            for (int c = 0; c < shape->channels; c++)
                picture_set(&p, x, y, c, (float)((x * 5 / (c + 1) + y * 3 + x * y / 9) % 256));
    return p;
}

/* Returns what the stage makes of a picture with these parameters. */
static picture coded(const smp_jpeg_params *params, const smp_shape *shape, const picture *in)
{
    const kernel_case c = {
        .stage = &smp_stage_jpeg_encode, .params = params, .in = *shape, .in_storage = SMP_U8, .out_storage = SMP_U8};
    picture out;
    kernel_case_naive(&c, in, NULL, &out);
    return out;
}

static void check_file(const smp_shape *shape, const smp_meta *meta, smp_write_options options, int64_t at_once)
{
    smp_error err = {0};
    smp_jpeg_params params;
    options.output.force = true;
    picture in = smooth(shape);
    assert_int_equal(write_all(first, shape, meta, &options, &in, 16, &err), SMP_OK);
    assert_true(smp_jpeg_scan_serves(second, &options, shape, meta ? smp_coding_jpeg(&meta->coding) : NULL, &params));
    picture out = coded(&params, shape, &in);
    assert_true(smp_jpeg_scan_fits(out.view.data));
    options.coded.scan = (smp_shape){.kind = SMP_IMAGE,
                                     .width = out.view.width,
                                     .height = out.view.height,
                                     .channels = out.view.channels,
                                     .format = SMP_U8};
    if (write_all(second, shape, meta, &options, &out, at_once, &err))
        fail_msg("%s", err.message);
    size_t sizes[2];
    uint8_t *files[] = {load(first, &sizes[0]), load(second, &sizes[1])};
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(files[0], files[1], sizes[0]);
    free(files[0]);
    free(files[1]);
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(files_are_those_made_of_samples)
{
    static const int qualities[] = {0, 1, 50, 89, 90, 100};
    for (int i = 0; i < 24; i++) {
        const smp_shape shape = case_shape(40 + i % 9, 30 + i % 7, i % 4 == 3 ? 1 : 3, SMP_U8);
        smp_write_options options = {0};
        smp_write_set(&options.values, &smp_jpeg_quality, qualities[i % 6]);
        smp_write_set(&options.values, &smp_jpeg_subsampling, i / 6);
        check_file(&shape, NULL, options, 1 + i % 20);
    }
}

SMP_TEST(metadata_come_along)
{
    const smp_shape shape = case_shape(75, 51, 3, SMP_U8);
    smp_meta meta = {.x_density = 11811, .y_density = 11811};
    uint8_t exif[64] = "II*\0\x08\0\0\0";
    assert_true(smp_blob_set(&meta.exif, exif, sizeof exif));
    assert_true(smp_meta_add_text(&meta, "Comment", "as it was", 9));
    check_file(&shape, &meta, (smp_write_options){0}, 3);
    smp_meta_free(&meta);
}

SMP_TEST(the_inputs_coding_is_kept)
{
    for (int i = 0; i < 8; i++) { /* with a table of its own for each component, too */
        const smp_shape shape = case_shape(70, 41, i < 7 ? 3 : 1, SMP_U8);
        smp_meta meta = {.coding = {.kind = SMP_CODING_JPEG,
                                    .jpeg = {.components = 3,
                                             .across = {(uint8_t)(1 + i % 2), 1, 1},
                                             .down = {(uint8_t)(1 + i / 2 % 2), 1, 1}}}};
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 64; k++)
                meta.coding.jpeg.steps[c][k] = (uint8_t)(1 + (k * (i + 3) + (i < 4 ? c > 0 : c) * 17) % 255);
        check_file(&shape, &meta, (smp_write_options){0}, 5);
    }
}

SMP_TEST(other_files_are_not_served)
{
    const smp_shape shape = case_shape(16, 16, 3, SMP_U8), deep = case_shape(16, 16, 3, SMP_U16),
                    alpha = case_shape(16, 16, 4, SMP_U8), wide = case_shape(65501, 1, 1, SMP_U8);
    const smp_write_options plain = {0};
    smp_write_options options = plain;
    smp_jpeg_params params;
    assert_true(smp_jpeg_scan_serves("a.jpeg", &plain, &shape, NULL, &params));
    assert_false(smp_jpeg_scan_serves("a.png", &plain, &shape, NULL, &params));
    assert_false(smp_jpeg_scan_serves("-", &plain, &shape, NULL, &params));
    options.format = "jpg";
    assert_true(smp_jpeg_scan_serves("-", &options, &shape, NULL, &params));
    assert_false(smp_jpeg_scan_serves("a.jpg", &plain, &deep, NULL, &params));
    assert_false(smp_jpeg_scan_serves("a.jpg", &plain, &alpha, NULL, &params));
    assert_false(smp_jpeg_scan_serves("a.jpg", &plain, &wide, NULL, &params));
    options = plain;
    smp_write_set(&options.values, &smp_jpeg_progressive, true);
    assert_false(smp_jpeg_scan_serves("a.jpg", &options, &shape, NULL, &params));
    options = plain;
    smp_write_set(&options.values, &smp_write_lossless, true);
    assert_false(smp_jpeg_scan_serves("a.jpg", &options, &shape, NULL, &params));
}

/* Nothing is left of a file whose scan does not fit, is cut, or is none. */
SMP_TEST(a_scan_that_is_none_is_an_error)
{
    const smp_shape shape = case_shape(16, 16, 3, SMP_U8), bytes = case_shape(4096, 2, 1, SMP_U8);
    picture rows = picture_make(&bytes, SMP_U8);
    smp_write_options options = {0};
    options.output.force = true;
    options.coded.scan = bytes;
    const struct {
        smp_jpeg_coded head;
        const char *says;
    } cases[] = {{{.magic = SMP_JPEG_MAGIC, .length = 0, .fails = 1}, "longer than its room"},
                 {{.magic = SMP_JPEG_MAGIC, .length = 8192 - 63}, "longer than its room"},
                 {{.magic = 0, .length = 10}, "longer than its room"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_error err = {0};
        memcpy(rows.view.data, &cases[i].head, sizeof cases[i].head);
        assert_false(i == 0 && smp_jpeg_scan_fits(rows.view.data));
        unlink(second);
        assert_int_equal(write_all(second, &shape, NULL, &options, &rows, 2, &err), SMP_E_PROCESS);
        assert_non_null(strstr(err.message, cases[i].says));
        assert_int_equal(access(second, F_OK), -1);
    }
    smp_error err = {0};
    char path[80];
    snprintf(path, sizeof path, "%s/c.png", folder);
    assert_int_equal(write_all(path, &shape, NULL, &options, &rows, 2, &err), SMP_E_PROCESS);
    picture_free(&rows);
}

static int make_names(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return 1;
    snprintf(first, sizeof first, "%s/a.jpg", folder);
    snprintf(second, sizeof second, "%s/b.jpg", folder);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    unlink(first);
    unlink(second);
    return rmdir(folder);
}

SMP_TESTS_AROUND(make_names, remove_files)
