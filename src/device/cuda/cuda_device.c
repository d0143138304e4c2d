/* The CUDA device: opening and closing, launches and their times. It calls the driver through a table of functions, so
 * that the emulator and injected failures exercise every line of it. */
#include "device/cuda/cuda.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/os/numa.h"
#include "device/cuda/cuda_internal.h"

smp_code smp_cuda_count(smp_driver *driver, int *count, smp_error *err)
{
    *count = 0;
    CUresult result = smp_cuDeviceGetCount(driver, count);
    return result == CUDA_SUCCESS ? SMP_OK : smp_driver_error(driver, "cuDeviceGetCount", result, err);
}

/* ------------------------------------------------------------------------------------------------ what it is */

static smp_code attribute(smp_driver *driver, CUdevice device, CUdevice_attribute which, int *value, smp_error *err)
{
    CUresult result = smp_cuDeviceGetAttribute(driver, value, which, device);
    return result == CUDA_SUCCESS ? SMP_OK : smp_driver_error(driver, "cuDeviceGetAttribute", result, err);
}

static smp_code find(smp_driver *driver, int index, CUdevice *device, smp_error *err)
{
    int count;
    SMP_TRY(smp_cuda_count(driver, &count, err));
    if (index < 0 || index >= count)
        return smp_fail(err, SMP_E_DEVICE, "there is no %s device %d: %d present", driver->name, index, count),
               smp_hint(err, "`smempipe devices` lists them");
    CUresult result = smp_cuDeviceGet(driver, device, index);
    return result == CUDA_SUCCESS ? SMP_OK : smp_driver_error(driver, "cuDeviceGet", result, err);
}

static smp_code describe(smp_driver *driver, CUdevice device, int index, smp_device_info *info, smp_error *err)
{
    *info = (smp_device_info){.index = index};
    snprintf(info->kind, sizeof info->kind, "%s", driver->name);
    size_t memory = 0;
    CUresult result = smp_cuDeviceGetName(driver, info->name, (int)sizeof info->name, device);
    if (result == CUDA_SUCCESS)
        result = smp_cuDeviceTotalMem(driver, &memory, device);
    if (result != CUDA_SUCCESS)
        return smp_driver_error(driver, "cuDeviceGetName", result, err);
    int per_block = 0, per_unit = 0, clock = 0, width = 0, cache = 0, domain = 0, bus = 0, slot = 0;
    const struct {
        CUdevice_attribute which;
        int *value;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &info->compute_major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &info->compute_minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info->units},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &per_unit},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &clock},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &width},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &cache},
        {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &domain},
        {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &bus},
        {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &slot},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        SMP_TRY(attribute(driver, device, wanted[i].which, wanted[i].value, err));
    info->memory = driver->emulated ? 0 : (int64_t)memory; /* the emulator's memory is the host's */
    info->shared_per_block = per_block;
    info->shared_per_unit = per_unit;
    info->cache = cache;
    info->numa_node = driver->emulated ? -1 : smp_numa_node_of_pci("/sys", domain, bus, slot);
    /* Double data rate, width in bits: the datasheet's number (CUDA C++ Best Practices Guide, 8.2.1). */
    info->peak_gbs = 2.0 * (double)clock * 1e3 * (double)width / 8 * 1e-9;
    return SMP_OK;
}

smp_code smp_cuda_info(smp_driver *driver, int index, smp_device_info *info, smp_error *err)
{
    CUdevice device = 0;
    *info = (smp_device_info){0};
    SMP_TRY(find(driver, index, &device, err));
    return describe(driver, device, index, info, err);
}

/* ------------------------------------------------------------------------------------------------ times */

/* Adds the time of a launch or of copies, which are waited for unless they are known to be done. The slot is free
 * afterwards, also on failure. */
