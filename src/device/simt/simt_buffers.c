/* The emulator's memory: buffers with guards on both sides, and copies between them and the host. */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "device/simt/simt_internal.h"

enum { GUARD = 256, GUARD_BYTE = 0xfd, FRESH_BYTE = 0xcd }; /* bytes on each side; their value; of new memory */
enum { ALIGNED = 512 }; /* the driver's alignment: traces look at addresses in global memory too */

typedef struct buffer {
    char *memory; /* as allocated by the host */
    char *block;  /* inside: GUARD bytes, data, GUARD bytes */
    size_t size;
} buffer;

static struct {
    buffer *items; /* sorted by address */
    size_t count, capacity;
} list;

/* Memory of the host that is registered; threads that use no device take it away too. */
static struct {
    pthread_mutex_t lock;
    void **items;
    size_t count, capacity;
} registered = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void buffer_release(buffer *one)
{
    ASAN_UNPOISON_MEMORY_REGION(one->block, one->size + 2 * GUARD);
    smp_free(one->memory);
}

void simt_buffers_close(void)
{
    for (size_t i = 0; i < list.count; i++)
        buffer_release(&list.items[i]);
    smp_free(list.items);
    list.items = NULL;
    list.count = list.capacity = 0;
    pthread_mutex_lock(&registered.lock);
    smp_free(registered.items);
    registered.items = NULL;
    registered.count = registered.capacity = 0;
    pthread_mutex_unlock(&registered.lock);
}

static char *data_of(const buffer *one)
{
    return one->block + GUARD;
}

void smp_simt_each_buffer(void (*see)(void *context, void *data, size_t size), void *context)
{
    for (size_t i = 0; i < list.count; i++)
        see(context, data_of(&list.items[i]), list.items[i].size);
}

/* The number of buffers that begin, guard included, at or before this address. Only the last of them can hold it. */
static size_t begun_by(uintptr_t at)
{
    size_t low = 0, high = list.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)list.items[middle].block <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The buffer that contains all of [at, at + size). */
static const buffer *buffer_at(CUdeviceptr at, size_t size)
{
    size_t begun = begun_by((uintptr_t)at);
    if (!begun)
        return NULL;
    const buffer *one = &list.items[begun - 1];
    size_t offset = (size_t)(at - (uintptr_t)data_of(one));
    return offset <= one->size && size <= one->size - offset ? one : NULL;
}

bool simt_guard_hit(uintptr_t at, size_t size, simt_range *clean)
{
    size_t begun = begun_by(at + size - 1);
    uintptr_t before = 0, after = begun < list.count ? (uintptr_t)list.items[begun].block : UINTPTR_MAX;
    if (begun) {
        const buffer *one = &list.items[begun - 1];
        uintptr_t data = (uintptr_t)data_of(one), end = data + one->size;
        before = end + GUARD;
        if (at >= data && at + size <= end) {
            *clean = (simt_range){data, end};
            return false;
        }
    }
    if (at < before)
        return true;
    *clean = (simt_range){before, after};
    return false;
}

/* Checks the guards: this finds writes past a buffer even in kernels that are not traced. */
bool simt_guards_hold(void)
{
#if !SMP_SANITIZED
    char intact[GUARD];
    memset(intact, GUARD_BYTE, GUARD);
    for (size_t i = 0; i < list.count; i++) {
        const char *data = data_of(&list.items[i]);
        if (memcmp(data - GUARD, intact, GUARD) != 0 || memcmp(data + list.items[i].size, intact, GUARD) != 0)
            return false;
    }
#endif
    return true;
}

CUresult simt_memory_info(size_t *available, size_t *total)
{
    NEED_CONTEXT();
    *total = *available = SIMT_MEMORY;
    return CUDA_SUCCESS;
}

CUresult simt_alloc(CUdeviceptr *memory, size_t size)
{
    *memory = 0;
    NEED_CONTEXT();
    size_t whole;
    if (!size)
        return CUDA_ERROR_INVALID_VALUE;
    if (!smp_add_size(size, 2 * GUARD + ALIGNED, &whole) ||
        !smp_grow(&list.items, &list.capacity, list.count + 1, sizeof *list.items))
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *raw = smp_alloc_raw(whole);
    if (!raw)
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *block = raw + (ALIGNED - ((uintptr_t)raw + GUARD) % ALIGNED) % ALIGNED;
    memset(block, GUARD_BYTE, GUARD);
    memset(block + GUARD, FRESH_BYTE, size);
    memset(block + GUARD + size, GUARD_BYTE, GUARD);
    ASAN_POISON_MEMORY_REGION(block, GUARD);
    ASAN_POISON_MEMORY_REGION(block + GUARD + size, GUARD);
    size_t place = begun_by((uintptr_t)block);
    memmove(list.items + place + 1, list.items + place, (list.count++ - place) * sizeof *list.items);
    list.items[place] = (buffer){raw, block, size};
    *memory = (CUdeviceptr)(uintptr_t)(block + GUARD);
    return CUDA_SUCCESS;
}

