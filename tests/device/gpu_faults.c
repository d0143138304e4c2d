/* A whole run from file to file on the emulator while the driver fails: whichever call it is and however it fails, the
 * run ends with a message, a hint and exit status 5, or with the right bytes; nothing leaks, no file is left behind,
 * and what was there before is untouched. Also what a device with little memory does: smaller strips, then an error. */
#include "suite.h"

#include "media_fixture.h"

#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "pipe/program.h"
#include "run/run.h"

enum { WIDTH = 40, HEIGHT = 70 }; /* in strips of 32 rows: three, and two of what was turned */

typedef struct job {
    smp_program *program;
    int64_t strip_rows;
    const char *variant;   /* null: the default of each stage */
    smp_run_report report; /* of the last run, without its lists */
} job;

static job job_of(const char *const *lines, size_t count, int64_t strip_rows)
{
    job j = {.strip_rows = strip_rows};
    smp_diags diags = {0};
    smp_error err = {0};
    if (smp_program_parse_lines(lines, count, NULL, 0, NULL, NULL, &diags, &j.program, &err))
        fail_msg("%s", err.message);
    smp_diags_free(&diags);
    return j;
}

/* All that `smempipe run --device simt -f` does. */
static smp_code run(job *j, smp_error *err)
{
    smp_device *device;
    smp_code code = smp_cuda_open(smp_driver_simt(), 0, &device, err);
    if (code)
        return code;
    smp_run_request request = {.program = j->program,
                               .input = in_folder("in.ppm"),
                               .output = in_folder("out.ppm"),
                               .read = smp_read_defaults(),
                               .gpu_jpeg = SMP_GPU_JPEG,
                               .device = device,
                               .variant = j->variant,
                               .strip_rows = j->strip_rows};
    request.write.output.force = true;
    code = smp_run_file(&request, &j->report, err);
    smp_run_report_free(&j->report);
    smp_device_close(device);
    return code;
}