static smp_code resolve(cuda_device *gpu, cuda_timing *timing, bool done, smp_error *err)
{
    smp_code code = SMP_OK;
    smp_cost *cost = timing->cost;
    cuda_way *way = timing->way;
    float milliseconds = 0;
    timing->cost = NULL;
    if (cost && timing->unended)
        cost->seconds += way->timed_bytes > 0 ? timing->bytes * way->timed_seconds / way->timed_bytes : 0;
    if (!cost || timing->unended)
        return SMP_OK;
    if (!done)
        CUDA_TRY(gpu, cuEventSynchronize, timing->stop);
    CUDA_TRY(gpu, cuEventElapsedTime, &milliseconds, timing->start, timing->stop);
    cost->seconds += (double)milliseconds * 1e-3;
    if (way) {
        way->timed_seconds += (double)milliseconds * 1e-3;
        way->timed_bytes += timing->bytes;
    }
fail:
    return code;
}

/* Whether a time can be told without waiting, and its events serve again. */
static bool is_over(const cuda_device *gpu, const cuda_timing *timing)
{
    if (!timing->start || timing->open)
        return false;
    if (timing->cost && timing->unended)
        return timing->way->timed_bytes > 0;
    return !timing->cost || smp_cuEventQuery(gpu->driver, timing->stop) == CUDA_SUCCESS;
}

smp_code cuda_timing_begin(cuda_device *gpu, CUstream stream, const smp_cost *cost, cuda_timing **out, smp_error *err)
{
    *out = NULL;
    if (!cost)
        return SMP_OK;
    cuda_timing *timing = &gpu->timings[gpu->timing_next];
    while (gpu->timing_count > 2 && timing->open) {
        gpu->timing_next = (gpu->timing_next + 1) % gpu->timing_count;
        timing = &gpu->timings[gpu->timing_next];
    }
    const bool over = is_over(gpu, timing);
    if (!over && gpu->timing_count < CUDA_TIMINGS)
        timing = &gpu->timings[gpu->timing_count++];
    else
        gpu->timing_next = (gpu->timing_next + 1) % gpu->timing_count;
    SMP_TRY(resolve(gpu, timing, over, err));
    smp_code code = SMP_OK;
    timing->way = NULL;
    timing->unended = false;
    if (!timing->start)
        CUDA_TRY(gpu, cuEventCreate, &timing->start, CU_EVENT_DEFAULT);
    if (!timing->stop)
        CUDA_TRY(gpu, cuEventCreate, &timing->stop, CU_EVENT_DEFAULT);
    CUDA_TRY(gpu, cuEventRecord, timing->start, stream);
    *out = timing;
fail:
    return code;
}

smp_code cuda_timing_end(cuda_device *gpu, CUstream stream, cuda_timing *timing, smp_cost *cost, smp_error *err)
{
    smp_code code = SMP_OK;
    if (!timing)
        return SMP_OK;
    CUDA_TRY(gpu, cuEventRecord, timing->stop, stream);
    timing->cost = cost;
fail:
    return code;
}

/* ------------------------------------------------------------------------------------------------ the device */

smp_cuda_handles smp_cuda_handles_of(smp_device *device)
{
    const cuda_device *gpu = (const cuda_device *)device;
    return (smp_cuda_handles){gpu->driver, gpu->context, gpu->device, gpu->stream};
}

void smp_cuda_before_close(smp_device *device, void (*fn)(void))
{
    ((cuda_device *)device)->before_close = fn;
}

size_t smp_cuda_kernel_count(smp_device *device)
{
    return ((const cuda_device *)device)->function_count;
}

smp_code cuda_enter(cuda_device *gpu, smp_error *err)
{
    smp_code code = SMP_OK;
    CUDA_TRY(gpu, cuCtxSetCurrent, gpu->context);
fail:
    return code;
}

