/* Rows that a GPU is sent, and sends back, while the host does other things: on a driver whose streams do their work as
 * late, or as early, as their order allows, so that who does not wait for another finds stale bytes. What overlaps;
 * what a run does without pinned memory, and when a call fails. */
#include "suite.h"

#include <math.h>

#include "late_driver.h"
#include "media_fixture.h"

#include "base/checked.h"
#include "device/cpu.h"
#include "device/cuda/cuda.h"
#include "pipe/program.h"
#include "report/report.h"
#include "run/run.h"
#include "run/strips/stream.h"

enum { WIDTH = 2048, HEIGHT = 1500, STRIP = 256, ROW = WIDTH * 3 }; /* bytes x 3: six strips of 1.5 slots */

/* ------------------------------------------------------------------------------------------------ runs */

static smp_code run(const char *out, bool gpu, int64_t strip_rows, smp_run_report *report, smp_error *err)
{
    smp_device *device = NULL;
    smp_program *program = NULL;
    smp_diags diags = {0};
    const char *line = "invert";
    smp_code code = smp_program_parse_lines(&line, 1, NULL, 0, NULL, NULL, &diags, &program, err);
    if (!code)
        code = gpu ? smp_cuda_open(smp_driver_simt(), 0, &device, err) : smp_cpu_open(1, NULL, &device, err);
    if (code)
        fail_msg("%s", err->message);
    const smp_run_request request = {.program = program,
                                     .input = in_folder("in.ppm"),
                                     .output = in_folder(out),
                                     .read = smp_read_defaults(),
                                     .gpu_jpeg = SMP_GPU_JPEG,
                                     .device = device,
                                     .strip_rows = strip_rows};
    code = smp_run_file(&request, report, err);
    smp_device_close(device);
    smp_program_free(program);
    smp_diags_free(&diags);
    return code;
}

static void assert_same_files(const char *a, const char *b)
{
    size_t sizes[2];
    uint8_t *files[2] = {load(in_folder(a), &sizes[0]), load(in_folder(b), &sizes[1])};
    assert_int_equal(sizes[0], sizes[1]);
    assert_true(memcmp(files[0], files[1], sizes[0]) == 0);
    free(files[0]);
    free(files[1]);
}

static int begin(void **state)
{
    picture in = make_picture(WIDTH, HEIGHT, 3, false, SMP_U8);
    smp_error err = {0};
    smp_run_report report;
    if (make_folder(state) || write_picture(in_folder("in.ppm"), &in, &err) || run("cpu.ppm", false, 0, &report, &err))
        return 1;
    smp_run_report_free(&report);
    free_picture(&in);
    return 0;
}

static int restore(void **state)
{
    (void)state;
    late_end();
    unlink(in_folder("gpu.ppm"));
    return 0;
}

SMP_TEST_AROUND(who_touches_rows_next_waits_for_those_who_come_late, NULL, restore)
{
    static const int64_t strips[] = {STRIP, 0, HEIGHT}; /* of six, two, and one of them */
    for (size_t s = 0; s < sizeof strips / sizeof strips[0]; s++)
        for (unsigned eager = 0; eager < 8; eager++) {
            smp_error err = {0};
            smp_run_report report;
            const late_driver *late = late_begin(eager);
            if (run("gpu.ppm", true, strips[s], &report, &err))
                fail_msg("eager %u: %s", eager, err.message);
            assert_true(report.strips == (s == 0 ? 6 : s == 1 ? 2 : 1));
            assert_true(report.upload_seconds > 0 && report.download_seconds > 0);
            assert_true(eager || late->most > 1); /* nobody waited for each */
            assert_false(report.detours);
            smp_run_report_free(&report);
            assert_same_files("cpu.ppm", "gpu.ppm");
            restore(NULL);
        }
}

static int64_t strips_of(int64_t bytes)
{
    return (bytes + (int64_t)STRIP * ROW - 1) / ((int64_t)STRIP * ROW);
}

/* For each strip the device first moves uploaded rows to where it computes, and last moves results to where they are
 * sent from. So while strip k is computed, k+1 may come, and k-1 and k-2 may go. */
