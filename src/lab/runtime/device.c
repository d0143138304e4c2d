/* The device that programs are told of (an H100), streams and events. Work is done when it is asked for, so
 * streams and events have nothing to wait for. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "lab/machine/buffers.h"
#include "lab/runtime/runtime.h"

enum {
    SHARED_USUAL = 48 * 1024,
    THREADS_A_PROCESSOR = 2048,
    BLOCKS_A_PROCESSOR = 32,
    SHARED_A_PROCESSOR = 228 * 1024,
    REGISTERS = 65536,
    L2_BYTES = 50 << 20,
    PERSISTING_BYTES = L2_BYTES * 3 / 4,
    WINDOW_BYTES = 128 << 20,
    RUNTIME = 13000 /* the version that it is */
};

/* ------------------------------------------------------------------------------------------------ device */

/* cudaDeviceProp of CUDA 13, by the offsets of its members. */
static void put_int(char *properties, size_t at, int value)
{
    memcpy(properties + at, &value, sizeof value);
}
static void put_size(char *properties, size_t at, size_t value)
{
    memcpy(properties + at, &value, sizeof value);
}

/* Properties at the same offsets in CUDA 12 and 13. */
static void common_properties(char *p)
{
    static const int limits[] = {
        SMP_WARP_MAX_THREADS, SMP_WARP_MAX_THREADS, SMP_WARP_MAX_THREADS, 64, INT32_MAX, 65535, 65535};
    strcpy(p, "smempipe lab (as an H100)");
    put_size(p, 288, (size_t)80 << 30); /* totalGlobalMem */
    put_size(p, 296, SHARED_USUAL);
    put_int(p, 304, REGISTERS);
    put_int(p, 308, 32);
    put_size(p, 312, INT32_MAX);            /* memPitch */
    memcpy(p + 320, limits, sizeof limits); /* maxThreadsPerBlock, maxThreadsDim, maxGridSize */
    put_size(p, 352, 65536);                /* totalConstMem */
    put_int(p, 360, 9);
    put_int(p, 364, 0);
    put_size(p, 368, 512); /* textureAlignment */
}

LAB_API int cudaGetDeviceProperties(char *p, int device)
{
    static const struct {
        uint16_t at;
        int value;
    } ints[] = {{384, LAB_PROCESSORS},
                {392, 1},                   /* canMapHostMemory */
                {560, 1},                   /* concurrentKernels */
                {584, 3},                   /* asyncEngineCount */
                {588, 1},                   /* unifiedAddressing */
                {592, 5120},                /* memoryBusWidth */
                {596, L2_BYTES},            /* l2CacheSize */
                {600, PERSISTING_BYTES},    /* persistingL2CacheMaxSize */
                {604, THREADS_A_PROCESSOR}, /* maxThreadsPerMultiProcessor */
                {632, REGISTERS},           /* regsPerMultiprocessor */
                {636, 1},                   /* managedMemory */
                {656, 1},                   /* concurrentManagedAccess */
                {668, 1},                   /* cooperativeLaunch */
                {688, BLOCKS_A_PROCESSOR},  /* maxBlocksPerMultiProcessor */
                {692, WINDOW_BYTES},        /* accessPolicyMaxWindowSize */
                {720, 1}};                  /* memoryPoolsSupported */
    enum { BYTES = 1008 };
    if (device || !p)
        return lab_error(device ? LAB_INVALID_DEVICE : LAB_INVALID_VALUE);
    memset(p, 0, BYTES);
    common_properties(p);
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        put_int(p, ints[i].at, ints[i].value);
    put_size(p, 624, SHARED_A_PROCESSOR);
    put_size(p, 672, SMP_WARP_MAX_SHARED); /* sharedMemPerBlockOptin */
    return LAB_SUCCESS;
}

/* The name that CUDA 12 gives it, with the clock rate between. */
LAB_API int cudaGetDeviceProperties_v2(char *p, int device)
{
    enum { BYTES = 1032, CLOCK = 348, COUNT = 388 };
    if (device || !p)
        return lab_error(device ? LAB_INVALID_DEVICE : LAB_INVALID_VALUE);
    memset(p, 0, BYTES);
    common_properties(p);
    put_int(p, CLOCK, 1980000);
    put_int(p, COUNT, LAB_PROCESSORS);
    return LAB_SUCCESS;
}

