/* Pinned memory of the host, from which and to which copies need no detour: this device's own, kept for reuse, or that
 * of others, which all devices of a GPU share. Pinning takes about 0.3 ms a megabyte. */
#include <pthread.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/os/release_hook.h"
#include "device/cuda/cuda_internal.h"

enum {
    PINNED_ROUND = 1 << 18, /* bytes: rounded sizes let nearly equal blocks be reused */
    PINNED_KEPT = 32 << 20  /* bytes that a device keeps */
};

typedef struct foreign_memory { /* registered with the driver, in one context */
    void *memory;
    size_t size;
    smp_driver *driver;
    CUcontext context;
} foreign_memory;

typedef struct used_context {
    CUcontext context;
    size_t devices;
} used_context;

static struct {
    pthread_mutex_t lock;
    foreign_memory *all;
    size_t count, capacity;
    used_context *contexts;
    size_t context_count, context_capacity;
} foreign = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The lock is held. Another context becomes current. */
static void unregister(size_t i)
{
    const foreign_memory *one = &foreign.all[i];
    if (smp_cuCtxSetCurrent(one->driver, one->context) == CUDA_SUCCESS)
        (void)smp_cuMemHostUnregister(one->driver, one->memory);
    foreign.all[i] = foreign.all[--foreign.count];
}

static void memory_goes(void *memory)
{
    pthread_mutex_lock(&foreign.lock);
    for (size_t i = foreign.count; i-- > 0;)
        if (foreign.all[i].memory == memory)
            unregister(i);
    pthread_mutex_unlock(&foreign.lock);
}

static used_context *find_context(CUcontext context)
{
    for (size_t i = 0; i < foreign.context_count; i++)
        if (foreign.contexts[i].context == context)
            return &foreign.contexts[i];
    return NULL;
}

smp_code cuda_pinned_open(cuda_device *gpu, smp_error *err)
{
    smp_code code = SMP_OK;
    pthread_mutex_lock(&foreign.lock);
    used_context *used = find_context(gpu->context);
    if (!used && !smp_grow(&foreign.contexts, &foreign.context_capacity, foreign.context_count + 1, sizeof *used))
        code = smp_fail_memory(err, "GPU contexts", sizeof *used);
    else if (!used)
        *(used = &foreign.contexts[foreign.context_count++]) = (used_context){gpu->context, 0};
    if (!code)
        used->devices++;
    gpu->counted = !code;
    pthread_mutex_unlock(&foreign.lock);
    smp_release_hook_set(memory_goes);
    return code;
}

/* The last device of a context leaves: nothing stays registered with it. */
static void leave_context(const cuda_device *gpu)
{
    pthread_mutex_lock(&foreign.lock);
    used_context *used = find_context(gpu->context);
    if (--used->devices == 0) {
        for (size_t i = foreign.count; i-- > 0;)
            if (foreign.all[i].context == gpu->context)
                unregister(i);
        *used = foreign.contexts[--foreign.context_count];
    }
    if (!foreign.context_count) {
        smp_free_all(foreign.contexts, foreign.all);
        foreign.contexts = NULL;
        foreign.all = NULL;
        foreign.context_capacity = foreign.capacity = 0;
    }
    pthread_mutex_unlock(&foreign.lock);
}

bool cuda_pin(smp_device *device, void *memory, size_t size)
{
    cuda_device *gpu = (cuda_device *)device;
    bool pinned = false;
    pthread_mutex_lock(&foreign.lock);
    for (size_t i = foreign.count; i-- > 0;) {
        const foreign_memory *one = &foreign.all[i];
        if (one->memory != memory)
            continue;
        pinned = one->context == gpu->context && one->size >= size;
        if (!pinned) /* it served another GPU, or smaller pictures */
            unregister(i);
    }
    if (!pinned && cuda_enter(gpu, NULL) == SMP_OK &&
        smp_grow(&foreign.all, &foreign.capacity, foreign.count + 1, sizeof *foreign.all) &&
        smp_cuMemHostRegister(gpu->driver, memory, size, 0) == CUDA_SUCCESS) {
        foreign.all[foreign.count++] = (foreign_memory){memory, size, gpu->driver, gpu->context};
        pinned = true;
    }
    pthread_mutex_unlock(&foreign.lock);
    return pinned;
}

/* The driver's memory is no smp_alloc's, except in the emulator. */
static bool count_in(const cuda_device *gpu, size_t size)
{
    return gpu->driver->emulated || smp_alloc_borrow(size);
}

static void count_out(const cuda_device *gpu, size_t size)
{
    if (!gpu->driver->emulated)
        smp_alloc_elsewhere(size, 0, 0, 0);
}

/* Frees blocks that wait, until they have `room` bytes at most. */
static void drop_waiting(cuda_device *gpu, size_t room)
{
    size_t waiting = 0;
    for (size_t i = gpu->pinned_count; i-- > 0;) {
        cuda_pinned *block = &gpu->pinned[i];
        waiting += block->borrowed ? 0 : block->size;
        if (block->borrowed || waiting <= room)
            continue;
        waiting -= block->size;
        (void)smp_cuMemFreeHost(gpu->driver, block->memory);
        *block = gpu->pinned[--gpu->pinned_count];
    }
}

void *cuda_pinned_alloc(smp_device *device, size_t size)
{
    cuda_device *gpu = (cuda_device *)device;
    size_t want;
    if (!smp_add_size(size, PINNED_ROUND, &want) || cuda_enter(gpu, NULL))
        return NULL;
    want = want / PINNED_ROUND * PINNED_ROUND;
    for (size_t i = 0; i < gpu->pinned_count; i++) {
        cuda_pinned *block = &gpu->pinned[i];
        if (block->borrowed || block->size < want || block->size - want > want / 2)
            continue;
        block->borrowed = count_in(gpu, block->size);
        return block->borrowed ? block->memory : NULL;
    }
    drop_waiting(gpu, want < PINNED_KEPT ? PINNED_KEPT - want : 0);
    cuda_pinned block = {.size = want, .borrowed = true};
    if (!smp_grow(&gpu->pinned, &gpu->pinned_capacity, gpu->pinned_count + 1, sizeof *gpu->pinned) ||
        !count_in(gpu, want))
        return NULL;
    if (smp_cuMemHostAlloc(gpu->driver, &block.memory, want, 0) != CUDA_SUCCESS) {
        count_out(gpu, want);
        return NULL;
    }
    gpu->pinned[gpu->pinned_count++] = block;
    return block.memory;
}

void cuda_pinned_free(smp_device *device, void *memory)
{
    cuda_device *gpu = (cuda_device *)device;
    for (size_t i = 0; i < gpu->pinned_count; i++) {
        cuda_pinned *block = &gpu->pinned[i];
        if (block->memory != memory || !block->borrowed)
            continue;
        block->borrowed = false;
        count_out(gpu, block->size);
        return;
    }
}

void cuda_pinned_close(cuda_device *gpu)
{
    for (size_t i = 0; i < gpu->pinned_count; i++)
        (void)smp_cuMemFreeHost(gpu->driver, gpu->pinned[i].memory);
    smp_free(gpu->pinned);
    if (gpu->counted)
        leave_context(gpu);
}
