/* jpeg_encode: the scan is the one that libjpeg writes, byte for byte, on the CPU and on the emulated GPU. */
#include "suite.h"

#include "gpu_case.h"
#include "matrix_case.h"

#include "jpeg/jpeg_encode.h"

#include "base/checked.h"

#include <jpeglib.h>

typedef enum contents { NOISE, FLAT, RAMP, DETAIL, CONTENTS } contents;

typedef struct job {
    int width, height, channels, quality, sampling, restart;
    contents content;
} job;

static const char *const samplings[] = {"444", "422", "420", "440"};

static uint8_t sample_of(contents content, int x, int y, int c, uint64_t *seed)
{
    switch (content) {
    case NOISE:
        return (uint8_t)case_random(seed);
    case FLAT:
        return (uint8_t)(200 - 90 * c);
    case RAMP:
        return (uint8_t)(x * (3 - c) / 2 + y * (c + 1));
    default: /* edges, and a little noise */
        return (uint8_t)((x / 5 + y / 7) % 3 * 100 + (int)(case_random(seed) % 16) + 10 * c);
    }
}

static picture picture_of(const job *j)
{
    const smp_shape shape = {
        .kind = SMP_IMAGE, .width = j->width, .height = j->height, .channels = j->channels, .format = SMP_U8};
    picture p = picture_make(&shape, SMP_U8);
    uint64_t seed = (uint64_t)(j->width * 31 + j->height);
    for (int y = 0; y < j->height; y++)
        for (int x = 0; x < j->width; x++)
            for (int c = 0; c < j->channels; c++)
                ((uint8_t *)smp_row(&p.view, y))[x * j->channels + c] = sample_of(j->content, x, y, c, &seed);
    return p;
}

/* ------------------------------------------------------------------------------------------------ libjpeg */

/* A whole file; the caller frees it. */
static uint8_t *file_of(const job *j, const picture *p, size_t *size)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *file = NULL;
    unsigned long length = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &file, &length);
    jpeg.image_width = (JDIMENSION)j->width;
    jpeg.image_height = (JDIMENSION)j->height;
    jpeg.input_components = j->channels;
    jpeg.in_color_space = j->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, j->quality, TRUE);
    if (j->channels == 3) {
        jpeg.comp_info[0].h_samp_factor = j->sampling == 1 || j->sampling == 2 ? 2 : 1;
        jpeg.comp_info[0].v_samp_factor = j->sampling >= 2 ? 2 : 1;
    }
    jpeg.restart_interval = (unsigned)j->restart;
    jpeg.dct_method = JDCT_ISLOW;
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < j->height; y++) {
        JSAMPROW row = smp_row(&p->view, y);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *size = length;
    return file;
}

/* Returns the start of the scan, behind the marker SOS. */
static size_t scan_in(const uint8_t *file)
{
    size_t at = 2;
    while (file[at + 1] != 0xda)
        at += 2 + ((size_t)file[at + 2] << 8 | file[at + 3]);
    return at + 2 + ((size_t)file[at + 2] << 8 | file[at + 3]);
}

/* ------------------------------------------------------------------------------------------------ the stage */

static void check_scan(const job *j, const outcome *got, const char *device, const char *variant, const uint8_t *scan,
                       size_t size)
{
    const smp_view *v = &got->out.view;
    smp_jpeg_coded head;
    size_t same = 0;
    memcpy(&head, v->data, sizeof head);
    const bool fits = (int64_t)size <= smp_max_i64((int64_t)j->width * j->height, 64 << 10);
    const bool right = head.magic == SMP_JPEG_MAGIC && head.length == (fits ? size : 0) && head.fails == !fits;
    for (; right && same < head.length; same++) {
        const int64_t at = SMP_JPEG_HEAD + (int64_t)same;
        if (((const uint8_t *)smp_row(v, at / v->width))[at % v->width] != scan[same])
            break;
    }
    bool rest = true;
    for (int64_t at = SMP_JPEG_HEAD + (int64_t)head.length; right && at < v->width * v->height; at++)
        rest = rest && !((const uint8_t *)smp_row(v, at / v->width))[at % v->width];
    if (!right || same < head.length || !rest)
        fail_msg("%dx%dx%d quality %d sampling %s restart %d content %d on %s, %s: %llu bytes (%u) for %zu, the first "
                 "%zu the same",
                 j->width, j->height, j->channels, j->quality, samplings[j->sampling], j->restart, (int)j->content,
                 device, variant, (unsigned long long)head.length, head.fails, size, same);
}

/* every: all variants on both devices, in strips too; else the last. */
static void check_job(const job *j, bool every)
{
    static const char *const variants[] = {"padded", "tiled", "naive"};
    char line[128];
    const char *lines[] = {line};
    snprintf(line, sizeof line, "jpeg_encode %d sampling=%s restart=%d", j->quality, samplings[j->sampling],
             j->restart);
    picture in = picture_of(j);
    size_t size;
    uint8_t *file = file_of(j, &in, &size);
    const size_t from = scan_in(file), length = size - from - 2; /* EOI */
    const smp_shape shape = {
        .kind = SMP_IMAGE, .width = j->width, .height = j->height, .channels = j->channels, .format = SMP_U8};
    smp_program *program = parse_lines(lines, 1);
    smp_plan *plan = NULL;
    assert_non_null(program);
    assert_true(plan_lines(program, &shape, false, &plan));
    smp_device *devices[] = {gpu_reference(), gpu_simt()};
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < (every ? 3 : 1); k++)
            for (int64_t strip = 0; strip <= (every ? 7 : 0); strip += 7) {
                outcome got = {0};
                run_plan(plan, &in, variants[k], strip, devices[d], &got);
                assert_true(picture_guards_hold(&got.out));
                check_scan(j, &got, devices[d]->info.kind, variants[k], file + from, length);
                outcome_free(&got);
            }
    smp_plan_free(plan);
    smp_program_free(program);
    free(file);
    picture_free(&in);
}

