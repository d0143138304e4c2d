/* JPEGs whose coded scan a device decodes: the samples of libjpeg-turbo, and its verdict on damaged files. */
#include "suite.h"

#include "jpeg_case.h"
#include "media_fixture.h"

#include "device/device.h"
#include "device/simt/simt.h"
#include "pipe/program.h"
#include "run/run.h"

/* ------------------------------------------------------------------------------------------------ decoding */

static smp_device *cpu, *simt;

static int open_devices(void **state)
{
    (void)state;
    smp_error err = {0};
    return smp_device_open(&(smp_device_request){.spec = "cpu", .threads = 1}, &cpu, NULL, 0, &err) ||
           smp_device_open(&(smp_device_request){.spec = "simt"}, &simt, NULL, 0, &err);
}

static int close_devices(void **state)
{
    (void)state;
    smp_device_close(cpu);
    smp_device_close(simt);
    return 0;
}

/* The rows of the coded scan; their data is null where the file is not plain. */
static picture read_scan(const uint8_t *file, size_t size, smp_media *media)
{
    smp_error err = {0};
    smp_read_options how = smp_read_defaults();
    smp_reader *reader;
    picture rows = {.data = NULL};
    how.want.scan_from = 1;
    if (smp_reader_open_memory(file, size, &how, &reader, &err))
        return rows;
    *media = *smp_reader_media(reader);
    if (media->scan.shape.kind) {
        rows = new_picture(media->scan.shape.width, media->scan.shape.height, 1, false, SMP_U8);
        assert_ok(smp_reader_rows(reader, rows.data, (int64_t)rows.row, rows.shape.height, &err));
    }
    smp_reader_close(reader);
    return rows;
}

static smp_program *parse(const char *line)
{
    smp_program *program = NULL;
    smp_diags diags = {0};
    smp_error err = {0};
    assert_ok(smp_program_parse_lines(&line, 1, NULL, 0, NULL, NULL, &diags, &program, &err));
    smp_diags_free(&diags);
    return program;
}

/* Decodes and inverts; *undecided counts what could not be decided. */
static picture decode(const picture *rows, const smp_media *media, smp_device *device, const char *variant,
                      uint64_t *undecided)
{
    smp_error err = {0};
    smp_program *program = parse("invert");
    smp_plan *plan = NULL;
    const smp_plan_request ask = {.program = program,
                                  .input = media->shape,
                                  .scan = media->scan.shape,
                                  .across = media->scan.across,
                                  .down = media->scan.down,
                                  .output = "memory"};
    assert_ok(smp_plan_make(&ask, NULL, &plan, &err));
    picture out = new_picture(media->shape.width, media->shape.height, media->shape.channels, false, SMP_U8);
    const smp_view from = picture_view(rows), to = picture_view(&out);
    smp_run_report report;
    memset(out.data, 0x5A, out.size);
    assert_ok(smp_run_memory(plan, device, variant, 0, &from, &to, &report, &err));
    *undecided = report.undecided;
    smp_run_report_free(&report);
    smp_plan_free(plan);
    smp_program_free(program);
    return out;
}

static void expect_inverted(const picture *inverted, const picture *right, const char *what)
{
    for (size_t i = 0; i < right->size; i++)
        if (inverted->data[i] != 255 - right->data[i])
            fail_msg("%s: sample %zu is %d, libjpeg's is %d", what, i, 255 - inverted->data[i], right->data[i]);
}

static void check_on(const picture *rows, const smp_media *media, smp_device *device, const char *variant,
                     const picture *right, const jpeg_sort *s)
{
    char what[160];
    uint64_t undecided;
    picture made = decode(rows, media, device, variant, &undecided);
    snprintf(what, sizeof what, "%s %s: %dx%dx%d, sampled %dx%d, quality %d, restart %d", device->info.kind, variant,
             s->width, s->height, s->channels, s->across, s->down, s->quality, s->restart);
    if (undecided)
        fail_msg("%s is in doubt", what);
    expect_inverted(&made, right, what);
    free_picture(&made);
}

static void expect_libjpegs_samples(const jpeg_sort *s, bool all)
{
    static const char *const variants[] = {"naive", "tiled", "padded"};
    smp_error err = {0};
    smp_media media;
    size_t size;
    picture right;
    uint8_t *file = jpeg_make(s, &size);
    assert_ok(read_memory(file, size, &right, &err));
    picture rows = read_scan(file, size, &media);
    assert_non_null(rows.data);
    check_on(&rows, &media, cpu, "naive", &right, s);
    for (size_t i = all ? 0 : 2; i < 3; i++)
        check_on(&rows, &media, simt, variants[i], &right, s);
    free_picture(&rows);
    free_picture(&right);
    free(file);
}