LAB_API int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } known[] = {{1, SMP_WARP_MAX_THREADS},
                 {2, SMP_WARP_MAX_THREADS},
                 {3, SMP_WARP_MAX_THREADS},
                 {4, 64},
                 {5, INT32_MAX},
                 {6, 65535},
                 {7, 65535},
                 {8, SHARED_USUAL},
                 {9, 65536},
                 {10, 32},
                 {12, REGISTERS},
                 {13, 1980000},
                 {16, LAB_PROCESSORS},
                 {18, 0},
                 {19, 1},
                 {31, 1},
                 {36, 2619000},
                 {37, 5120},
                 {38, L2_BYTES},
                 {39, THREADS_A_PROCESSOR},
                 {41, 1},
                 {75, 9},
                 {76, 0},
                 {81, SHARED_A_PROCESSOR},
                 {82, REGISTERS},
                 {83, 1},
                 {88, 0},
                 {89, 1},
                 {95, 1},
                 {97, SMP_WARP_MAX_SHARED},
                 {102, 1}, /* virtual memory, as files, compressible */
                 {103, 1},
                 {107, 1},
                 {106, BLOCKS_A_PROCESSOR},
                 {108, PERSISTING_BYTES},
                 {109, WINDOW_BYTES},
                 {115, 1}}; /* memory pools */
    if (device || !value)
        return lab_error(device ? LAB_INVALID_DEVICE : LAB_INVALID_VALUE);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return LAB_SUCCESS;
        }
    *value = 0;
    return LAB_SUCCESS;
}

#define NOTHING(name)                                                                                                  \
    LAB_API int name(void)                                                                                             \
    {                                                                                                                  \
        return LAB_SUCCESS;                                                                                            \
    }
NOTHING(cudaDeviceReset)
NOTHING(cudaDeviceSetCacheConfig)
NOTHING(cudaDeviceSetSharedMemConfig)
NOTHING(cudaProfilerStart)
NOTHING(cudaProfilerStop)
NOTHING(cudaFuncSetCacheConfig)
NOTHING(cudaFuncSetSharedMemConfig)

static unsigned device_flags = 8; /* cudaDeviceMapHost, which is always so */
LAB_API int cudaSetDeviceFlags(unsigned flags)
{
    device_flags = flags | 8;
    return LAB_SUCCESS;
}
LAB_API int cudaGetDeviceFlags(unsigned *flags)
{
    if (!flags)
        return lab_error(LAB_INVALID_VALUE);
    *flags = device_flags;
    return LAB_SUCCESS;
}

static const char bus_id[] = "0000:00:00.0";
LAB_API int cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    if (device || !text || size < (int)sizeof bus_id)
        return lab_error(device ? LAB_INVALID_DEVICE : LAB_INVALID_VALUE);
    memcpy(text, bus_id, sizeof bus_id);
    return LAB_SUCCESS;
}
LAB_API int cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    if (!device || !text)
        return lab_error(LAB_INVALID_VALUE);
    *device = 0;
    return lab_error(strcmp(text, bus_id) ? LAB_INVALID_DEVICE : LAB_SUCCESS);
}

/* cudaChannelFormatDesc: bits of four channels, and their kind. */
typedef struct lab_channels {
    int bits[4], kind;
} lab_channels;
LAB_API lab_channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (lab_channels){{x, y, z, w}, kind};
}

LAB_API int cudaSetDevice(int device)
{
    lab_use_primary();
    return lab_error(device ? LAB_INVALID_DEVICE : LAB_SUCCESS);
}

/* cudaFuncAttributeMaxDynamicSharedMemorySize, NonPortableClusterSizeAllowed; the others are wishes. */
LAB_API int cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    enum { MAX_DYNAMIC_SHARED = 8, WIDE_CLUSTERS = 14 };
    if (!lab_kernel(function))
        return lab_error(LAB_INVALID_FUNCTION);
    if (attribute == MAX_DYNAMIC_SHARED && !lab_allow_dynamic(function, value))
        return lab_error(LAB_INVALID_VALUE);
    if (attribute == WIDE_CLUSTERS)
        lab_allow_wide(function, value != 0);
    return LAB_SUCCESS;
}

