/* Runs of small pictures with a cache, as a batch makes them: what they ask of the decoder's process. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/cpu.h"
#include "io/decoder/worker.h"
#include "pipe/program.h"
#include "run/run.h"

static int start(void **context)
{
    smp_error err = {0};
    (void)context;
    return smp_worker_start(smp_limits_default().max_memory, &err) || smp_worker_more(&err) || !smp_worker_runs() ? -1
                                                                                                                  : 0;
}

static int stop(void **context)
{
    (void)context;
    smp_worker_stop();
    return 0;
}

SMP_TEST(they_ask_once_a_file)
{
    const char *line = "invert";
    char folder[] = "/tmp/smempipe-test-XXXXXX", out[64];
    smp_diags diags = {0};
    smp_error err = {0};
    smp_program *program;
    smp_device *device;
    smp_run_cache *cache;
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/out.npy", folder);
    assert_int_equal(smp_program_parse_lines(&line, 1, NULL, 0, NULL, NULL, &diags, &program, &err), SMP_OK);
    assert_int_equal(smp_cpu_open(1, NULL, &device, &err), SMP_OK);
    assert_int_equal(smp_run_cache_open(&cache, &err), SMP_OK);
    const smp_run_request request = {.program = program,
                                     .diags = &diags,
                                     .input = SMP_SOURCE_DIR "/samples/chelsea.png",
                                     .output = out,
                                     .read = smp_read_defaults(),
                                     .gpu_jpeg = SMP_GPU_JPEG,
                                     .write.output.force = true,
                                     .device = device,
                                     .cache = cache};
    for (int i = 0; i < 3; i++) {
        smp_run_report report;
        const uint64_t before = smp_worker_asks();
        assert_int_equal(smp_run_file(&request, &report, &err), SMP_OK);
        assert_int_equal(smp_worker_asks() - before, i ? 1 : 2); /* the first one's header, then its rows */
        smp_run_report_free(&report);
    }
    smp_run_cache_close(cache);
    smp_device_close(device);
    smp_program_free(program);
    smp_diags_free(&diags);
    unlink(out);
    rmdir(folder);
}

SMP_TESTS_AROUND(start, stop)