CUresult simt_free(CUdeviceptr memory)
{
    size_t begun = begun_by((uintptr_t)memory);
    if (!begun || (uintptr_t)data_of(&list.items[begun - 1]) != memory)
        return memory ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    buffer_release(&list.items[begun - 1]);
    memmove(list.items + begun - 1, list.items + begun, (list.count-- - begun) * sizeof *list.items);
    return simt_usable();
}

CUresult simt_host_alloc(void **memory, size_t size, unsigned)
{
    *memory = NULL;
    NEED_CONTEXT();
    *memory = smp_alloc_raw(size);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult simt_host_free(void *memory)
{
    smp_free(memory);
    return simt_usable();
}

/* The place of memory in the list; its end: it is not there. The lock is held. */
static size_t registered_at(const void *memory)
{
    size_t i = 0;
    while (i < registered.count && registered.items[i] != memory)
        i++;
    return i;
}

CUresult simt_host_register(void *memory, size_t size, unsigned flags)
{
    NEED_CONTEXT();
    if (!memory || !size || flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&registered.lock);
    CUresult result = registered_at(memory) < registered.count ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
                      : !smp_grow(&registered.items, &registered.capacity, registered.count + 1, sizeof(void *))
                          ? CUDA_ERROR_OUT_OF_MEMORY
                          : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        registered.items[registered.count++] = memory;
    pthread_mutex_unlock(&registered.lock);
    return result;
}

CUresult simt_host_unregister(void *memory)
{
    NEED_CONTEXT();
    pthread_mutex_lock(&registered.lock);
    const size_t at = registered_at(memory);
    const bool known = at < registered.count;
    if (known)
        registered.items[at] = registered.items[--registered.count];
    pthread_mutex_unlock(&registered.lock);
    return known ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult simt_to_device(CUdeviceptr to, const void *from, size_t size, CUstream)
{
    NEED_CONTEXT();
    if (!buffer_at(to, size))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy((void *)(uintptr_t)to, from, size);
    return CUDA_SUCCESS;
}

CUresult simt_from_device(void *to, CUdeviceptr from, size_t size, CUstream)
{
    NEED_CONTEXT();
    if (!buffer_at(from, size))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

CUresult simt_in_device(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream)
{
    NEED_CONTEXT();
    if (!buffer_at(to, size) || !buffer_at(from, size))
        return CUDA_ERROR_INVALID_VALUE;
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

CUresult simt_copy_2d(const CUDA_MEMCPY2D *copy, CUstream)
{
    NEED_CONTEXT();
    bool from_device = copy->srcMemoryType == CU_MEMORYTYPE_DEVICE,
         to_device = copy->dstMemoryType == CU_MEMORYTYPE_DEVICE;
    if (!copy->Height || !copy->WidthInBytes)
        return CUDA_SUCCESS;
    if (copy->srcPitch < copy->WidthInBytes || copy->dstPitch < copy->WidthInBytes)
        return CUDA_ERROR_INVALID_VALUE;
    size_t from_at = copy->srcY * copy->srcPitch + copy->srcXInBytes,
           to_at = copy->dstY * copy->dstPitch + copy->dstXInBytes;
    const char *from = (from_device ? (const char *)(uintptr_t)copy->srcDevice : (const char *)copy->srcHost) + from_at;
    char *to = (to_device ? (char *)(uintptr_t)copy->dstDevice : (char *)copy->dstHost) + to_at;
    if ((from_device && !buffer_at((uintptr_t)from, (copy->Height - 1) * copy->srcPitch + copy->WidthInBytes)) ||
        (to_device && !buffer_at((uintptr_t)to, (copy->Height - 1) * copy->dstPitch + copy->WidthInBytes)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t y = 0; y < copy->Height; y++)
        memcpy(to + y * copy->dstPitch, from + y * copy->srcPitch, copy->WidthInBytes);
    return CUDA_SUCCESS;
}

CUresult simt_fill(CUdeviceptr to, unsigned char value, size_t size, CUstream)
{
    NEED_CONTEXT();
    if (!buffer_at(to, size))
        return CUDA_ERROR_INVALID_VALUE;
    memset((void *)(uintptr_t)to, value, size);
    return CUDA_SUCCESS;
}
