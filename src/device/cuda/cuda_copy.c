/* Copies whole buffers and measures them, for the peaks that bench shows. */
#include "device/cuda/cuda_internal.h"

smp_code smp_cuda_pinned_alloc(smp_device *device, size_t size, void **out, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    *out = NULL;
    smp_code code = cuda_enter(gpu, err);
    if (!code)
        CUDA_TRY(gpu, cuMemHostAlloc, out, size, 0);
fail:
    return code;
}

void smp_cuda_pinned_free(smp_device *device, void *memory)
{
    cuda_device *gpu = (cuda_device *)device;
    if (memory && cuda_enter(gpu, NULL) == SMP_OK)
        (void)smp_cuMemFreeHost(gpu->driver, memory);
}

smp_code smp_cuda_time_copy(smp_device *device, smp_cuda_way way, void *to, const void *from, size_t size,
                            double *seconds, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    CUevent start = NULL, stop = NULL;
    float milliseconds = 0;
    CUdeviceptr to_at = (CUdeviceptr)(uintptr_t)to, from_at = (CUdeviceptr)(uintptr_t)from;
    *seconds = 0;
    smp_code code = cuda_enter(gpu, err);
    if (code)
        return code;
    CUDA_TRY(gpu, cuEventCreate, &start, CU_EVENT_DEFAULT);
    CUDA_TRY(gpu, cuEventCreate, &stop, CU_EVENT_DEFAULT);
    CUDA_TRY(gpu, cuEventRecord, start, gpu->stream);
    if (way == SMP_CUDA_UP)
        CUDA_TRY(gpu, cuMemcpyHtoDAsync, to_at, from, size, gpu->stream);
    else if (way == SMP_CUDA_DOWN)
        CUDA_TRY(gpu, cuMemcpyDtoHAsync, to, from_at, size, gpu->stream);
    else
        CUDA_TRY(gpu, cuMemcpyDtoDAsync, to_at, from_at, size, gpu->stream);
    CUDA_TRY(gpu, cuEventRecord, stop, gpu->stream);
    CUDA_TRY(gpu, cuEventSynchronize, stop);
    CUDA_TRY(gpu, cuEventElapsedTime, &milliseconds, start, stop);
    *seconds = (double)milliseconds * 1e-3;
fail:
    if (start)
        (void)smp_cuEventDestroy(gpu->driver, start);
    if (stop)
        (void)smp_cuEventDestroy(gpu->driver, stop);
    return code;
}
