/* Rows between endpoints and the memory of a device. Where a phase has several strips, the rows of one stop over in
 * buffers of the device: so they cross the bus, in both directions at once, while the device computes on those of
 * another. */
#pragma once

#include "run/strips/runner.h"

typedef struct smp_transfer {
    smp_device *device;
    double seconds[2]; /* of copies that the host waits for: down, up */
    smp_cost sent[2];  /* of those that it does not wait for */
    bool detours;      /* some rows went through ordinary memory */
} smp_transfer;

typedef struct smp_staging_buffer { /* rows first .. end-1 of one strip */
    void *memory;
    int64_t first, at, end; /* at: those in front of it were sent on */
    smp_mark *filled, *emptied;
} smp_staging_buffer;

/* Buffers of the device that rows stop over in. A source has one, which the device empties before it computes. A sink
 * has two: one is filled with results while the other is emptied. */
typedef struct smp_staging {
    smp_staging_buffer buffers[2];
    int64_t stride, row_bytes;
    int next; /* the buffer of a sink that is filled next; the other one's rows are newer */
} smp_staging;

/* Copies rows between the device and an endpoint. wait: they are there on return. after: as smp_rows_sent has it. */
smp_code smp_transfer_move(smp_transfer *transfer, smp_endpoint *endpoint, const smp_rows_sent *rows, bool wait,
                           smp_error *err);

/* Skips rows of an endpoint that nobody needs. */
smp_code smp_transfer_skip(smp_endpoint *endpoint, int64_t count, smp_error *err);

/* Makes buffers of so many rows. If the device has no memory left, *staging is null, and rows do not stop over. */
smp_code smp_staging_open(smp_device *device, int buffers, int64_t rows, int64_t stride, int64_t row_bytes,
                          smp_staging **staging, smp_error *err);
/* The device must have been waited for. */
void smp_staging_close(smp_device *device, smp_staging *staging);

/* Before the first strip of a run. */
smp_code smp_staging_begin(smp_device *device, smp_staging *staging, smp_error *err);

/* Queues: the rows that were sent into the first buffer go on to `to`, where the device computes on them. */
smp_code smp_staging_land(smp_device *device, smp_staging *staging, void *to, int64_t rows, smp_error *err);

/* Queues: rows first .. first+rows-1, which were computed at `from`, go to the next buffer, which must be empty. */
smp_code smp_staging_take(smp_device *device, smp_staging *staging, const void *from, int64_t first, int64_t rows,
                          smp_error *err);

/* Sends rows on from buffers to a stream: all of the `wait` older ones, and of the others what it has room for now. */
smp_code smp_staging_give(smp_transfer *transfer, smp_staging *staging, smp_endpoint *endpoint, int wait,
                          smp_error *err);
