/* A GPU as a device, through a table of driver functions: NVIDIA's driver, or the emulator (device/simt/simt.h).
 * device.h describes the interface. One thread at a time may use a device. */
#pragma once

#include "device/cuda/cuda_api.h"
#include "device/device.h"

/* Opens device `index` of the driver. *out is null on failure. Takes about 0.35 s on a GPU, most of it for the context.
 */
smp_code smp_cuda_open(smp_driver *driver, int index, smp_device **out, smp_error *err);

/* The number of devices of the driver, and the description of one. */
smp_code smp_cuda_count(smp_driver *driver, int *count, smp_error *err);
smp_code smp_cuda_info(smp_driver *driver, int index, smp_device_info *info, smp_error *err);

/* Whether this build has GPU kernels. Without them: SMP_E_DEVICE, with how to get them. */
smp_code smp_cuda_built(smp_error *err);

/* The same, and opens libsmempipe-cuda.so, which has them (base/os/installed.h), once for the process: SMP_E_DEVICE
 * where it is missing or another. */
smp_code smp_cuda_kernels(smp_error *err);

/* The fatbin of a kernel file (device/kernel_table.h). Null: there is none. */
struct smp_kernel_file;
const void *smp_cuda_fatbin(const struct smp_kernel_file *file);

/* Describes one launch of a variant on a device that smp_cuda_open() made, for `explain`. The variant must serve the
 * work (smp_variant_serving). */
typedef struct smp_cuda_launch_info {
    const char *kernel; /* without formats */
    smp_grid grid;
    int registers, static_shared, local_bytes; /* of a thread; of a block; of a thread. registers 0: unknown */
    int compiled_for;                          /* 90: the compiler reported these three for sm_90; 0: a GPU did */
    int blocks_per_unit;                       /* resident on one SM */
    double occupancy;                          /* of the SM's threads, 0..1 */
    const char *limit;                         /* "threads", "registers", "shared memory" or "blocks" */
} smp_cuda_launch_info;
smp_code smp_cuda_launch_describe(smp_device *device, const smp_launch *launch, const smp_io *io, const void *params,
                                  smp_cuda_launch_info *info, smp_error *err);

/* Queues one launch of a kernel of many pictures (lib/many.h), by its whole name; items: in the device's memory. */
smp_code smp_cuda_launch_many(smp_device *device, const char *kernel, const smp_grid *grid, const void *items,
                              smp_error *err);

/* Memory that another process shares by a handle (cuIpcGetMemHandle), for all devices of this process that are on that
 * GPU, until it is let go. */
smp_code smp_cuda_shared_open(smp_device *device, const CUipcMemHandle *handle, void **out, smp_error *err);
void smp_cuda_shared_close(smp_device *device, void *memory);

/* Handles of a device from smp_cuda_open(), for a profiler or another library that works on the same stream. */
typedef struct smp_cuda_handles {
    smp_driver *driver;
    CUcontext context; /* the primary context, which NVIDIA's libraries use too */
    CUdevice device;
    CUstream stream; /* all work is queued on it */
} smp_cuda_handles;
smp_cuda_handles smp_cuda_handles_of(smp_device *device);

/* Calls fn when the device closes, while its context still exists, so that a profiler can detach. One function for each
 * device. */
void smp_cuda_before_close(smp_device *device, void (*fn)(void));

/* The number of kernels that were launched or asked about so far. They stay loaded. */
size_t smp_cuda_kernel_count(smp_device *device);

/* Runs one copy of size bytes of device memory and measures its time on the device, by events. */
smp_code smp_cuda_time_copy(smp_device *device, void *to, const void *from, size_t size, double *seconds,
                            smp_error *err);