static int put(int *out, int value)
{
    if (!out)
        return lab_error(LAB_INVALID_VALUE);
    *out = value;
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaGetDevice, (int *device), put(device, 0))
LAB_ALIAS(cudaGetDeviceCount, (int *count), put(count, 1))
LAB_ALIAS(cudaDriverGetVersion, (int *version), put(version, RUNTIME))
LAB_ALIAS(cudaRuntimeGetVersion, (int *version), put(version, RUNTIME))
LAB_ALIAS(cuDriverGetVersion, (int *version), put(version, RUNTIME))
LAB_ALIAS(cudaDeviceCanAccessPeer, (int *can, int device, int peer),
          device || peer ? lab_error(LAB_INVALID_DEVICE) : put(can, 0))
LAB_API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = 0;
    return LAB_SUCCESS;
}
/* cudaLimit: of the stack, printf, malloc, two of launches on the device, and two of L2. */
enum { HEAP_LIMIT = 2 };
static size_t limits[] = {1024, 1 << 20, WARP_USUAL_HEAP, 2, 2048, 64, 0};
static size_t *limit_of(int limit)
{
    return limit >= 0 && limit < (int)(sizeof limits / sizeof limits[0]) ? &limits[limit] : NULL;
}
LAB_API int cudaDeviceGetLimit(size_t *value, int limit)
{
    if (!value || !limit_of(limit))
        return lab_error(value ? LAB_UNSUPPORTED_LIMIT : LAB_INVALID_VALUE);
    *value = *limit_of(limit);
    return LAB_SUCCESS;
}
LAB_BOTH(cudaDeviceSetLimit, cuCtxSetLimit, (int limit, size_t value),
         !limit_of(limit) ? lab_error(LAB_UNSUPPORTED_LIMIT)
         : limit == HEAP_LIMIT && lab_memory()->heap
             ? lab_error(LAB_INVALID_VALUE) /* a kernel has used it */
             : (*limit_of(limit) = value, lab_memory()->heap_limit = limits[HEAP_LIMIT], LAB_SUCCESS))

/* cudaFuncAttributes: what programs ask most. */
LAB_API int cudaFuncGetAttributes(char *attributes, const void *function)
{
    enum {
        BYTES = 144,
        MOST_THREADS = 24,
        REGISTERS_USED = 28,
        PTX = 32,
        BINARY = 36,
        MOST_DYNAMIC = 44,
        UNKNOWN = 32
    };
    const smp_warp_kernel *kernel = lab_kernel(function);
    uint32_t registers = UNKNOWN;
    if (!kernel || !attributes)
        return lab_error(kernel ? LAB_INVALID_VALUE : LAB_INVALID_FUNCTION);
    (void)lab_registers(function, &registers);
    memset(attributes, 0, BYTES);
    put_size(attributes, 0, smp_warp_kernel_shared(kernel));
    put_int(attributes, MOST_THREADS, (int)smp_warp_kernel_threads(kernel, registers));
    put_int(attributes, REGISTERS_USED, (int)registers);
    put_int(attributes, PTX, (int)smp_warp_kernel_arch(kernel)); /* by which CUB chooses how to launch */
    put_int(attributes, BINARY, (int)smp_warp_kernel_arch(kernel));
    put_int(attributes, MOST_DYNAMIC, (int)lab_dynamic_limit(function));
    return LAB_SUCCESS;
}

/* As the tables tell it: by threads, shared memory and, where the SASS is at hand, registers. */
int lab_resident_blocks(const void *function, int threads, size_t shared, int *blocks)
{
    const smp_warp_kernel *kernel = lab_kernel(function);
    uint32_t registers = 0;
    smp_warp_fit fit;
    if (!kernel || !blocks || threads < 1 || threads > SMP_WARP_MAX_THREADS)
        return lab_error(kernel ? LAB_INVALID_VALUE : LAB_INVALID_FUNCTION);
    (void)lab_registers(function, &registers);
    const size_t bytes = shared + smp_warp_kernel_shared(kernel);
    *blocks = 0;
    if (bytes <= SMP_WARP_MAX_SHARED && (uint32_t)threads <= smp_warp_kernel_threads(kernel, registers) &&
        smp_warp_fit_of((int)smp_warp_kernel_arch(kernel), registers, (uint32_t)bytes, (uint32_t)threads, &fit))
        *blocks = (int)fit.blocks;
    return LAB_SUCCESS;
}
LAB_BOTH(cudaOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,
         (int *blocks, const void *function, int threads, size_t shared),
         lab_resident_blocks(function, threads, shared, blocks))
