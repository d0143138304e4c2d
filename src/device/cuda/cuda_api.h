/* The CUDA driver API without CUDA's headers: the few types and numbers of its ABI that smempipe uses, and a table of
 * entry points (cuda_api.def) that libcuda.so.1 or the emulator (device/simt/simt.h) fills. Every call goes through
 * smp_cuNAME(driver, ...), where calls are traced (SMP_TRACE_DRIVER=1), counted and timed (SMP_TRACE_DRIVER=times: a
 * table on stderr when the program ends), and where tests make the Nth call fail. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/each.h"
#include "base/error.h"

#ifndef __cuda_cuda_h__ /* a file that includes CUDA's own cuda.h (the profiler's) has these already */
typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUipcMemHandle {
    char reserved[64];
} CUipcMemHandle;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600, /* what was asked about is not done yet */
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_UNKNOWN = 999
};

enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,       /* kHz */
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37, /* bits */
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
    CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111
};

enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DEFAULT = 0, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2 };
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };

typedef struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;
#endif

/* The entry points, numbered: smp_cu_cuMemAlloc, ... */
enum {
#define CU(name, symbol, kind, params, args) smp_cu_##name,
#include "device/cuda/cuda_api.def"
#undef CU
    SMP_DRIVER_ENTRIES
};

typedef struct smp_driver_time { /* of one entry point, all threads together */
    _Atomic uint64_t calls, nanoseconds, longest;
} smp_driver_time;

typedef struct smp_driver {
    struct {
#define CU(name, symbol, kind, params, args) CUresult(*name) params;
#include "device/cuda/cuda_api.def"
#undef CU
    } call;           /* the raw entry points */
    const char *name; /* "cuda" or "simt": the device kind */
    bool emulated;    /* the emulator: images are kernel files (device/kernel_table.h), memory is the host's */
    bool trace;       /* print every call to stderr */
    bool timed;       /* fill `times` */
    smp_driver_time times[SMP_DRIVER_ENTRIES];
    /* For tests. calls counts the calls that an injected failure can hit. Call number fail_at returns fail_with; with
     * fail_sticky so do all later calls, as after a fault on a real device. */
    _Atomic uint64_t calls;
    uint64_t fail_at;
    CUresult fail_with;
    bool fail_sticky;
} smp_driver;

#define CU(name, symbol, kind, params, args) CUresult smp_##name(smp_driver *driver, SMP_UNWRAP params);
#include "device/cuda/cuda_api.def"
#undef CU

/* The installed driver, opened and initialised once in a process. Without a driver: *out is null and SMP_E_DEVICE says
 * what to do. Static storage. */
smp_code smp_driver_cuda(smp_driver **out, smp_error *err);

/* Traces a driver as SMP_TRACE_DRIVER asks. If it asks for times, the table is printed when the program ends. */
void smp_driver_trace(smp_driver *driver);

/* Sets what smp_driver_cuda() gives instead, in tests; null: the installed one again. */
void smp_driver_cuda_is(smp_driver *driver);

/* Makes the Nth call from now (1: the next) return result; sticky: also all later calls. nth 0 switches this off. */
void smp_driver_fail_at(smp_driver *driver, uint64_t nth, CUresult result, bool sticky);

/* Turns a driver's result into an error: SMP_E_DEVICE_MEMORY for out of memory, else SMP_E_DEVICE with the driver's
 * name for it and a hint. what: the entry point. Returns err's code. */
smp_code smp_driver_error(smp_driver *driver, const char *what, CUresult result, smp_error *err);