SMP_TEST(every_sampling_size_and_quality)
{
    static const int samplings[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};
    static const int sizes[][2] = {{1, 1},   {2, 3},   {5, 4},   {8, 8},   {16, 16},  {17, 9},
                                   {31, 33}, {64, 40}, {129, 5}, {300, 7}, {4096, 1}, {1, 517}};
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++)
        for (size_t i = 0; i < 5; i++) {
            const bool gray = i == 4;
            const jpeg_sort s = {.width = sizes[size][0],
                                 .height = sizes[size][1],
                                 .channels = gray ? 1 : 3,
                                 .across = gray ? 1 : samplings[i][0],
                                 .down = gray ? 1 : samplings[i][1],
                                 .quality = (int[]){1, 30, 75, 92, 100}[(size + i) % 5],
                                 .restart = (int[]){0, 1, 0, 7}[(size + i) % 4],
                                 .optimised = (size + i) % 3 == 0,
                                 .noise = (size + 2 * i) % 4 == 1};
            expect_libjpegs_samples(&s, size % 4 == i % 4);
        }
}

SMP_TEST(many_subsequences_find_their_beginnings)
{
    for (int i = 0; i < 3; i++) {
        const jpeg_sort s = {.width = 200 + 37 * i,
                             .height = 160,
                             .channels = i == 1 ? 1 : 3,
                             .across = i == 1 ? 1 : 2,
                             .down = i == 2   ? 1
                                     : i == 1 ? 1
                                              : 2,
                             .quality = 95,
                             .noise = true,
                             .optimised = i == 2};
        expect_libjpegs_samples(&s, i == 0); /* more than 128 of them: several blocks of threads */
    }
}

/* ------------------------------------------------------------------------------------------------ damage */

enum { ORDERS = 5 };

/* In a scan that is taken for one of another kind, codes ask for coefficients that no block has. Threads decode such
 * blocks in parts: the order in which they write must not show. */
SMP_TEST(pictures_in_doubt_are_the_same_in_every_order)
{
    static const char *const variants[] = {"naive", "tiled", "padded"};
    size_t size;
    uint8_t *file = jpeg_make(&jpeg_example_sort, &size);
    for (int kind = 0; kind < 3; kind++) {
        smp_media media;
        uint64_t undecided;
        picture rows = read_scan(file, size, &media);
        assert_non_null(rows.data);
        media.shape.channels = kind == 0 ? 1 : 3;
        media.scan.across = kind == 1 ? 1 : 2;
        media.scan.down = kind == 2 ? 1 : 2;
        picture want = decode(&rows, &media, cpu, "naive", &undecided);
        assert_true(undecided > 0);
        for (int order = 0; order < ORDERS; order++)
            for (size_t i = 0; i < 3; i++) {
                smp_simt_set_order(order);
                picture got = decode(&rows, &media, simt, variants[i], &undecided);
                assert_true(undecided > 0);
                if (memcmp(got.data, want.data, want.size) != 0)
                    fail_msg("kind %d, %s: other bytes than the definition in order %d", kind, variants[i], order);
                free_picture(&got);
            }
        smp_simt_set_order(0);
        free_picture(&want);
        free_picture(&rows);
    }
    free(file);
}

SMP_TEST(damaged_files_are_in_doubt_or_right)
{
    enum { ROUNDS = 60 };
    int doubted = 0;
    const jpeg_sort s = {.width = 90, .height = 70, .channels = 3, .across = 2, .down = 2, .quality = 85, .restart = 5};
    size_t size;
    uint8_t *file = jpeg_make(&s, &size), *changed = malloc(size);
    for (int round = 0; round < ROUNDS; round++) {
        smp_error err = {0};
        smp_media media;
        uint64_t undecided = 0;
        picture right;
        memcpy(changed, file, size);
        for (int k = 0; k < 1 + round % 3; k++) /* behind most of the header */
            changed[300 + jpeg_random() % (size - 300)] = (uint8_t)(jpeg_random() >> 7);
        picture rows = read_scan(changed, size, &media);
        if (!rows.data)
            continue;
        const smp_code verdict = read_memory(changed, size, &right, &err);
        smp_simt_set_order(round % ORDERS);
        picture made = decode(&rows, &media, simt, "padded", &undecided);
        picture same = decode(&rows, &media, cpu, "naive", &(uint64_t){0});
        assert_int_equal(memcmp(made.data, same.data, made.size), 0);
        if (!undecided && verdict)
            fail_msg("round %d: libjpeg refuses what the device decodes: %s", round, err.message);
        if (!undecided)
            expect_inverted(&made, &right, "a damaged file");
        doubted += undecided > 0;
        free_picture(&made);
        free_picture(&same);
        free_picture(&right);
        free_picture(&rows);
    }
    smp_simt_set_order(0);
    assert_true(doubted > ROUNDS / 10);
    free(changed);
    free(file);
}