LAB_BOTH(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
         (int *blocks, const void *function, int threads, size_t shared, unsigned),
         cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared))

/* ------------------------------------------------------------------------------------------------ handles */

static struct {
    lab_kind kind;
    void *handle;
} * held;
static size_t held_count, held_capacity;

void *lab_hold(lab_kind kind, size_t bytes)
{
    LAB_ALONE;
    void *handle = calloc(1, bytes);
    if (handle && smp_grow(&held, &held_capacity, held_count + 1, sizeof *held)) {
        held[held_count].kind = kind;
        held[held_count++].handle = handle;
        return handle;
    }
    free(handle);
    return NULL;
}

static size_t place_of(lab_kind kind, const void *handle)
{
    size_t i = held_count;
    while (i && (held[i - 1].handle != handle || held[i - 1].kind != kind))
        i--;
    return i;
}

bool lab_holds(lab_kind kind, const void *handle)
{
    LAB_ALONE;
    return place_of(kind, handle);
}

bool lab_let_go(lab_kind kind, void *handle)
{
    LAB_ALONE;
    const size_t place = place_of(kind, handle);
    if (!place)
        return false;
    held[place - 1] = held[--held_count];
    free(handle);
    return true;
}

/* ------------------------------------------------------------------------------------------------ waiting */

/* These report errors of kernels. Errors of the host are reported by the call itself and cudaGetLastError. */
LAB_ALIAS(cudaDeviceSynchronize, (void), lab_capture_waits(LAB_DEVICE))
LAB_ALIAS(cudaThreadSynchronize, (void), lab_capture_waits(LAB_DEVICE))
LAB_API int cudaGetLastError(void)
{
    lab_noticed();
    return lab_last_error(true);
}
LAB_API int cudaPeekAtLastError(void)
{
    lab_noticed();
    return lab_last_error(false);
}

/* A stream, or an event and when it was recorded. */
typedef struct waited {
    double time;
    unsigned flags;
} waited;
bool lab_is_stream(const void *stream)
{
    enum { LAST_SPECIAL = 2 /* null, legacy, per thread */ };
    return (uintptr_t)stream <= LAST_SPECIAL || lab_holds(LAB_STREAM, stream);
}
bool lab_is_blocking(const void *stream)
{
    return !lab_holds(LAB_STREAM, stream) || !((const waited *)stream)->flags;
}
LAB_BOTH(cudaStreamSynchronize, cuStreamSynchronize, (const void *stream),
         lab_is_stream(stream) ? lab_capture_waits(stream) : lab_error(LAB_INVALID_HANDLE))
LAB_BOTH(cudaStreamQuery, cuStreamQuery, (const void *stream), cudaStreamSynchronize(stream))

static int create(lab_kind kind, void **out, unsigned flags)
{
    if (!out)
        return lab_error(LAB_INVALID_VALUE);
    *out = lab_hold(kind, sizeof(waited));
    if (*out)
        ((waited *)*out)->flags = flags;
    return *out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY;
}
static int destroy(lab_kind kind, void *handle)
{
    if (!lab_holds(kind, handle))
        return lab_error(LAB_INVALID_HANDLE);
    lab_capture_forgets(handle);
    lab_let_go(kind, handle);
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaStreamCreate, (void **stream), create(LAB_STREAM, stream, 0))
LAB_BOTH(cudaStreamCreateWithFlags, cuStreamCreate, (void **stream, unsigned flags), create(LAB_STREAM, stream, flags))
LAB_BOTH(cudaStreamCreateWithPriority, cuStreamCreateWithPriority, (void **stream, unsigned flags, int),
         create(LAB_STREAM, stream, flags))
