/* The emulator's driver table: every entry point of cuda_api.def over host memory. Work is done at once. Handles are
 * checked, so that a wrong one is an error and not a crash. As on a device, a kernel's fault stays until the context is
 * destroyed. */
#include "device/simt/simt.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "device/kernel_table.h"
#include "device/simt/simt_internal.h"

struct CUmod_st {
    const smp_kernel_file *file;
    struct CUfunc_st *functions;
};

struct CUfunc_st {
    const smp_kernel_file *file;
    const smp_simt_kernel *plain, *traced; /* traced: null until a launch is traced */
    int most_dynamic_shared, static_shared;
    struct CUfunc_st *next;
};

struct CUctx_st {
    _Atomic int references;
};

struct CUstream_st {
    int unused;
};

struct CUevent_st {
    struct timespec at;
    bool recorded;
};

static struct {
    struct CUctx_st context;
    _Atomic CUresult fault; /* of a kernel: every later call returns it */
    smp_trace *trace;
    const smp_simt_observer *observer;
    int order;
    int threads, blocks;
} simt;

void smp_simt_set_threads(int threads)
{
    simt.threads = threads;
}

void smp_simt_set_blocks(int most)
{
    simt.blocks = most;
}

void smp_simt_set_order(int order)
{
    simt.order = order;
}

void smp_simt_set_trace(smp_trace *trace)
{
    simt.trace = trace;
}

void smp_simt_set_observer(const smp_simt_observer *observer)
{
    simt.observer = observer;
}

bool simt_observer_counts_all(void)
{
    return simt.observer && simt.observer->counts_all();
}

CUresult simt_usable(void)
{
    return simt.context.references ? simt.fault : CUDA_ERROR_INVALID_CONTEXT;
}

/* ------------------------------------------------------------------------------------------------ device, context */

static CUresult simt_init(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult simt_version(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

/* The memory of emulated devices is their process's. */
static CUresult simt_ipc_open(CUdeviceptr *memory, CUipcMemHandle, unsigned)
{
    *memory = 0;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult simt_ipc_close(CUdeviceptr)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

typedef struct result_name {
    CUresult result;
    const char *name, *text;
} result_name;

static const result_name results[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const result_name *result_of(CUresult result)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].result == result)
            return &results[i];
    return NULL;
}

static CUresult simt_error_name(CUresult result, const char **text)
{
    const result_name *row = result_of(result);
    *text = row ? row->name : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_error_string(CUresult result, const char **text)
{
    const result_name *row = result_of(result);
    *text = row ? row->text : NULL;
    if (result && result == simt.fault && simt_fault_text()[0])
        *text = simt_fault_text();
    else if (simt.trace && result == CUDA_ERROR_NOT_FOUND && simt_traced_problem()[0])
        *text = simt_traced_problem();
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_device_count(int *count)
{
    *count = 1;
    return CUDA_SUCCESS;
}

static CUresult simt_device(CUdevice *device, int ordinal)
{
    *device = 0;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult simt_device_name(char *name, int size, CUdevice)
{
    snprintf(name, (size_t)size, "emulator of a GPU on the host's processor");
    return CUDA_SUCCESS;
}

/* What is not named, clocks, bus width and caches, the emulator has not: 0. */
static CUresult simt_device_attribute(int *value, CUdevice_attribute attribute, CUdevice)
{
    const struct {
        CUdevice_attribute attribute;
        int value;
    } rows[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, SIMT_THREADS},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, simt.blocks > 0 ? simt.blocks : 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, SIMT_STATIC_SHARED},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SIMT_SHARED},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, SIMT_SHARED + 1024},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, simt_pool_threads() > 0 ? simt_pool_threads() : 1},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    };
    *value = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].attribute == attribute)
            *value = rows[i].value;
    return CUDA_SUCCESS;
}

static CUresult simt_total_memory(size_t *bytes, CUdevice)
{
    *bytes = SIMT_MEMORY;
    return CUDA_SUCCESS;
}

static CUresult simt_retain(CUcontext *context, CUdevice device)
{
    *context = NULL;
    if (device != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    if (simt.context.references == 0) {
        if (!simt_pool_open(simt.threads))
            return CUDA_ERROR_OUT_OF_MEMORY;
        simt.fault = CUDA_SUCCESS;
    }
    simt.context.references++;
    *context = &simt.context;
    return CUDA_SUCCESS;
}

/* Frees what is still allocated, as destroying a context does. */
static CUresult simt_release(CUdevice device)
{
    if (device != 0 || !simt.context.references)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--simt.context.references)
        return CUDA_SUCCESS;
    simt_pool_close();
    simt_buffers_close();
    simt.fault = CUDA_SUCCESS;
    return CUDA_SUCCESS;
}