SMP_TEST(gray_and_full_colour_are_libjpegs)
{
    static const int qualities[] = {1, 50, 90, 100};
    for (int i = 0; i < 16; i++) {
        const job j = {.width = 61 - i % 3,
                       .height = 35 + i % 5,
                       .channels = i % 8 < 4 ? 3 : 1,
                       .quality = qualities[i % 4],
                       .content = (contents)(i / 4)};
        check_job(&j, i < 3);
    }
}

SMP_TEST(every_sampling_is_libjpegs)
{
    static const int qualities[] = {90, 30, 100, 1, 75};
    for (int i = 0; i < 48; i++) { /* widths and heights modulo 16 differ from one to the next */
        const job j = {.width = 33 + i * 5 % 17,
                       .height = 17 + i * 7 % 18,
                       .channels = 3,
                       .quality = qualities[i % 5],
                       .sampling = i % 4,
                       .content = (contents)(i / 4 % CONTENTS)};
        check_job(&j, i < 8);
    }
}

SMP_TEST(small_and_long_pictures_are_libjpegs)
{
    static const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {8, 8}, {16, 16}, {17, 8}, {8, 17}, {4096, 1}, {1, 2049}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int sampling = 0; sampling < 5; sampling++) {
            const job j = {.width = sizes[i][0],
                           .height = sizes[i][1],
                           .channels = sampling < 4 ? 3 : 1,
                           .quality = 85,
                           .sampling = sampling % 4,
                           .content = DETAIL};
            check_job(&j, false);
        }
}

SMP_TEST(restart_markers_are_libjpegs)
{
    static const int intervals[] = {1, 2, 3, 7, 11, 400};
    for (int i = 0; i < 24; i++) {
        const job j = {.width = 120,
                       .height = 70,
                       .channels = i % 5 ? 3 : 1,
                       .quality = i % 2 ? 95 : 40,
                       .sampling = i / 6,
                       .restart = intervals[i % 6],
                       .content = (contents)(i % 3 ? DETAIL : NOISE)};
        check_job(&j, i % 6 == 2);
    }
}

/* Many pieces and chunks, a row of 64 KiB, and bytes FF on their edges. */
SMP_TEST(larger_pictures_are_libjpegs)
{
    const job noise = {.width = 701, .height = 403, .channels = 1, .quality = 92, .content = NOISE};
    const job detail = {.width = 1100, .height = 1003, .channels = 3, .quality = 80, .sampling = 2, .content = DETAIL};
    check_job(&noise, false);
    check_job(&detail, false);
}

SMP_TEST(a_scan_of_more_than_a_byte_a_pixel_is_left_out)
{
    for (int restart = 0; restart < 2; restart++) {
        const job j = {
            .width = 300, .height = 260, .channels = 3, .quality = 100, .restart = restart, .content = NOISE};
        check_job(&j, true);
    }
}

SMP_TEST(other_pictures_are_refused)
{
    const char *lines[] = {"jpeg_encode"};
    smp_program *program = parse_lines(lines, 1);
    smp_plan *plan = NULL;
    assert_non_null(program);
    assert_false(plan_lines(program,
                            &(smp_shape){.kind = SMP_IMAGE, .width = 9, .height = 9, .channels = 3, .format = SMP_U16},
                            false, &plan));
    assert_false(plan_lines(
        program,
        &(smp_shape){.kind = SMP_IMAGE, .width = 9, .height = 9, .channels = 4, .alpha = true, .format = SMP_U8}, false,
        &plan));
    assert_false(plan_lines(
        program, &(smp_shape){.kind = SMP_IMAGE, .width = 65501, .height = 1, .channels = 1, .format = SMP_U8}, false,
        &plan));
    smp_program_free(program);
}

/* Floats are rounded where they are read, and counted where they are clipped, each pixel once. */
SMP_TEST(floats_are_rounded_and_counted)
{
    const gpu_case c = {.lines = {"multiply 150%", "stats", "jpeg_encode sampling=420"},
                        .in = case_shape(45, 37, 3, SMP_U8),
                        .seed = 5};
    gpu_case_check(&c);
}

/* Rows of a tile become columns: without the padding, eight lanes meet at a bank. */
SMP_TEST(padding_takes_the_conflicts_away)
{
    const gpu_case c = {.lines = {"jpeg_encode"}, .in = case_shape(64, 64, 1, SMP_U8), .seed = 3};
    uint64_t conflicts[2];
    for (int padded = 0; padded < 2; padded++) {
        smp_trace trace = {0};
        gpu_case_trace(&c, padded ? "padded" : "tiled", 0, &trace);
        conflicts[padded] = gpu_conflicts(&trace, "jpeg_encode_blocks", SMP_SHARED_LOAD);
        smp_trace_free(&trace);
    }
    assert_true(conflicts[0] >= 16 * 8 * 3); /* warps, loads of a column, 4 ways */
    assert_int_equal(conflicts[1], 0);
}