static void write_input(void)
{
    picture in = make_picture(WIDTH, HEIGHT, 3, false, SMP_U8);
    smp_error err = {0};
    clear_folder();
    assert_int_equal(write_picture(in_folder("in.ppm"), &in, &err), SMP_OK);
    free_picture(&in);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool holds(const char *path, const void *bytes, size_t size)
{
    size_t found;
    uint8_t *data = load(path, &found);
    bool same = found == size && !memcmp(data, bytes, size);
    free(data);
    return same;
}

/* ------------------------------------------------------------------------------------------------ every call */

static const struct failure {
    const char *name;
    CUresult result;
    bool sticky, present; /* so do all later calls; a file with the output's name is there before */
    const char *variant;  /* null: the default; its blocks of 1024 threads take the emulator a while to set up */
} failures[] = {
    {"out of memory once", CUDA_ERROR_OUT_OF_MEMORY, false, false, NULL},
    {"out of memory", CUDA_ERROR_OUT_OF_MEMORY, true, true, "naive"},
    {"no device", CUDA_ERROR_NO_DEVICE, false, true, "naive"},
    {"illegal address", CUDA_ERROR_ILLEGAL_ADDRESS, true, false, NULL},
    {"launch timeout", CUDA_ERROR_LAUNCH_TIMEOUT, true, true, "naive"},
    {"unknown", CUDA_ERROR_UNKNOWN, false, false, "naive"},
};

static void check_failure(const struct failure *f, uint64_t nth, smp_code code, const smp_error *err,
                          const uint8_t *want, size_t want_size)
{
    static const char before[] = "what was there before";
    bool same = true;
    int files = 1;
    if (code) {
        smp_code expected = f->result == CUDA_ERROR_OUT_OF_MEMORY ? SMP_E_DEVICE_MEMORY : SMP_E_DEVICE;
        same = code == expected && err->code == code && smp_exit_status(code) == 5 && err->message[0] && err->hint[0];
        files = 1 + f->present;
        if (f->present)
            same = same && holds(in_folder("out.ppm"), before, sizeof before - 1);
    } else {
        files = 2;
        same = holds(in_folder("out.ppm"), want, want_size);
    }
    if (same && count_files() == files)
        return;
    print_error("driver call %llu: %s; the run says %d, '%s' (%s); %d files\n", (unsigned long long)nth, f->name,
                (int)code, err->message, err->hint, count_files());
    fail_msg("a failure that is not clean");
}

/* Every call of a run, one after the other. Returns how many of them made the run fail. */
static uint64_t fail_every_call(job *j, const struct failure *f, const uint8_t *want, size_t want_size)
{
    smp_driver *driver = smp_driver_simt();
    uint64_t failed = 0, live = smp_alloc_live();
    for (uint64_t nth = 1;; nth++) {
        smp_error err = {.code = SMP_OK};
        unlink(in_folder("out.ppm"));
        if (f->present)
            write_text(in_folder("out.ppm"), "what was there before");
        smp_driver_fail_at(driver, nth, f->result, f->sticky);
        smp_code code = run(j, &err);
        bool reached = driver->calls >= nth;
        smp_driver_fail_at(driver, 0, CUDA_SUCCESS, false);
        check_failure(f, nth, code, &err, want, want_size);
        assert_int_equal(smp_alloc_live(), live);
        failed += code != SMP_OK;
        if (!reached) { /* there are no more calls */
            assert_int_equal(code, SMP_OK);
            return failed;
        }
    }
}

static void every_driver_call_of_a_run_may_fail(void **state)
{
    (void)state;
    static const char *const lines[] = {"gaussian 1.5px edge=mirror", "stats", "equalize", "transpose"};
    job j = job_of(lines, sizeof lines / sizeof lines[0], 32);
    size_t size;
    smp_error err = {.code = SMP_OK};
    write_input();
    if (run(&j, &err))
        fail_msg("%s", err.message);
    assert_true(j.report.strips >= 5);
    uint8_t *want = load(in_folder("out.ppm"), &size);
    for (size_t f = 0; f < sizeof failures / sizeof failures[0]; f++) {
        j.variant = failures[f].variant;
        assert_true(fail_every_call(&j, &failures[f], want, size) > 60); /* the rest are calls of closing */
    }
    if (run(&j, &err)) /* nothing lingers */
        fail_msg("%s", err.message);
    assert_true(holds(in_folder("out.ppm"), want, size));
    free(want);
    smp_program_free(j.program);
}

/* ------------------------------------------------------------------------------------------------ little memory */

enum { LITTLE = 40000, JOINS = 25000 /* has the least of what joins */ };
static struct budget { /* of device memory, bytes; the emulator's own functions behind it */
    CUresult (*alloc)(CUdeviceptr *memory, size_t size);
    CUresult (*release)(CUdeviceptr memory);
    CUresult (*bring)(void *to, CUdeviceptr from, size_t size, CUstream stream);
    size_t left;
    int refused, brought; /* requests; copies to the host from blocks of more than JOINS bytes */
    struct {
        CUdeviceptr memory;
        size_t size;
    } blocks[64];
} budget;

static CUresult alloc_within_budget(CUdeviceptr *memory, size_t size)
{
    if (size > budget.left) {
        budget.refused++;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult result = budget.alloc(memory, size);
    size_t i = 0;
    while (budget.blocks[i].memory)
        assert_true(++i < sizeof budget.blocks / sizeof budget.blocks[0]);
    if (result == CUDA_SUCCESS) {
        budget.blocks[i].memory = *memory;
        budget.blocks[i].size = size;
        budget.left -= size;
    }
    return result;
}

static CUresult release_to_budget(CUdeviceptr memory)
{
    for (size_t i = 0; i < sizeof budget.blocks / sizeof budget.blocks[0]; i++)
        if (memory && budget.blocks[i].memory == memory) {
            budget.left += budget.blocks[i].size;
            budget.blocks[i].memory = 0;
        }
    return budget.release(memory);
}

static CUresult bring_from_budget(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    for (size_t i = 0; i < sizeof budget.blocks / sizeof budget.blocks[0]; i++)
        budget.brought += budget.blocks[i].memory && budget.blocks[i].size > JOINS && from >= budget.blocks[i].memory &&
                          from - budget.blocks[i].memory < budget.blocks[i].size;
    return budget.bring(to, from, size, stream);
}

/* Runs on a device of so many bytes; all that was taken is given back. */
static smp_code run_within(job *j, size_t bytes, smp_error *err)
{
    smp_driver *driver = smp_driver_simt();
    budget = (struct budget){.alloc = driver->call.cuMemAlloc,
                             .release = driver->call.cuMemFree,
                             .bring = driver->call.cuMemcpyDtoHAsync,
                             .left = bytes};
    driver->call.cuMemAlloc = alloc_within_budget;
    driver->call.cuMemFree = release_to_budget;
    driver->call.cuMemcpyDtoHAsync = bring_from_budget;
    smp_code code = run(j, err);
    driver->call.cuMemAlloc = budget.alloc;
    driver->call.cuMemFree = budget.release;
    driver->call.cuMemcpyDtoHAsync = budget.bring;
    assert_int_equal(budget.left, bytes);
    return code;
}

static void little_device_memory_means_smaller_strips(void **state)
{
    (void)state;
    static const char *const lines[] = {"gaussian 1px"};
    job j = job_of(lines, 1, 64);
    size_t size;
    smp_error err = {.code = SMP_OK};
    uint64_t live = smp_alloc_live();
    write_input();
    assert_int_equal(run_within(&j, 1 << 20, &err), SMP_OK);
    assert_int_equal(j.report.strip_rows, 64);
    uint8_t *want = load(in_folder("out.ppm"), &size);
    int64_t last = 64;
    int smaller = 0;
    smp_code code = SMP_OK;
    for (size_t bytes = 100000; !code && bytes > 500; bytes = bytes * 3 / 4) {
        code = run_within(&j, bytes, &err);
        assert_int_equal(smp_alloc_live(), live);
        if (code)
            break;
        assert_true(holds(in_folder("out.ppm"), want, size));
        assert_true(j.report.strip_rows <= last);
        smaller += j.report.strip_rows < last;
        last = j.report.strip_rows;
    }
    assert_true(smaller >= 4);
    assert_true(last <= 4);
    assert_int_equal(code, SMP_E_DEVICE_MEMORY); /* not even one row fits */
    assert_int_equal(smp_exit_status(code), 5);
    assert_true(err.message[0] && err.hint[0]);
    free(want);
    smp_program_free(j.program);
}

/* The union-find takes 44 and 26 KB here; what the host gets of it tells that the device has joined. */
static void what_has_no_room_on_the_device_is_joined_by_the_host(void **state)
{
    (void)state;
    static const char *const stages[] = {"label min-area=3px", "canny 20% high=50%"};
    for (int i = 0; i < 2; i++) {
        const char *const lines[] = {"gray", stages[i]};
        job j = job_of(lines, 2, 64);
        size_t size;
        smp_error err = {.code = SMP_OK};
        write_input();
        assert_int_equal(run_within(&j, 1 << 20, &err), SMP_OK);
        assert_int_equal(budget.refused, 0);
        assert_true(budget.brought > 0);
        uint8_t *want = load(in_folder("out.ppm"), &size);
        assert_int_equal(run_within(&j, LITTLE, &err), SMP_OK);
        assert_true(budget.refused > 0);
        assert_int_equal(budget.brought, 0);
        assert_true(holds(in_folder("out.ppm"), want, size));
        free(want);
        smp_program_free(j.program);
    }
}

SMP_SUITE(gpu_faults)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_driver_call_of_a_run_may_fail),
        cmocka_unit_test(little_device_memory_means_smaller_strips),
        cmocka_unit_test(what_has_no_room_on_the_device_is_joined_by_the_host),
    };
    smp_simt_set_threads(1); /* hundreds of runs begin and end an emulator each */
    return cmocka_run_group_tests_name("gpu_faults", tests, make_folder, remove_folder);
}
