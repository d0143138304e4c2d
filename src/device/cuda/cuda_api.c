/* Opens libcuda.so.1. Every driver call passes one function here: see cuda_api.h. */
#include "device/cuda/cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

typedef enum call_kind { USE, ACQUIRE, RELEASE, ASK } call_kind;

/* Whether this call must fail, with *result. RELEASE calls reach the driver even then. */
static bool injected(smp_driver *driver, call_kind kind, CUresult *result)
{
    if (kind == ASK)
        return false;
    const uint64_t nth = atomic_fetch_add_explicit(&driver->calls, 1, memory_order_relaxed) + 1;
    if (!driver->fail_at || nth < driver->fail_at || (nth > driver->fail_at && !driver->fail_sticky))
        return false;
    *result = driver->fail_with;
    return true;
}

static CUresult traced(const smp_driver *driver, const char *name, CUresult result)
{
    if (driver->trace) {
        const char *text = NULL;
        if (driver->call.cuGetErrorName(result, &text) != CUDA_SUCCESS || !text)
            text = "?";
        fprintf(stderr, "smempipe: %s: %s = %s\n", driver->name, name, text);
    }
    return result;
}

static const char *const entry_names[SMP_DRIVER_ENTRIES] = {
#define CU(name, symbol, kind, params, args) #name,
#include "device/cuda/cuda_api.def"
#undef CU
};

static void add_time(smp_driver_time *to, double seconds)
{
    const uint64_t took = seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
    uint64_t longest = atomic_load_explicit(&to->longest, memory_order_relaxed);
    atomic_fetch_add_explicit(&to->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&to->nanoseconds, took, memory_order_relaxed);
    while (took > longest && !atomic_compare_exchange_weak(&to->longest, &longest, took))
        ;
}

static void print_times(const smp_driver *driver)
{
    bool shown[SMP_DRIVER_ENTRIES] = {false};
    fprintf(stderr, "%-44s %10s %10s %12s\n", driver->name, "calls", "seconds", "longest ms");
    for (;;) { /* the longest first */
        int most = -1;
        for (int i = 0; i < SMP_DRIVER_ENTRIES; i++)
            if (!shown[i] && driver->times[i].calls &&
                (most < 0 || driver->times[i].nanoseconds > driver->times[most].nanoseconds))
                most = i;
        if (most < 0)
            return;
        const smp_driver_time *time = &driver->times[most];
        shown[most] = true;
        fprintf(stderr, "%-44s %10llu %10.4f %12.3f\n", entry_names[most], (unsigned long long)time->calls,
                (double)time->nanoseconds * 1e-9, (double)time->longest * 1e-6);
    }
}

static smp_driver *timed_driver;

static void print_at_exit(void)
{
    print_times(timed_driver);
}

void smp_driver_trace(smp_driver *driver)
{
    const char *how = getenv("SMP_TRACE_DRIVER");
    if (!how || !*how || !strcmp(how, "0"))
        return;
    driver->timed = !strcmp(how, "times");
    driver->trace = !driver->timed;
    if (!driver->timed || timed_driver)
        return;
    timed_driver = driver;
    (void)atexit(print_at_exit);
}

#define CU(name, symbol, kind, params, args)                                                                           \
    CUresult smp_##name(smp_driver *driver, SMP_UNWRAP params)                                                         \
    {                                                                                                                  \
        CUresult result_;                                                                                              \
        const double start_ = driver->timed ? smp_now() : 0;                                                           \
        if (!injected(driver, kind, &result_))                                                                         \
            result_ = driver->call.name args;                                                                          \
        else if (kind == RELEASE)                                                                                      \
            (void)driver->call.name args;                                                                              \
        if (driver->timed)                                                                                             \
            add_time(&driver->times[smp_cu_##name], smp_now() - start_);                                               \
        return kind == ASK ? result_ : traced(driver, #name, result_);                                                 \
    }
#include "device/cuda/cuda_api.def"
#undef CU

static smp_driver cuda_driver = {.name = "cuda"};
static smp_error cuda_problem; /* why there is no driver; kept for later calls */
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    smp_error *err = &cuda_problem;
    smp_driver *driver = &cuda_driver;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        smp_fail(err, SMP_E_DEVICE, "no CUDA driver on this machine: %s", dlerror());
        smp_hint(err, "install NVIDIA's driver, or use --device cpu");
        return;
    }
    const char *missing = NULL;
    void *symbol;
#define CU(name, text, kind, params, args)                                                                             \
    symbol = dlsym(library, text);                                                                                     \
    if (!symbol)                                                                                                       \
        missing = text;                                                                                                \
    memcpy(&driver->call.name, &symbol, sizeof symbol);
#include "device/cuda/cuda_api.def"
#undef CU
    if (missing) {
        smp_fail(err, SMP_E_DEVICE, "the CUDA driver is too old: it lacks %s", missing);
        smp_hint(err, "update NVIDIA's driver, or use --device cpu");
        dlclose(library);
        return;
    }
    smp_driver_trace(driver);
    CUresult result = smp_cuInit(driver, 0);
    if (result == CUDA_SUCCESS) {
        err->code = SMP_OK;
        return;
    }
    smp_driver_error(driver, "cuInit", result, err); /* the library stays open: its strings and threads may be in use */
}

static smp_driver *stand_in;

void smp_driver_cuda_is(smp_driver *driver)
{
    stand_in = driver;
}

smp_code smp_driver_cuda(smp_driver **out, smp_error *err)
{
    *out = stand_in;
    if (stand_in)
        return SMP_OK;
    pthread_once(&opened, open_library);
    if (cuda_problem.code != SMP_OK) {
        if (err)
            *err = cuda_problem;
        return cuda_problem.code;
    }
    *out = &cuda_driver;
    return SMP_OK;
}

void smp_driver_fail_at(smp_driver *driver, uint64_t nth, CUresult result, bool sticky)
{
    driver->calls = 0;
    driver->fail_at = nth;
    driver->fail_with = result;
    driver->fail_sticky = sticky;
}

static const char *advice(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
        return "`smempipe devices` lists what there is; --device cpu always works";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_IMAGE:
        return "this build has no kernels for this GPU: build with -DSMP_CUDA_ARCHS=native, or use --device cpu";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "the driver is older than the toolkit of this build: update NVIDIA's driver";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
        return "a kernel went wrong: a bug of smempipe worth reporting; --device cpu gives the result";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return "a kernel ran longer than the display's watchdog allows: use smaller strips or another GPU";
    default:
        return "SMP_TRACE_DRIVER=1 shows every driver call; --device cpu does without the GPU";
    }
}

smp_code smp_driver_error(smp_driver *driver, const char *what, CUresult result, smp_error *err)
{
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return smp_fail(err, SMP_E_DEVICE_MEMORY, "out of memory on the device (%s)", what),
               smp_hint(err, "use a smaller picture or smaller strips, or --device cpu");
    const char *name = NULL, *text = NULL;
    if (driver->call.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = "unknown error";
    if (driver->call.cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        text = "no description";
    smp_fail(err, SMP_E_DEVICE, "%s failed: %s (%s)", what, name, text);
    return smp_hint(err, "%s", advice(result));
}
