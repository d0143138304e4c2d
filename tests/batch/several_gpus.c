/* A batch on several GPUs: the emulator's driver, said to have three of them, of which one is slow, late, or fails. */
#include "suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "batch_fixture.h"

#include "device/cuda/cuda_api.h"
#include "device/simt/simt.h"

enum { GPUS = 3, FILES = 9, PATIENCE = 20 /* seconds, before a test that waits for others fails */ };

/* ------------------------------------------------------------------------------------------------ the driver */

static struct {
    pthread_mutex_t calls; /* of the emulator, which serves one thread */
    pthread_mutex_t lock;  /* of what follows */
    pthread_cond_t changed;
    int finished;
    batch_told heard;
    int slow, late, lost, closed; /* devices, or -1 */
    int waits_for;                /* files that others finish before a slow or late device goes on */
    bool gave_up;                 /* it waited for too long */
    char note[400];               /* of the batch */
    int launches[GPUS];
    atomic_bool refused; /* the closed device was asked for */
} fake;

static _Thread_local int current = -1;
static char contexts[GPUS];
static _Atomic(CUcontext) real_context;

/* Waits until the other devices have finished their files. */
static void wait_for_others(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    pthread_mutex_lock(&fake.lock);
    while (fake.finished < fake.waits_for && !fake.gave_up)
        fake.gave_up = pthread_cond_timedwait(&fake.changed, &fake.lock, &until) != 0;
    pthread_mutex_unlock(&fake.lock);
}

static bool is_lost(void)
{
    enum { LAUNCHES = 2 }; /* that go well */
    pthread_mutex_lock(&fake.lock);
    const bool lost = current >= 0 && current == fake.lost && fake.launches[current] > LAUNCHES;
    pthread_mutex_unlock(&fake.lock);
    return lost;
}

static bool gives_back(const char *call)
{
    return strstr(call, "Free") || strstr(call, "Destroy") || strstr(call, "Unload");
}

/* Every call that is not below goes to the emulator, in turn; those of a device that is lost fail. What they give
 * back is taken all the same, as a driver does at the end. */
#define CU(name, symbol, kind, params, args)                                                                           \
    __attribute__((unused)) static CUresult fake_##name params                                                         \
    {                                                                                                                  \
        const bool lost_ = is_lost();                                                                                  \
        if (lost_ && !gives_back(#name))                                                                               \
            return CUDA_ERROR_LAUNCH_FAILED;                                                                           \
        pthread_mutex_lock(&fake.calls);                                                                               \
        const CUresult result_ = smp_driver_simt()->call.name args;                                                    \
        pthread_mutex_unlock(&fake.calls);                                                                             \
        return lost_ ? CUDA_ERROR_LAUNCH_FAILED : result_;                                                             \
    }
#include "device/cuda/cuda_api.def"
#undef CU

static CUresult count_devices(int *count)
{
    *count = GPUS;
    return CUDA_SUCCESS;
}

static CUresult get_device(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}

static CUresult get_name(char *name, int size, CUdevice device)
{
    snprintf(name, (size_t)size, "GPU %d", device);
    return CUDA_SUCCESS;
}

static CUresult get_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    return fake_cuDeviceGetAttribute(value, attribute, 0);
}

static CUresult total_memory(size_t *bytes, CUdevice device)
{
    (void)device;
    return fake_cuDeviceTotalMem(bytes, 0);
}

static CUresult retain(CUcontext *context, CUdevice device)
{
    if (device == fake.closed) {
        atomic_store(&fake.refused, true);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (device == fake.late)
        wait_for_others();
    CUcontext real;
    const CUresult result = fake_cuDevicePrimaryCtxRetain(&real, 0);
    if (result == CUDA_SUCCESS) /* others are at work in it */
        real_context = real;
    *context = (CUcontext)(void *)&contexts[device];
    return result;
}

static CUresult release(CUdevice device)
{
    (void)device;
    return fake_cuDevicePrimaryCtxRelease(0);
}

static CUresult set_current(CUcontext context)
{
    current = context ? (int)((char *)(void *)context - contexts) : -1;
    return is_lost() ? CUDA_ERROR_LAUNCH_FAILED : fake_cuCtxSetCurrent(context ? real_context : NULL);
}

static CUresult launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **params,
                       void **extra)
{
    pthread_mutex_lock(&fake.lock);
    fake.launches[current]++;
    pthread_mutex_unlock(&fake.lock);
    if (current == fake.slow)
        wait_for_others();
    while (fake.closed >= 0 && !atomic_load(&fake.refused))
        sched_yield();
    return fake_cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                               params, extra);
}

/* The emulator's current context is the thread's. */
static smp_driver driver = {
    .call =
        {
#define CU(name, symbol, kind, params, args) .name = fake_##name,
#include "device/cuda/cuda_api.def"
#undef CU
        },
    .name = "cuda",
    .emulated = true,
};

