/* A GPU that fails in the middle of a batch costs its time and nothing else; and processors that work beside it. */
#include "suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>

#include "batch_fixture.h"

#include "device/cuda/cuda_api.h"
#include "device/simt/simt.h"

enum { FILES = 4 };

typedef struct told {
    batch_told heard;
    uint64_t calls; /* of the driver */
    bool refused;   /* files begin once the driver was called */
    int together;   /* files that begin before any goes on */
    int begun;
    pthread_mutex_t lock;
    pthread_cond_t all_begun;
} told;

static smp_code meet(void *context, const smp_batch_file *file, smp_error *err)
{
    told *t = context;
    (void)file, (void)err;
    while (t->refused && !smp_driver_simt()->calls)
        sched_yield();
    pthread_mutex_lock(&t->lock);
    if (++t->begun >= t->together)
        pthread_cond_broadcast(&t->all_begun);
    while (t->begun < t->together)
        pthread_cond_wait(&t->all_begun, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return SMP_OK;
}

static void hear(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    told *t = context;
    (void)file, (void)err;
    hear_file(&t->heard, report);
}

static smp_batch_count run_jobs(const char *device, int jobs, uint64_t fail_at, bool sticky, told *t)
{
    smp_error err = {0};
    smp_diags diags = {0};
    smp_program *program;
    const char *line = "gaussian 2px";
    smp_batch_count count;
    *t = (told){.refused = fail_at == 1,
                .together = jobs,
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .all_begun = PTHREAD_COND_INITIALIZER};
    assert_ok(smp_program_parse_lines(&line, 1, NULL, 0, NULL, NULL, &diags, &program, &err));
    const smp_batch_request request = {.program = program,
                                       .diags = &diags,
                                       .files = batch_files,
                                       .count = FILES,
                                       .write.output.force = true,
                                       .device = device,
                                       .threads = jobs,
                                       .jobs = jobs,
                                       .begin = meet,
                                       .finished = hear,
                                       .context = t};
    smp_driver_fail_at(smp_driver_simt(), fail_at, CUDA_ERROR_LAUNCH_FAILED, sticky);
    char note[400] = "";
    smp_code code = smp_batch_run(&request, &count, note, sizeof note, &err);
    hear_note(&t->heard, note); /* where no file was left to say it */
    t->calls = smp_driver_simt()->calls;
    smp_driver_fail_at(smp_driver_simt(), 0, CUDA_SUCCESS, false);
    assert_ok(code);
    smp_program_free(program);
    smp_diags_free(&diags);
    return count;
}

static smp_batch_count run_on(const char *device, uint64_t fail_at, bool sticky, told *t)
{
    return run_jobs(device, 1, fail_at, sticky, t);
}

static int make_files(void **context)
{
    return make_batch_files(context, FILES, 40, 30);
}

SMP_TEST_AROUND(its_files_are_done_again_and_the_rest_elsewhere, make_files, remove_batch_files)
{
    told t;
    assert_int_equal(run_on("cpu", 0, false, &t).done, FILES);
    keep_outputs();
    assert_int_equal(run_on("simt", 0, false, &t).done, FILES);
    assert_int_equal(t.heard.on_cpu, 0);
    const uint64_t calls = t.calls;
    const smp_batch_count count = run_on("simt", calls / 2, true, &t);
    assert_int_equal(count.done, FILES);
    assert_int_equal(t.heard.failed, 0);
    assert_int_equal(t.heard.done_again, 1);
    assert_in_range(t.heard.on_cpu, 1, FILES - 1);
    outputs_are_the_same();
}

SMP_TEST_AROUND(processors_and_a_gpu_work_side_by_side, make_files, remove_batch_files)
{
    told t;
    assert_int_equal(run_on("cpu", 0, false, &t).done, FILES);
    keep_outputs();
    assert_int_equal(run_jobs("cpu,simt", 2, 0, false, &t).done, FILES); /* a thread each, and both have begun */
    assert_in_range(t.heard.on_cpu, 1, FILES - 1);
    assert_int_equal(t.heard.failed + t.heard.done_again, 0);
    outputs_are_the_same();
    const smp_batch_count count = run_jobs("cpu,simt", 2, t.calls, true, &t); /* its last call, and then all */
    assert_int_equal(count.done, FILES);
    assert_int_equal(t.heard.failed, 0);
    outputs_are_the_same();
}

SMP_TEST_AROUND(a_gpu_that_cannot_be_opened_is_told_and_done_without, make_files, remove_batch_files)
{
    told t;
    const smp_batch_count count = run_jobs("cpu,simt", 1, 1, true, &t);
    assert_int_equal(count.done, FILES);
    assert_int_equal(t.heard.on_cpu, FILES);
    assert_int_equal(t.heard.left_out, 1);
}

SMP_TEST_AROUND(no_thread_waits_for_a_larger_table_of_descriptors, make_files, remove_batch_files)
{
    told t;
    char line[200];
    int size = 0;
    struct rlimit most;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
    assert_int_equal(run_on("cpu", 0, false, &t).done, FILES);
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        (void)sscanf(line, "FDSize: %d", &size);
    if (!status || !size)
        skip();
    fclose(status);
    assert_in_range(size, most.rlim_cur < 1024 ? most.rlim_cur : 1024, 1 << 30);
}

SMP_TEST_AROUND(a_call_that_fails_once_fails_its_file_alone, make_files, remove_batch_files)
{
    told t;
    assert_int_equal(run_on("simt", 0, false, &t).done, FILES);
    const uint64_t calls = t.calls;
    size_t failed = 0;
    for (uint64_t part = 4; part < 8; part++) { /* the device is open by then */
        const smp_batch_count count = run_on("simt", calls * part / 8, false, &t);
        assert_int_equal(count.done + count.failed, FILES);
        assert_in_range(count.failed, 0, 1); /* a call whose failure costs nothing may be hit */
        assert_int_equal(t.heard.done_again, 0);
        assert_int_equal(t.heard.on_cpu, 0);
        failed += count.failed;
    }
    assert_in_range(failed, 1, 4);
}
