/* A stand-in for NVIDIA's driver, libcuda.so.1, for tests of what is done around it: one GPU, whose memory is the
 * host's. Images must be fatbins, and kernels leave memory as it was, which begins with zeros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda_api.h"

static char some; /* what handles point to */
#define HANDLE ((void *)&some)

#define FAKE(name, params, body)                                                                                       \
    CUresult name params;                                                                                              \
    CUresult name params                                                                                               \
    {                                                                                                                  \
        body;                                                                                                          \
        return CUDA_SUCCESS;                                                                                           \
    }
#define IGNORE(name, params) FAKE(name, params, )

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int attribute(CUdevice_attribute which)
{
    switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        return 0;
    default:
        return 1 << 16;
    }
}

static void copy_rows(const CUDA_MEMCPY2D *c)
{
    const char *from = c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : (const void *)(uintptr_t)c->srcDevice;
    char *to = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : (void *)(uintptr_t)c->dstDevice;
    for (size_t y = 0; y < c->Height; y++)
        memcpy(to + (c->dstY + y) * c->dstPitch + c->dstXInBytes, from + (c->srcY + y) * c->srcPitch + c->srcXInBytes,
               c->WidthInBytes);
}

IGNORE(cuInit, (unsigned flags))
FAKE(cuDriverGetVersion, (int *version), *version = 13000)
FAKE(cuGetErrorName, (CUresult result, const char **text),
     *text = result == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_INVALID_IMAGE")
FAKE(cuGetErrorString, (CUresult result, const char **text), *text = "no fatbin")
FAKE(cuDeviceGetCount, (int *count), *count = 1)
FAKE(cuDeviceGet, (CUdevice * device, int ordinal), *device = ordinal)
FAKE(cuDeviceGetName, (char *name, int size, CUdevice device), snprintf(name, (size_t)size, "stand-in"))
FAKE(cuDeviceGetAttribute, (int *value, CUdevice_attribute which, CUdevice device), *value = attribute(which))
FAKE(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device), *bytes = 1 << 30)
FAKE(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), *context = HANDLE)
IGNORE(cuDevicePrimaryCtxRelease_v2, (CUdevice device))
IGNORE(cuCtxSetCurrent, (CUcontext context))
FAKE(cuModuleLoadData, (CUmodule * module, const void *image), const unsigned magic = 0xba55ed50; *module = HANDLE;
     if (memcmp(image, &magic, sizeof magic) != 0) return CUDA_ERROR_INVALID_IMAGE)
IGNORE(cuModuleUnload, (CUmodule module))
FAKE(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name), *function = HANDLE)
FAKE(cuFuncGetAttribute, (int *value, CUfunction_attribute which, CUfunction function), *value = 0)
IGNORE(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute which, int value))
FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction function, int threads, size_t shared),
     *blocks = 1)
FAKE(cuMemGetInfo_v2, (size_t * available, size_t *total), *available = *total = 1 << 30)
FAKE(cuMemAlloc_v2, (CUdeviceptr * memory, size_t size), *memory = (uintptr_t)calloc(1, size))
FAKE(cuMemFree_v2, (CUdeviceptr memory), free((void *)(uintptr_t)memory))
FAKE(cuMemHostAlloc, (void **memory, size_t size, unsigned flags), *memory = calloc(1, size))
FAKE(cuMemFreeHost, (void *memory), free(memory))
IGNORE(cuIpcOpenMemHandle_v2, (CUdeviceptr * memory, CUipcMemHandle handle, unsigned flags))
IGNORE(cuIpcCloseMemHandle, (CUdeviceptr memory))
IGNORE(cuMemHostRegister_v2, (void *memory, size_t size, unsigned flags))
IGNORE(cuMemHostUnregister, (void *memory))
FAKE(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t size, CUstream stream),
     memcpy((void *)(uintptr_t)to, from, size))
FAKE(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t size, CUstream stream),
     memcpy(to, (const void *)(uintptr_t)from, size))
FAKE(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),
     memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size))
FAKE(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream), copy_rows(copy))
FAKE(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t size, CUstream stream),
     memset((void *)(uintptr_t)to, value, size))
FAKE(cuStreamCreate, (CUstream * stream, unsigned flags), *stream = HANDLE)
IGNORE(cuStreamDestroy_v2, (CUstream stream))
IGNORE(cuStreamSynchronize, (CUstream stream))
IGNORE(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))
FAKE(cuEventCreate, (CUevent * event, unsigned flags), *event = HANDLE)
IGNORE(cuEventDestroy_v2, (CUevent event))
IGNORE(cuEventRecord, (CUevent event, CUstream stream))
IGNORE(cuEventSynchronize, (CUevent event))
IGNORE(cuEventQuery, (CUevent event))
FAKE(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent stop), *milliseconds = 1)
IGNORE(cuLaunchKernel,
       (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
        unsigned block_z, unsigned shared_bytes, CUstream stream, void **params, void **extra))