/* Whatever the process that decodes sends: kernels touch their own memory alone. */
SMP_TEST(rows_that_lie_do_no_harm)
{
    const jpeg_sort s = {.width = 70, .height = 50, .channels = 3, .across = 2, .down = 1, .quality = 80, .restart = 3};
    smp_media media;
    size_t size;
    uint8_t *file = jpeg_make(&s, &size);
    picture rows = read_scan(file, size, &media);
    assert_non_null(rows.data);
    uint8_t *right = malloc(rows.size);
    memcpy(right, rows.data, rows.size);
    for (int round = 0; round < 40; round++) {
        memcpy(rows.data, right, rows.size);
        for (int k = 0; k < 8; k++)
            rows.data[jpeg_random() % (k < 3 ? 24 : rows.size)] = (uint8_t)(jpeg_random() >> 9);
        uint64_t on_gpu, on_cpu;
        picture a = decode(&rows, &media, simt, "padded", &on_gpu), b = decode(&rows, &media, cpu, "naive", &on_cpu);
        if (!on_gpu && !on_cpu)
            assert_memory_equal(a.data, b.data, a.size);
        free_picture(&a);
        free_picture(&b);
    }
    free(right);
    free(file);
    free_picture(&rows);
}

SMP_TEST(files_that_are_not_plain_are_left_alone)
{
    const jpeg_sort s = {.width = 40, .height = 30, .channels = 3, .across = 2, .down = 2, .quality = 80, .restart = 2};
    smp_media media;
    size_t size;
    uint8_t *file = jpeg_make(&s, &size);
    picture rows = read_scan(file, size - 2, &media); /* no EOI */
    assert_null(rows.data);
    for (size_t i = size; i-- > 0;) /* the restart markers in another order */
        if (file[i] == 0xD1 && file[i - 1] == 0xFF) {
            file[i] = 0xD3;
            break;
        }
    rows = read_scan(file, size, &media);
    assert_null(rows.data);
    free(file);
}

/* The table of DC codes that comes first: 16 counts of codes by length, and their symbols. */
static uint8_t *dc_table_of(uint8_t *file, size_t size)
{
    for (size_t i = 0; i + 32 < size; i++)
        if (file[i] == 0xFF && file[i + 1] == 0xC4 && file[i + 4] == 0)
            return file + i + 5;
    fail_msg("there is no table");
    return NULL;
}

/* libjpeg refuses such tables, whatever codes the picture has. */
SMP_TEST(tables_that_libjpeg_refuses_are_left_to_it)
{
    enum { COUNTS = 16, SYMBOLS = 12 };
    const jpeg_sort s = {.width = 40, .height = 30, .channels = 1, .across = 1, .down = 1, .quality = 80};
    smp_error err = {0};
    smp_media media;
    size_t size;
    uint8_t *file = jpeg_make(&s, &size), *table = dc_table_of(file, size);
    picture rows = read_scan(file, size, &media), none;
    assert_non_null(rows.data);
    free_picture(&rows);
    table[COUNTS + SYMBOLS - 1] = 16; /* bits of a difference */
    assert_null(read_scan(file, size, &media).data);
    assert_int_not_equal(read_memory(file, size, &none, &err), SMP_OK);
    table[COUNTS + SYMBOLS - 1] = 11;
    assert_true(table[7] == 1 && table[8] == 1);
    table[7] = 2; /* the last code of 8 bits is all ones */
    table[8] = 0;
    assert_null(read_scan(file, size, &media).data);
    assert_int_not_equal(read_memory(file, size, &none, &err), SMP_OK);
    free(file);
}

SMP_TESTS_AROUND(open_devices, close_devices)
