/* What a device can do at most, measured: the ceilings that `bench` shows and that `compare` sets its rates against.
 * Each is the median of several passes over data far larger than the last cache, with quartiles. */
#ifndef SMP_RUN_PEAKS_H
#define SMP_RUN_PEAKS_H

#include "device/device.h"
#include "report/rate.h"

/* All take the bytes of one buffer (0: chosen for the device) and allocate and free what they need. */

/* Device memory to device memory: each byte is read once and written once. On a GPU the driver's own copy. */
smp_code smp_peak_copy(smp_device *device, size_t size, smp_rate *rate, smp_error *err);

/* Kernels that only copy, read or write, 16 bytes a thread and access. */
typedef enum smp_stream_op { SMP_STREAM_COPY, SMP_STREAM_READ, SMP_STREAM_WRITE, SMP_STREAM_OPS } smp_stream_op;
smp_code smp_peak_stream(smp_device *device, smp_stream_op op, size_t size, smp_rate *rate, smp_error *err);

/* Reads `size` bytes at `buffer`, device memory of the caller, as the stream above does, and waits: what lies in the
 * caches afterwards is this, unchanged. sums: smp_peak_sums(size) bytes of device memory. */
smp_code smp_peak_touch(smp_device *device, void *buffer, size_t size, void *sums, smp_error *err);
size_t smp_peak_sums(size_t size);

/* Host to device (up) or device to host: over the bus from and to pinned memory, or, staged, from and to ordinary
 * memory as a run does it. Devices that share the host's memory have none: bytes 0. */
smp_code smp_peak_link(smp_device *device, bool up, bool staged, size_t size, smp_rate *rate, smp_error *err);

/* Seconds that a launch which does nothing takes: each of many in a row, and one that is waited for. */
smp_code smp_peak_launch(smp_device *device, double *each, double *waited, smp_error *err);

#endif
