/* Rows that a GPU is sent, and sends back, while the host does other things: on a driver whose copies begin as late as
 * the order of its stream allows, so that who does not wait for one finds stale bytes. What a run does without pinned
 * memory, and when a copy fails. */
#include "suite.h"

#include <pthread.h>

#include "media_fixture.h"

#include "device/cpu.h"
#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "pipe/program.h"
#include "report/report.h"
#include "run/run.h"

enum { WIDTH = 2048, HEIGHT = 1500 }; /* of bytes x 3: two strips, each of more slots than a ring has */

/* ------------------------------------------------------------------------------------------------ a late driver */

typedef struct late_copy {
    bool up;
    void *host;
    CUdeviceptr device;
    size_t size;
} late_copy;

enum { COPIES = 256, EVENTS = 1024 };

static struct {
    pthread_mutex_t lock;
    late_copy copies[COPIES]; /* numbers done .. queued-1, modulo COPIES */
    size_t done, queued;
    struct {
        CUevent event;
        size_t behind; /* copies that are done when it is reached */
    } events[EVENTS];
    int most; /* in flight at once */
    int sent, fails;
} late = {.lock = PTHREAD_MUTEX_INITIALIZER};

static smp_driver kept; /* the emulator's functions */

/* Does copies until so many are done. The lock is held. */
static void do_copies(size_t until)
{
    for (; late.done < until; late.done++) {
        const late_copy *c = &late.copies[late.done % COPIES];
        if (c->up)
            (void)kept.call.cuMemcpyHtoDAsync(c->device, c->host, c->size, NULL);
        else
            (void)kept.call.cuMemcpyDtoHAsync(c->host, c->device, c->size, NULL);
    }
}

static void do_all(void)
{
    pthread_mutex_lock(&late.lock);
    do_copies(late.queued);
    pthread_mutex_unlock(&late.lock);
}

static CUresult queue(bool up, void *host, CUdeviceptr device, size_t size)
{
    pthread_mutex_lock(&late.lock);
    if (late.queued - late.done == COPIES)
        do_copies(late.done + 1);
    late.copies[late.queued++ % COPIES] = (late_copy){up, host, device, size};
    const int flying = (int)(late.queued - late.done);
    late.most = flying > late.most ? flying : late.most;
    const bool fails = !up && size > WIDTH && ++late.sent == late.fails;
    pthread_mutex_unlock(&late.lock);
    return fails ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static CUresult late_up(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    (void)stream;
    return queue(true, (void *)(uintptr_t)from, to, size);
}

static CUresult late_down(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    (void)stream;
    return queue(false, to, from, size);
}

static CUresult late_record(CUevent event, CUstream stream)
{
    pthread_mutex_lock(&late.lock);
    int i = 0;
    while (i < EVENTS - 1 && late.events[i].event && late.events[i].event != event)
        i++;
    late.events[i].event = event;
    late.events[i].behind = late.queued;
    pthread_mutex_unlock(&late.lock);
    return kept.call.cuEventRecord(event, stream);
}

static CUresult late_reach(CUevent event)
{
    pthread_mutex_lock(&late.lock);
    for (int i = 0; i < EVENTS; i++)
        if (late.events[i].event == event)
            do_copies(late.events[i].behind);
    pthread_mutex_unlock(&late.lock);
    return kept.call.cuEventSynchronize(event);
}

static CUresult late_launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
                            void **extra)
{
    do_all();
    return kept.call.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                    params, extra);
}

static CUresult late_2d(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    do_all();
    return kept.call.cuMemcpy2DAsync(copy, stream);
}

static CUresult late_fill(CUdeviceptr to, unsigned char value, size_t size, CUstream stream)
{
    do_all();
    return kept.call.cuMemsetD8Async(to, value, size, stream);
}

static CUresult late_free(CUdeviceptr memory)
{
    do_all();
    return kept.call.cuMemFree(memory);
}

static void be_late(void)
{
    smp_driver *driver = smp_driver_simt();
    late.done = late.queued = 0;
    late.most = late.sent = late.fails = 0;
    memset(late.events, 0, sizeof late.events);
    kept.call = driver->call;
    driver->call.cuMemcpyHtoDAsync = late_up;
    driver->call.cuMemcpyDtoHAsync = late_down;
    driver->call.cuEventRecord = late_record;
    driver->call.cuEventSynchronize = late_reach;
    driver->call.cuLaunchKernel = late_launch;
    driver->call.cuMemcpy2DAsync = late_2d;
    driver->call.cuMemsetD8Async = late_fill;
    driver->call.cuMemFree = late_free;
}

static CUresult pin_nothing(void **memory, size_t size, unsigned flags)
{
    (void)size, (void)flags;
    *memory = NULL;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* ------------------------------------------------------------------------------------------------ runs */

static smp_code run(const char *out, bool gpu, smp_run_report *report, smp_error *err)
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
                                     .limits = smp_limits_default(),
                                     .write = smp_write_options_default(),
                                     .device = device};
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
    if (make_folder(state) || write_picture(in_folder("in.ppm"), &in, &err) || run("cpu.ppm", false, &report, &err))
        return 1;
    smp_run_report_free(&report);
    free_picture(&in);
    return 0;
}

static int restore(void **state)
{
    (void)state;
    if (kept.call.cuInit)
        smp_driver_simt()->call = kept.call;
    unlink(in_folder("gpu.ppm"));
    return 0;
}

static void who_touches_rows_next_waits_for_copies_that_begin_late(void **state)
{
    (void)state;
    smp_error err = {0};
    smp_run_report report;
    be_late();
    assert_ok(run("gpu.ppm", true, &report, &err));
    assert_true(report.strips >= 2);
    assert_true(report.upload_seconds > 0 && report.download_seconds > 0);
    assert_true(late.most > 1); /* nobody waited for each */
    assert_false(report.detours);
    smp_run_report_free(&report);
    assert_same_files("cpu.ppm", "gpu.ppm");
}

static void without_pinned_memory_rows_make_a_detour_which_is_told(void **state)
{
    (void)state;
    smp_error err = {0};
    smp_run_report report;
    char *table = NULL;
    size_t size;
    be_late();
    smp_driver_simt()->call.cuMemHostAlloc = pin_nothing;
    assert_ok(run("gpu.ppm", true, &report, &err));
    assert_same_files("cpu.ppm", "gpu.ppm");
    FILE *to = open_memstream(&table, &size);
    smp_report_table(to, &report, false);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(table, "no more can be pinned"));
    free(table);
    smp_run_report_free(&report);
}

static void a_copy_that_fails_leaves_no_file(void **state)
{
    (void)state;
    smp_error err = {0};
    smp_run_report report;
    be_late();
    late.fails = 3;
    assert_int_equal(run("gpu.ppm", true, &report, &err), SMP_E_DEVICE);
    assert_non_null(strstr(err.message, "cuMemcpyDtoHAsync"));
    assert_int_not_equal(access(in_folder("gpu.ppm"), F_OK), 0);
    smp_run_report_free(&report);
}

SMP_SUITE(rows_in_flight)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(who_touches_rows_next_waits_for_copies_that_begin_late, restore),
        cmocka_unit_test_teardown(without_pinned_memory_rows_make_a_detour_which_is_told, restore),
        cmocka_unit_test_teardown(a_copy_that_fails_leaves_no_file, restore),
    };
    return cmocka_run_group_tests_name("rows_in_flight", tests, begin, remove_folder);
}