/* ------------------------------------------------------------------------------------------------ batches */

static void hear(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    (void)context, (void)file, (void)err;
    pthread_mutex_lock(&fake.lock);
    fake.finished++;
    hear_file(&fake.heard, report);
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

/* Runs the files, a thread for each device. All must be done. */
static void run_batch(const char *devices)
{
    smp_error err = {0};
    smp_diags diags = {0};
    smp_program *program;
    const char *line = "invert";
    smp_batch_count count;
    assert_ok(smp_program_parse_lines(&line, 1, NULL, 0, NULL, NULL, &diags, &program, &err));
    const smp_batch_request request = {.program = program,
                                       .diags = &diags,
                                       .files = batch_files,
                                       .count = FILES,
                                       .write.output.force = true,
                                       .device = devices,
                                       .threads = 1,
                                       .jobs = GPUS,
                                       .finished = hear};
    driver.call.cuDeviceGetCount = count_devices;
    driver.call.cuDeviceGet = get_device;
    driver.call.cuDeviceGetName = get_name;
    driver.call.cuDeviceGetAttribute = get_attribute;
    driver.call.cuDeviceTotalMem = total_memory;
    driver.call.cuDevicePrimaryCtxRetain = retain;
    driver.call.cuDevicePrimaryCtxRelease = release;
    driver.call.cuCtxSetCurrent = set_current;
    driver.call.cuLaunchKernel = launch;
    smp_driver_cuda_is(&driver);
    const smp_code code = smp_batch_run(&request, &count, fake.note, sizeof fake.note, &err);
    smp_driver_cuda_is(NULL);
    hear_note(&fake.heard, fake.note); /* with the last file gone */
    if (code)
        fail_msg("%s", err.message);
    assert_int_equal(count.done, FILES);
    assert_int_equal(fake.heard.failed, 0);
    assert_false(fake.gave_up);
    smp_program_free(program);
    smp_diags_free(&diags);
}

static void forget(void)
{
    fake.slow = fake.late = fake.lost = fake.closed = -1;
    fake.finished = 0;
    fake.heard = (batch_told){.failed = 0};
    fake.gave_up = false;
    atomic_store(&fake.refused, false);
    memset(fake.launches, 0, sizeof fake.launches);
}

static int begin(void **context)
{
    if (make_batch_files(context, FILES, 20, 15))
        return 1;
    pthread_mutex_init(&fake.calls, NULL);
    pthread_mutex_init(&fake.lock, NULL);
    pthread_cond_init(&fake.changed, NULL);
    forget();
    run_batch("cpu");
    keep_outputs();
    forget();
    return 0;
}

/* With the bytes that a processor makes. */
static void run_on_gpus(const char *devices)
{
    run_batch(devices);
    outputs_are_the_same();
}

SMP_TEST_AROUND(work_goes_to_the_devices_that_get_it_done, begin, remove_batch_files)
{
    fake.slow = 1;
    fake.waits_for = FILES - 1;
    run_on_gpus("cuda:0,1,2");
    assert_in_range(fake.launches[1], 0, 1); /* its file is the last */
    assert_int_equal(fake.launches[0] + fake.launches[1] + fake.launches[2], FILES);
}

SMP_TEST_AROUND(files_begin_before_the_last_device_is_open, begin, remove_batch_files)
{
    fake.late = 2;
    fake.waits_for = FILES;
    run_on_gpus("cuda:0,1,2");
    assert_int_equal(fake.launches[2], 0);
}

SMP_TEST_AROUND(a_device_that_fails_costs_nothing_but_its_time, begin, remove_batch_files)
{
    fake.lost = 0;
    run_on_gpus("cuda:0");
    assert_in_range(fake.heard.done_again, 1, 3); /* of each thread the file that was in work */
    assert_in_range(fake.heard.on_cpu, 1, FILES);
    forget();
    fake.lost = 0;
    run_on_gpus("cuda:0,1");
    assert_int_equal(fake.heard.on_cpu, 0);
}

SMP_TEST_AROUND(a_device_that_cannot_be_opened_is_left_out, begin, remove_batch_files)
{
    fake.closed = 1;
    run_on_gpus("cuda:0,1,2");
    assert_int_equal(fake.heard.left_out, 1);
    assert_int_equal(fake.launches[1] + fake.heard.on_cpu, 0);
}

SMP_TEST_AROUND(processors_do_the_files_while_a_gpu_opens, begin, remove_batch_files)
{
    fake.late = 0;
    fake.waits_for = FILES;
    run_on_gpus("cpu,cuda:0");
    assert_int_equal(fake.heard.on_cpu, FILES);
    assert_non_null(strstr(fake.note, "on GPU 0, which did 0, and 1 on "));
    assert_non_null(strstr(fake.note, ", which did 9"));
}