SMP_TEST_AROUND(strips_come_and_go_while_another_is_computed, NULL, restore)
{
    smp_error err = {0};
    smp_run_report report;
    const late_driver *late = late_begin(0);
    int64_t seen[LATE_KINDS] = {0};
    assert_ok(run("gpu.ppm", true, STRIP, &report, &err));
    smp_run_report_free(&report);
    for (int i = 0; i < late->step_count; i++) {
        const late_step *step = &late->steps[i];
        const int64_t *behind = step->behind, came = strips_of(behind[LATE_UP]), gone = strips_of(behind[LATE_DOWN]);
        if (step->kind == LATE_UP) { /* of strip k: behind what moved k-1 on, and so behind the launch of k-2 */
            const int64_t k = strips_of(step->count) - 1;
            assert_int_equal(behind[LATE_WITHIN], smp_max_i64(2 * k - 1, 0));
            assert_int_equal(behind[LATE_WORK], smp_max_i64(k - 1, 0));
            assert_int_equal(gone, smp_max_i64(k - 3, 0));
        } else if (step->kind == LATE_WORK) {
            const int64_t k = step->count - 1;
            assert_int_equal(came, k + 1);
            assert_int_equal(gone, smp_max_i64(k - 2, 0));
        } else if (step->kind == LATE_WITHIN && step->count % 2 == 0) { /* into what strip k-2 went from */
            const int64_t k = step->count / 2 - 1;
            assert_int_equal(behind[LATE_WORK], k + 1);
            assert_int_equal(gone, smp_max_i64(k - 1, 0));
        } else if (step->kind == LATE_DOWN) {
            const int64_t k = strips_of(step->count) - 1;
            assert_int_equal(behind[LATE_WITHIN], 2 * k + 2);
            assert_int_equal(came, k + 1);
        }
        seen[step->kind] = step->count;
    }
    assert_int_equal(seen[LATE_WORK], 6);
    assert_int_equal(seen[LATE_WITHIN], 12);
    assert_int_equal(seen[LATE_UP], (int64_t)HEIGHT * ROW);
    assert_int_equal(seen[LATE_DOWN], (int64_t)HEIGHT * ROW);
}

static CUresult pin_nothing(void **memory, size_t size, unsigned flags)
{
    (void)size, (void)flags;
    *memory = NULL;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SMP_TEST_AROUND(without_pinned_memory_rows_make_a_detour_which_is_told, NULL, restore)
{
    smp_error err = {0};
    smp_run_report report;
    char *table = NULL;
    size_t size;
    (void)late_begin(0);
    smp_driver_simt()->call.cuMemHostAlloc = pin_nothing;
    assert_ok(run("gpu.ppm", true, 0, &report, &err));
    assert_same_files("cpu.ppm", "gpu.ppm");
    FILE *to = open_memstream(&table, &size);
    smp_report_table(to, &report, false);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(table, "no more can be pinned"));
    free(table);
    smp_run_report_free(&report);
}

SMP_TEST_AROUND(a_copy_that_fails_leaves_no_file, NULL, restore)
{
    for (int nth = 1; nth <= 5; nth += 2) {
        smp_error err = {0};
        smp_run_report report;
        late_begin(0)->fails_down = nth;
        assert_int_equal(run("gpu.ppm", true, STRIP, &report, &err), SMP_E_DEVICE);
        assert_non_null(strstr(err.message, "cuMemcpyDtoHAsync"));
        assert_int_not_equal(access(in_folder("gpu.ppm"), F_OK), 0);
        smp_run_report_free(&report);
        restore(NULL);
    }
}

/* ------------------------------------------------------------------------------------------------ the device alone */

SMP_TEST_AROUND(a_copy_without_a_mark_is_over_when_its_failure_is_told, NULL, restore)
{
    enum { SIZE = 1 << 16 };
    smp_error err = {0};
    smp_device *device;
    void *there;
    late_driver *late = late_begin(0);
    assert_int_equal(smp_cuda_open(smp_driver_simt(), 0, &device, &err), SMP_OK);
    assert_int_equal(device->ops->alloc(device, SIZE, &there, &err), SMP_OK);
    unsigned char *host = device->ops->pinned_alloc(device, SIZE);
    assert_non_null(host);
    for (int beside = 0; beside < 2; beside++) {
        smp_mark *mark = NULL, *after = NULL;
        smp_rows_sent rows = {.up = true, .to = there, .from = host, .row_bytes = SIZE, .rows = 1};
        int records = 1;
        if (beside) {
            assert_int_equal(device->ops->mark(device, SMP_WORK, &after, &err), SMP_OK);
            rows.after = after;
        }
        late->fails_record += records + beside; /* the mark's own */
        assert_int_equal(device->ops->send(device, &rows, NULL, &mark, &err), SMP_E_DEVICE);
        assert_non_null(strstr(err.message, "cuEventRecord"));
        assert_int_equal(late_left(), 0);
        device->ops->unmark(device, mark);
        device->ops->unmark(device, after);
    }
    device->ops->pinned_free(device, host);
    device->ops->free(device, there);
    smp_device_close(device);
}

