/* A GPU as a device, through a table of driver functions: NVIDIA's driver, or the emulator (device/simt.h). See
 * device.h for the interface. One thread at a time may use a device. */
#ifndef SMP_DEVICE_CUDA_H
#define SMP_DEVICE_CUDA_H

#include "device/cuda/cuda_api.h"
#include "device/device.h"

/* Opens device `index` of the driver; *out null on failure. Takes about 0.35 s on a GPU, most of it the context. */
smp_code smp_cuda_open(smp_driver *driver, int index, smp_device **out, smp_error *err);

/* How many devices the driver has, and what one is. */
smp_code smp_cuda_count(smp_driver *driver, int *count, smp_error *err);
smp_code smp_cuda_info(smp_driver *driver, int index, smp_device_info *info, smp_error *err);

/* Whether this build carries GPU kernels; when not, SMP_E_DEVICE that says how to get them. */
smp_code smp_cuda_built(smp_error *err);

/* How one launch of a variant would run on a device that smp_cuda_open() made, for `explain`. The variant must serve
 * the work (smp_variant_serving). */
typedef struct smp_cuda_launch_info {
    const char *kernel; /* without formats */
    smp_grid grid;
    int registers, static_shared, local_bytes; /* a thread; a block; a thread. registers 0: not known */
    int compiled_for;    /* 90: these three are what the compiler says for sm_90; 0: a GPU says it */
    int blocks_per_unit; /* resident on one SM */
    double occupancy;    /* of the SM's threads, 0..1 */
    const char *limit;   /* "threads", "registers", "shared memory" or "blocks" */
} smp_cuda_launch_info;
smp_code smp_cuda_launch_describe(smp_device *device, const smp_launch *launch, const smp_io *io, const void *params,
                                  smp_cuda_launch_info *info, smp_error *err);

/* What a profiler, or another library that shall work in turns with it, needs of a device that smp_cuda_open() made. */
typedef struct smp_cuda_handles {
    smp_driver *driver;
    CUcontext context; /* the primary one, which NVIDIA's libraries use too */
    CUdevice device;
    CUstream stream; /* on which everything is queued */
} smp_cuda_handles;
smp_cuda_handles smp_cuda_handles_of(smp_device *device);

/* Has fn called when the device closes, while its context is still there: a profiler lets go. One a device. */
void smp_cuda_before_close(smp_device *device, void (*fn)(void));

/* How many kernels have been launched, or asked about, so far: they stay loaded. */
size_t smp_cuda_kernel_count(smp_device *device);

/* One copy of size bytes and the time that it took on the device, by events; waits for it. Host memory is pinned
 * (smp_cuda_pinned_alloc), device memory from the device's alloc. */
typedef enum smp_cuda_way { SMP_CUDA_WITHIN, SMP_CUDA_UP, SMP_CUDA_DOWN } smp_cuda_way;
smp_code smp_cuda_time_copy(smp_device *device, smp_cuda_way way, void *to, const void *from, size_t size,
                            double *seconds, smp_error *err);
smp_code smp_cuda_pinned_alloc(smp_device *device, size_t size, void **out, smp_error *err);
void smp_cuda_pinned_free(smp_device *device, void *memory);

#endif