static CUresult simt_set_current(CUcontext context)
{
    return !context || context == &simt.context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* ------------------------------------------------------------------------------------------------ kernels */

static CUresult simt_load(CUmodule *module, const void *image)
{
    *module = NULL;
    NEED_CONTEXT();
    if (!image)
        return CUDA_ERROR_INVALID_IMAGE;
    CUmodule made = smp_alloc(sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->file = image;
    *module = made;
    return CUDA_SUCCESS;
}

static CUresult simt_unload(CUmodule module)
{
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    while (module->functions) {
        CUfunction next = module->functions->next;
        smp_free(module->functions);
        module->functions = next;
    }
    smp_free(module);
    return CUDA_SUCCESS;
}

static CUresult simt_function(CUfunction *function, CUmodule module, const char *name)
{
    *function = NULL;
    NEED_CONTEXT();
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    const smp_simt_kernel *plain = smp_simt_kernel_find(module->file->plain, name);
    if (!plain)
        return CUDA_ERROR_NOT_FOUND;
    for (CUfunction known = module->functions; known; known = known->next)
        if (known->plain == plain) {
            *function = known;
            return CUDA_SUCCESS;
        }
    CUfunction made = smp_alloc(sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->plain = plain;
    made->file = module->file;
    made->most_dynamic_shared = SIMT_STATIC_SHARED;
    made->next = module->functions;
    module->functions = made;
    *function = made;
    return CUDA_SUCCESS;
}

/* A kernel's static shared memory is known after its first run; 0 until then. */
static CUresult simt_function_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    NEED_CONTEXT();
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK           ? SIMT_THREADS
             : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES             ? function->static_shared
             : attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? function->most_dynamic_shared
                                                                            : 0;
    return CUDA_SUCCESS;
}

static CUresult simt_set_function_attribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    NEED_CONTEXT();
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value + function->static_shared > SIMT_SHARED)
        return CUDA_ERROR_INVALID_VALUE;
    function->most_dynamic_shared = value;
    return CUDA_SUCCESS;
}