/* Sends `count` copies of SENT bytes up from SMP_GPU_SLOTS slots in turn, beside the work; each waits for the copy that
 * its slot was used for before, and every `dry`-th for all. 0: they go in the order of the work, and wait for nothing.
 */
enum { SENT = 1 << 12 };
static double seconds_of_copies(late_driver *late, int count, int dry, bool at_border, int *records)
{
    smp_error err = {0};
    smp_device *device;
    void *there;
    unsigned char *host;
    smp_mark *marks[SMP_GPU_SLOTS] = {NULL}, *after = NULL;
    smp_cost cost = {0};
    late->by_bytes = true;
    assert_int_equal(smp_cuda_open(smp_driver_simt(), 0, &device, &err), SMP_OK);
    assert_int_equal(device->ops->alloc(device, SENT, &there, &err), SMP_OK);
    assert_non_null(host = device->ops->pinned_alloc(device, SENT));
    assert_int_equal(device->ops->mark(device, SMP_WORK, &after, &err), SMP_OK);
    const int before = late->records;
    for (int i = 0; i < count; i++) {
        smp_mark **mark = &marks[i % SMP_GPU_SLOTS];
        const smp_rows_sent rows = {
            .up = true, .to = there, .from = host, .row_bytes = SENT, .rows = 1, .after = dry ? after : NULL};
        const int halves = at_border ? 2 : 1; /* of a slot that two strips share */
        const smp_mark *awaited = dry && i % dry == 0 ? marks[(i + 3) % SMP_GPU_SLOTS] : *mark;
        assert_int_equal(device->ops->reach(device, dry ? awaited : NULL, &err), SMP_OK);
        for (int half = 0; half < halves; half++)
            assert_int_equal(device->ops->send(device, &rows, &cost, mark, &err), SMP_OK);
    }
    *records = late->records - before;
    assert_int_equal(device->ops->sync(device, &err), SMP_OK);
    assert_int_equal(late_left(), 0);
    for (int i = 0; i < SMP_GPU_SLOTS; i++)
        device->ops->unmark(device, marks[i]);
    device->ops->unmark(device, after);
    device->ops->pinned_free(device, host);
    device->ops->free(device, there);
    smp_device_close(device);
    return cost.seconds;
}

SMP_TEST_AROUND(copies_that_follow_on_each_other_have_one_event_each, NULL, restore)
{
    int records;
    (void)seconds_of_copies(late_begin(0), 64, 100, false, &records);
    assert_in_range(records, 64, 64 + 6);
}

SMP_TEST_AROUND(events_of_copies_that_are_over_serve_again, NULL, restore)
{
    int records;
    late_driver *late = late_begin(0);
    (void)seconds_of_copies(late, 100, 1, false, &records);
    assert_in_range(records, 300, 300);
    assert_in_range(late->events, SMP_GPU_SLOTS, 2 * SMP_GPU_SLOTS + 4);
}

/* Also where copies are alone, where the bus runs dry behind some of them, and where a slot is sent from twice. */
SMP_TEST_AROUND(the_seconds_of_all_copies_add_up, NULL, restore)
{
    for (unsigned eager = 0; eager < 8; eager += 7)
        for (int dry = 0; dry <= 6; dry++)
            for (int border = 0; border < 2; border++) {
                int records, count = 300; /* more than may be timed at once */
                const double want = count * (1.0 + border) * 1e-9 * SENT;
                const double seconds = seconds_of_copies(late_begin(eager), count, dry, border, &records);
                late_end();
                if (fabs(seconds - want) > 1e-6 * want)
                    fail_msg("eager %u, dry at each %d: %g s instead of %g", eager, dry, seconds, want);
            }
}

SMP_TESTS_AROUND(begin, remove_folder)
