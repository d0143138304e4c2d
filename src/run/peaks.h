/* Measured peak rates of a device: `bench` shows them, and `compare` relates its rates to them. Each is the median of
 * several passes over data far larger than the last cache, with quartiles. */
#pragma once

#include "device/device.h"
#include "run/rate.h"

/* size: bytes of one buffer; 0: chosen for the device. Each function allocates and frees what it needs. */

/* Device memory to device memory: each byte is read once and written once. A GPU uses the driver's own copy. */
smp_code smp_peak_copy(smp_device *device, size_t size, smp_rate *rate, smp_error *err);

/* Kernels that only copy, read or write, 16 bytes for each thread and access. */
typedef enum smp_stream_op { SMP_STREAM_COPY, SMP_STREAM_READ, SMP_STREAM_WRITE, SMP_STREAM_OPS } smp_stream_op;
smp_code smp_peak_stream(smp_device *device, smp_stream_op op, size_t size, smp_rate *rate, smp_error *err);

/* Reads `size` bytes at `buffer` as SMP_STREAM_READ does, and waits. Afterwards the caches hold clean lines of
 * `buffer`. buffer and sums are device memory of the caller; sums has smp_peak_sums(size) bytes. */
smp_code smp_peak_touch(smp_device *device, void *buffer, size_t size, void *sums, smp_error *err);
size_t smp_peak_sums(size_t size);

/* Host to device (up), device to host (down), or both at once, whose bytes are added up: over the bus, from and to
 * pinned memory, in one copy; or in_slots: through the rings of slots that a run has between device and codecs, which
 * here take no time themselves. A device that shares the host's memory has no bus: rate->bytes is 0. */
typedef enum smp_link_way { SMP_LINK_UP, SMP_LINK_DOWN, SMP_LINK_BOTH, SMP_LINK_WAYS } smp_link_way;
smp_code smp_peak_link(smp_device *device, smp_link_way way, bool in_slots, size_t size, smp_rate *rate,
                       smp_error *err);

/* Seconds that an empty launch takes: *each in a long row of launches, *waited with a sync after each. */
smp_code smp_peak_launch(smp_device *device, double *each, double *waited, smp_error *err);
