/* The device that programs are told of (an H100), streams, events and errors. Work is done when it is asked for, so
 * streams and events have nothing to wait for. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
NOTHING(cudaDeviceSetLimit)
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

LAB_ALIAS(cudaSetDevice, (int device), lab_error(device ? LAB_INVALID_DEVICE : LAB_SUCCESS))

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
LAB_API int cudaDeviceGetLimit(size_t *value, int)
{
    if (!value)
        return lab_error(LAB_INVALID_VALUE);
    *value = 1 << 20;
    return LAB_SUCCESS;
}

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
LAB_ALIAS(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
          (int *blocks, const void *function, int threads, size_t shared),
          lab_resident_blocks(function, threads, shared, blocks))
LAB_ALIAS(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
          (int *blocks, const void *function, int threads, size_t shared, unsigned),
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared))

/* ------------------------------------------------------------------------------------------------ waiting */

/* These report errors of kernels. Errors of the host are reported by the call itself and cudaGetLastError. */
LAB_ALIAS(cudaDeviceSynchronize, (void), lab_broken())
LAB_ALIAS(cudaThreadSynchronize, (void), lab_broken())
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
LAB_ALIAS(cudaStreamSynchronize, (void *), lab_broken())

static int create(void **out)
{
    if (!out)
        return lab_error(LAB_INVALID_VALUE);
    *out = calloc(1, sizeof(double));
    return *out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY;
}
LAB_ALIAS(cudaStreamCreate, (void **stream), create(stream))
LAB_ALIAS(cudaStreamCreateWithFlags, (void **stream, unsigned), create(stream))
LAB_ALIAS(cudaStreamCreateWithPriority, (void **stream, unsigned, int), create(stream))
LAB_API int cudaStreamDestroy(void *stream)
{
    lab_capture_forgets(stream);
    free(stream);
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaStreamQuery, (void *stream), cudaStreamSynchronize(stream))
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
LAB_ALIAS(cudaStreamWaitEvent, (const void *stream, const void *event, unsigned), lab_capture_follows(stream, event))
NOTHING(cudaStreamAttachMemAsync)
NOTHING(cudaStreamSetAttribute)
NOTHING(cudaCtxResetPersistingL2Cache)

LAB_ALIAS(cudaEventCreate, (void **event), create(event))
LAB_ALIAS(cudaEventCreateWithFlags, (void **event, unsigned), create(event))
LAB_API int cudaEventDestroy(void *event)
{
    lab_capture_forgets(event);
    free(event);
    return LAB_SUCCESS;
}
/* The time of an event is this machine's: how long the emulation took. */
LAB_API int cudaEventRecord(double *event, const void *stream)
{
    struct timespec t;
    if (!event)
        return lab_error(LAB_INVALID_HANDLE);
    lab_capture_forgets(event);
    clock_gettime(CLOCK_MONOTONIC, &t);
    *event = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
    return lab_capture_follows(event, stream);
}
LAB_ALIAS(cudaEventRecordWithFlags, (double *event, const void *stream, unsigned), cudaEventRecord(event, stream))
NOTHING(cudaEventSynchronize)
NOTHING(cudaEventQuery)
LAB_API int cudaEventElapsedTime(float *milliseconds, const double *from, const double *to)
{
    if (!milliseconds || !from || !to)
        return lab_error(milliseconds ? LAB_INVALID_HANDLE : LAB_INVALID_VALUE);
    *milliseconds = (float)(*to - *from);
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaEventElapsedTime_v2, (float *milliseconds, const double *from, const double *to),
          cudaEventElapsedTime(milliseconds, from, to))

/* ------------------------------------------------------------------------------------------------ errors */

static const struct {
    int error;
    const char *name, *text;
} errors[] = {{LAB_SUCCESS, "cudaSuccess", "no error"},
              {LAB_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
              {LAB_OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"},
              {LAB_INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
              {LAB_INVALID_SYMBOL, "cudaErrorInvalidSymbol", "invalid device symbol"},
              {LAB_INVALID_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function"},
              {LAB_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
              {LAB_INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
              {LAB_OUT_OF_RESOURCES, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
              {LAB_ILLEGAL_ADDRESS, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
              {LAB_ILLEGAL_INSTRUCTION, "cudaErrorIllegalInstruction", "an illegal instruction was encountered"},
              {LAB_MISALIGNED_ADDRESS, "cudaErrorMisalignedAddress", "misaligned address"},
              {LAB_ASSERT, "cudaErrorAssert", "device-side assert triggered"},
              {LAB_LAUNCH_FAILURE, "cudaErrorLaunchFailure", "unspecified launch failure"},
              {LAB_REGISTERED, "cudaErrorHostMemoryAlreadyRegistered",
               "part or all of the requested memory range is already mapped"},
              {LAB_NOT_REGISTERED, "cudaErrorHostMemoryNotRegistered",
               "pointer does not correspond to a registered memory region"},
              {LAB_TOO_LARGE, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
              {LAB_NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"},
              {LAB_CAPTURE_IMPLICIT, "cudaErrorStreamCaptureImplicit",
               "operation would make the legacy stream depend on a capturing blocking stream"},
              {LAB_CLUSTER_SIZE, "cudaErrorInvalidClusterSize", "cluster misconfiguration"}};

LAB_API const char *cudaGetErrorString(int error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return errors[i].text;
    return "unrecognized error code";
}
LAB_API const char *cudaGetErrorName(int error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}