static smp_code cuda_launch(smp_device *device, const smp_variant *, const smp_launch *launch, const smp_io *io,
                            const smp_node_plan *plan, smp_cost *cost, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    smp_io arguments = *io;
    smp_grid grid;
    const char *kernel;
    cuda_function *function;
    cuda_timing *timing = NULL;
    size_t at = 0, size;
    bool counts;
    if ((io->result && !smp_result_part(&plan->reduction, launch, &at, &size, &counts)) || io->out.rows <= 0)
        return SMP_OK;
    if (arguments.result)
        arguments.result = (char *)arguments.result + at;
    smp_code code = cuda_enter(gpu, err);
    if (!code && !launch->foreign)
        code = cuda_prepare(gpu, launch, io, plan->kernel.bytes, &kernel, &function, &grid, err);
    if (!code && !launch->foreign && !function)
        return SMP_OK;
    code = code ? code : cuda_timing_begin(gpu, gpu->stream, cost, &timing, err);
    if (code)
        return code;
    if (launch->foreign)
        code = cuda_foreign(gpu, launch->foreign, io, err);
    else {
        void *params[] = {&arguments, (void *)(uintptr_t)plan->kernel.bytes};
        arguments.strips = grid.strips;
        CUDA_TRY(gpu, cuLaunchKernel, function->function, grid.grid[0], grid.grid[1], grid.grid[2], grid.block[0],
                 grid.block[1], grid.block[2], grid.shared_bytes, gpu->stream, params, NULL);
    }
    code = code ? code : cuda_timing_end(gpu, gpu->stream, timing, cost, err);
fail:
    return code;
}

/* Not so often that threads which share a context keep its lock from those that queue work. */
smp_code cuda_await(cuda_device *gpu, CUevent event, bool wakes, smp_error *err)
{
    static const double asked = 50e-6, pause = 2e-6, longest = 1e-3; /* seconds */
    smp_code code = SMP_OK;
    CUresult now = smp_cuEventQuery(gpu->driver, event);
    const double from = now == CUDA_ERROR_NOT_READY ? smp_now() : 0;
    double time = from;
    for (; now == CUDA_ERROR_NOT_READY && time < from + asked; now = smp_cuEventQuery(gpu->driver, event)) {
        const double next = time + pause;
        while (time < next)
            time = smp_now();
    }
    for (; now == CUDA_ERROR_NOT_READY && !wakes; now = smp_cuEventQuery(gpu->driver, event)) {
        const double part = (smp_now() - from) / 8, sleep = part < longest ? part : longest;
        nanosleep(&(struct timespec){.tv_nsec = (long)(sleep * 1e9)}, NULL);
    }
    if (now != CUDA_SUCCESS)
        CUDA_TRY(gpu, cuEventSynchronize, event);
fail:
    return code;
}

/* Waits for every stream, whatever fails: after a failure, so that nothing is at work on memory that is given back. */
static void cuda_drain(cuda_device *gpu)
{
    if (gpu->stream)
        (void)smp_cuStreamSynchronize(gpu->driver, gpu->stream);
    for (int i = 0; i < 2; i++)
        if (gpu->ways[i].stream)
            (void)smp_cuStreamSynchronize(gpu->driver, gpu->ways[i].stream);
}