static CUresult simt_occupancy(int *blocks, CUfunction function, int threads, size_t dynamic_shared)
{
    NEED_CONTEXT();
    if (threads < 1 || threads > SIMT_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    int by_threads = 2048 / threads;
    int by_shared = (int)((size_t)(SIMT_SHARED + 1024) / (dynamic_shared + (size_t)function->static_shared + 1024));
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    *blocks = *blocks > 32 ? 32 : *blocks;
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------ streams, events */

static CUresult simt_stream_create(CUstream *stream, unsigned)
{
    *stream = NULL;
    NEED_CONTEXT();
    *stream = smp_alloc(sizeof **stream);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult simt_stream_destroy(CUstream stream)
{
    smp_free(stream);
    return simt.fault;
}

static CUresult simt_stream_synchronize(CUstream)
{
    NEED_CONTEXT();
    return CUDA_SUCCESS;
}

static CUresult simt_stream_wait(CUstream, CUevent event, unsigned)
{
    NEED_CONTEXT();
    return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult simt_event_create(CUevent *event, unsigned)
{
    *event = NULL;
    NEED_CONTEXT();
    *event = smp_alloc(sizeof **event);
    return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult simt_event_destroy(CUevent event)
{
    smp_free(event);
    return simt.fault;
}

static CUresult simt_event_record(CUevent event, CUstream)
{
    NEED_CONTEXT();
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    event->recorded = true;
    return CUDA_SUCCESS;
}

static CUresult simt_event_synchronize(CUevent event)
{
    NEED_CONTEXT();
    return event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult simt_event_elapsed(float *milliseconds, CUevent start, CUevent stop)
{
    NEED_CONTEXT();
    if (!start || !stop || !start->recorded || !stop->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(stop->at.tv_sec - start->at.tv_sec) * 1e3 +
                            (double)(stop->at.tv_nsec - start->at.tv_nsec) * 1e-6);
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------ launches */

/* A further launch of the trace; null: no memory. */
static smp_trace_launch *add_record(smp_trace *trace, const smp_simt_seen *seen)
{
    if (!smp_grow(&trace->launches, &trace->capacity, trace->count + 1, sizeof *trace->launches))
        return NULL;
    smp_trace_launch *record = &trace->launches[trace->count++];
    *record = (smp_trace_launch){.dynamic_shared = seen->dynamic_shared};
    snprintf(record->kernel, sizeof record->kernel, "%s", seen->kernel);
    memcpy(record->grid, seen->grid, sizeof record->grid);
    memcpy(record->block, seen->block, sizeof record->block);
    return record;
}

static CUresult simt_launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream, void **params, void **extra)
{
    NEED_CONTEXT();
    if (!function || extra)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!grid_x || !grid_y || !grid_z || grid_x > INT32_MAX || grid_y > 65535 || grid_z > 65535 || !block_x ||
        !block_y || !block_z || block_x > 1024 || block_y > 1024 || block_z > 64 ||
        (uint64_t)block_x * block_y * block_z > SIMT_THREADS || shared_bytes > (unsigned)function->most_dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    const smp_simt_seen seen = {.file = function->file->name,
                                .kernel = function->plain->name,
                                .grid = {grid_x, grid_y, grid_z},
                                .block = {block_x, block_y, block_z},
                                .dynamic_shared = shared_bytes,
                                .args = params,
                                .threads = simt_pool_threads()};
    smp_trace_launch *record = NULL;
    if (simt.trace && !(record = add_record(simt.trace, &seen)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const bool observed =
        record && simt.trace->sass && simt.observer && simt.observer->begin(&seen, simt.trace, record);
    if (record && !observed && !function->traced)
        function->traced = simt_traced_find(function->file, function->plain->name);
    simt_launch launch = {
        .kernel = record && !observed ? function->traced : function->plain,
        .args = params,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_shared = shared_bytes,
        .order = simt.order,
        .trace = observed ? NULL : record,
        .counts_only = simt.trace && simt.trace->counts_only,
        .blocks = (uint64_t)grid_x * grid_y * grid_z,
    };
    if (!launch.kernel)
        return CUDA_ERROR_NOT_FOUND;
    simt_pool_run(&launch);
    function->static_shared = (int)atomic_load(&launch.static_shared);
    if (record)
        record->static_shared = atomic_load(&launch.static_shared);
    if (observed)
        simt.observer->end(&seen, simt.trace);
    if (!simt_guards_hold())
        simt_fault(&launch, CUDA_ERROR_ILLEGAL_ADDRESS, "wrote outside a buffer");
    CUresult fault = atomic_load(&launch.fault);
    if (fault == CUDA_ERROR_OUT_OF_MEMORY || fault == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        return fault; /* the launch was refused */
    simt.fault = fault;
    return CUDA_SUCCESS;
}

static smp_driver simt_driver = {
    .call =
        {
            .cuInit = simt_init,
            .cuDriverGetVersion = simt_version,
            .cuGetErrorName = simt_error_name,
            .cuGetErrorString = simt_error_string,
            .cuDeviceGetCount = simt_device_count,
            .cuDeviceGet = simt_device,
            .cuDeviceGetName = simt_device_name,
            .cuDeviceGetAttribute = simt_device_attribute,
            .cuDeviceTotalMem = simt_total_memory,
            .cuDevicePrimaryCtxRetain = simt_retain,
            .cuDevicePrimaryCtxRelease = simt_release,
            .cuCtxSetCurrent = simt_set_current,
            .cuModuleLoadData = simt_load,
            .cuModuleUnload = simt_unload,
            .cuModuleGetFunction = simt_function,
            .cuFuncGetAttribute = simt_function_attribute,
            .cuFuncSetAttribute = simt_set_function_attribute,
            .cuOccupancyMaxActiveBlocksPerMultiprocessor = simt_occupancy,
            .cuMemGetInfo = simt_memory_info,
            .cuMemAlloc = simt_alloc,
            .cuMemFree = simt_free,
            .cuIpcOpenMemHandle = simt_ipc_open,
            .cuIpcCloseMemHandle = simt_ipc_close,
            .cuMemHostAlloc = simt_host_alloc,
            .cuMemFreeHost = simt_host_free,
            .cuMemHostRegister = simt_host_register,
            .cuMemHostUnregister = simt_host_unregister,
            .cuMemcpyHtoDAsync = simt_to_device,
            .cuMemcpyDtoHAsync = simt_from_device,
            .cuMemcpyDtoDAsync = simt_in_device,
            .cuMemcpy2DAsync = simt_copy_2d,
            .cuMemsetD8Async = simt_fill,
            .cuStreamCreate = simt_stream_create,
            .cuStreamDestroy = simt_stream_destroy,
            .cuStreamSynchronize = simt_stream_synchronize,
            .cuStreamWaitEvent = simt_stream_wait,
            .cuEventCreate = simt_event_create,
            .cuEventDestroy = simt_event_destroy,
            .cuEventRecord = simt_event_record,
            .cuEventSynchronize = simt_event_synchronize,
            .cuEventQuery = simt_event_synchronize,
            .cuEventElapsedTime = simt_event_elapsed,
            .cuLaunchKernel = simt_launch_kernel,
        },
    .name = "simt",
    .emulated = true,
};

static pthread_once_t traced_once = PTHREAD_ONCE_INIT;

static void read_trace_wish(void)
{
    smp_driver_trace(&simt_driver);
}

smp_driver *smp_driver_simt(void)
{
    pthread_once(&traced_once, read_trace_wish);
    return &simt_driver;
}
