/* Copies a whole buffer within the device and measures that, for the peak that bench shows. */
#include "device/cuda/cuda_internal.h"

smp_code smp_cuda_time_copy(smp_device *device, void *to, const void *from, size_t size, double *seconds,
                            smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    CUevent start = NULL, stop = NULL;
    float milliseconds = 0;
    CUdeviceptr to_at = (CUdeviceptr)(uintptr_t)to, from_at = (CUdeviceptr)(uintptr_t)from;
    *seconds = 0;
    SMP_TRY(cuda_enter(gpu, err));
    smp_code code = SMP_OK;
    CUDA_TRY(gpu, cuEventCreate, &start, CU_EVENT_DEFAULT);
    CUDA_TRY(gpu, cuEventCreate, &stop, CU_EVENT_DEFAULT);
    CUDA_TRY(gpu, cuEventRecord, start, gpu->stream);
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