static smp_code cuda_sync(smp_device *device, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    smp_code code = cuda_enter(gpu, err);
    code = code ? code : cuda_join_ways(gpu, err);
    if (code)
        goto fail;
    if (!gpu->waited)
        CUDA_TRY(gpu, cuEventCreate, &gpu->waited, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
    CUDA_TRY(gpu, cuEventRecord, gpu->waited, gpu->stream);
    code = cuda_await(gpu, gpu->waited, true, err);
fail:
    if (code)
        cuda_drain(gpu);
    for (unsigned i = 0; !code && i < 2 * gpu->timing_count;
         i++) { /* those without an end last: by the others' speed */
        cuda_timing *timing = &gpu->timings[i % gpu->timing_count];
        if (timing->unended == (i >= gpu->timing_count))
            code = resolve(gpu, timing, true, err);
    }
    for (unsigned i = 0; code && i < gpu->timing_count; i++)
        gpu->timings[i].cost = NULL; /* after a failure times mean nothing, and their owners may be gone */
    cuda_spans_drop(gpu);
    return code;
}

static smp_code cuda_wait(smp_device *device, void *stream, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    smp_code code = cuda_enter(gpu, err);
    if (code || gpu->driver->emulated) /* whose streams are done when they return */
        return code;
    CUDA_TRY(gpu, cuStreamSynchronize, (CUstream)stream);
fail:
    return code;
}

static void cuda_close(smp_device *device)
{
    cuda_device *gpu = (cuda_device *)device;
    if (!gpu)
        return;
    if (gpu->context) {
        (void)smp_cuCtxSetCurrent(gpu->driver, gpu->context);
        cuda_drain(gpu);
        if (gpu->before_close)
            gpu->before_close();
        for (unsigned i = 0; i < gpu->timing_count; i++) {
            if (gpu->timings[i].start)
                (void)smp_cuEventDestroy(gpu->driver, gpu->timings[i].start);
            if (gpu->timings[i].stop)
                (void)smp_cuEventDestroy(gpu->driver, gpu->timings[i].stop);
        }
        if (gpu->waited)
            (void)smp_cuEventDestroy(gpu->driver, gpu->waited);
        cuda_send_close(gpu);
        cuda_pinned_close(gpu);
        cuda_memory_close(gpu);
        cuda_kernels_close(gpu);
        if (gpu->stream)
            (void)smp_cuStreamDestroy(gpu->driver, gpu->stream);
        (void)smp_cuCtxSetCurrent(gpu->driver, NULL);
        (void)smp_cuDevicePrimaryCtxRelease(gpu->driver, gpu->device);
    }
    smp_free(gpu);
}

static const smp_device_ops operations = {
    .alloc = cuda_alloc,
    .free = cuda_free,
    .zero = cuda_zero,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .copy = cuda_copy,
    .pinned_alloc = cuda_pinned_alloc,
    .pinned_free = cuda_pinned_free,
    .pin = cuda_pin,
    .send = cuda_send,
    .reach = cuda_reach,
    .unmark = cuda_unmark,
    .mark = cuda_mark,
    .follow = cuda_follow,
    .wait = cuda_wait,
    .launch = cuda_launch,
    .sync = cuda_sync,
    .close = cuda_close,
};

smp_code smp_cuda_open(smp_driver *driver, int index, smp_device **out, smp_error *err)
{
    *out = NULL;
    SMP_TRY(driver->emulated ? SMP_OK : smp_cuda_kernels(err));
    cuda_device *gpu = smp_alloc(sizeof *gpu);
    SMP_NEED(gpu, "a device", sizeof *gpu, err);
    gpu->driver = driver;
    gpu->base.ops = &operations;
    smp_code code = find(driver, index, &gpu->device, err);
    if (code)
        goto fail;
    CUDA_TRY(gpu, cuDevicePrimaryCtxRetain, &gpu->context, gpu->device);
    if ((code = cuda_pinned_open(gpu, err)) || (code = cuda_enter(gpu, err)))
        goto fail;
    CUDA_TRY(gpu, cuStreamCreate, &gpu->stream, CU_STREAM_NON_BLOCKING);
    code = describe(driver, gpu->device, index, &gpu->base.info, err);
    const struct {
        CUdevice_attribute which;
        int *value;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &gpu->threads_per_unit},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &gpu->blocks_per_unit},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &gpu->registers_per_unit},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &gpu->shared_reserved},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &gpu->blocks_most},
    };
    for (size_t i = 0; !code && i < sizeof wanted / sizeof *wanted; i++)
        code = attribute(driver, gpu->device, wanted[i].which, wanted[i].value, err);
    if (code)
        goto fail;
    *out = &gpu->base;
    return SMP_OK;
fail:
    cuda_close(&gpu->base);
    return code;
}