LAB_BOTH(cudaStreamDestroy, cuStreamDestroy_v2, (void *stream), destroy(LAB_STREAM, stream))
/* A callback. Earlier work is done, so it runs at once, or becomes a node of a graph. */
typedef struct callback {
    void (*function)(void *stream, int status, void *data);
    void *stream, *data;
} callback;
static void call_back(void *given)
{
    const callback *c = given;
    c->function(c->stream, lab_broken(), c->data);
}
LAB_API int cudaStreamAddCallback(void *stream, void (*function)(void *stream, int status, void *data), void *data,
                                  unsigned flags)
{
    if (!function || flags)
        return lab_error(LAB_INVALID_VALUE);
    callback *c = malloc(sizeof *c); /* a graph may call it as often as it is launched */
    if (!c)
        return lab_error(LAB_OUT_OF_MEMORY);
    *c = (callback){function, stream, data};
    return cudaLaunchHostFunc(stream, call_back, c);
}
LAB_DRIVER(cuStreamAddCallback, (void *stream, void (*function)(void *, int, void *), void *data, unsigned flags),
           lab_is_stream(stream) ? cudaStreamAddCallback(stream, function, data, flags) : LAB_INVALID_HANDLE)
LAB_DRIVER(cuLaunchHostFunc, (void *stream, void (*function)(void *data), void *data),
           !lab_is_stream(stream) ? LAB_INVALID_HANDLE
           : function             ? cudaLaunchHostFunc(stream, function, data)
                                  : LAB_INVALID_VALUE)
LAB_BOTH(cudaStreamWaitEvent, cuStreamWaitEvent, (const void *stream, const void *event, unsigned),
         lab_is_stream(stream) && lab_holds(LAB_EVENT, event) ? lab_capture_follows(stream, event)
                                                              : lab_error(LAB_INVALID_HANDLE))
NOTHING(cudaStreamAttachMemAsync)
NOTHING(cudaStreamSetAttribute)
NOTHING(cudaCtxResetPersistingL2Cache)

LAB_ALIAS(cudaEventCreate, (void **event), create(LAB_EVENT, event, 0))
LAB_BOTH(cudaEventCreateWithFlags, cuEventCreate, (void **event, unsigned flags), create(LAB_EVENT, event, flags))
LAB_BOTH(cudaEventDestroy, cuEventDestroy_v2, (void *event), destroy(LAB_EVENT, event))
/* The time of an event is this machine's: how long the emulation took. */
LAB_API int cudaEventRecord(double *event, const void *stream)
{
    struct timespec t;
    if (!lab_holds(LAB_EVENT, event) || !lab_is_stream(stream))
        return lab_error(LAB_INVALID_HANDLE);
    lab_capture_forgets(event);
    clock_gettime(CLOCK_MONOTONIC, &t);
    *event = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
    return lab_capture_follows(event, stream);
}
LAB_BOTH(cudaEventRecordWithFlags, cuEventRecordWithFlags, (double *event, const void *stream, unsigned),
         cudaEventRecord(event, stream))
LAB_DRIVER(cuEventRecord, (double *event, const void *stream), cudaEventRecord(event, stream))
LAB_BOTH(cudaEventSynchronize, cuEventSynchronize, (const void *event),
         lab_holds(LAB_EVENT, event) ? lab_capture_waits(event) : lab_error(LAB_INVALID_HANDLE))
LAB_BOTH(cudaEventQuery, cuEventQuery, (const void *event), cudaEventSynchronize(event))
LAB_API int cudaEventElapsedTime(float *milliseconds, const waited *from, const waited *to)
{
    enum { UNTIMED = 2 };
    if (!milliseconds || !lab_holds(LAB_EVENT, from) || !lab_holds(LAB_EVENT, to) || from->time <= 0 || to->time <= 0 ||
        (from->flags | to->flags) & UNTIMED)
        return lab_error(milliseconds ? LAB_INVALID_HANDLE : LAB_INVALID_VALUE);
    *milliseconds = (float)(to->time - from->time);
    return LAB_SUCCESS;
}
LAB_BOTH(cudaEventElapsedTime_v2, cuEventElapsedTime_v2, (float *milliseconds, const waited *from, const waited *to),
         cudaEventElapsedTime(milliseconds, from, to))
LAB_DRIVER(cuEventElapsedTime, (float *milliseconds, const waited *from, const waited *to),
           cudaEventElapsedTime(milliseconds, from, to))
