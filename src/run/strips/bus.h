/* Rows between endpoints and the memory of a device. Where a phase has several strips, the rows of one stop over in
 * buffers of the device: so they cross the bus, in both directions at once, while the device computes on those of
 * another. */
#ifndef SMP_RUN_STRIPS_BUS_H
#define SMP_RUN_STRIPS_BUS_H

#include "run/strips/runner.h"

typedef struct smp_bus {
    smp_device *device;
    double seconds[2]; /* of copies that the host waits for: down, up */
    smp_cost sent[2];  /* of those that it does not wait for */
    bool detours;      /* some rows went through ordinary memory */
} smp_bus;

typedef struct smp_berth { /* rows first .. end-1 of one strip */
    void *memory;
    int64_t first, at, end; /* at: those in front of it were sent on */
    smp_mark *filled, *emptied;
} smp_berth;

/* Where the rows of a source stop over, in one berth: the device takes them out as the first thing it does with them.
 * Those for a sink have two: one is filled with what was computed while the other is emptied. */
typedef struct smp_dock {
    smp_berth berths[2];
    int64_t stride, row_bytes;
    int next; /* the berth of a sink that is filled next; the other one's rows are newer */
} smp_dock;

/* Copies rows between the device and an endpoint. wait: they are there on return. after: as smp_rows_sent has it. */
smp_code smp_bus_move(smp_bus *bus, smp_endpoint *endpoint, const smp_rows_sent *rows, bool wait, smp_error *err);

/* Takes rows of an endpoint that nobody needs. */
smp_code smp_bus_skip(smp_endpoint *endpoint, int64_t count, smp_error *err);

/* Berths of so many rows. Where the device has no memory left, *dock is null, and the rows do not stop over. */
smp_code smp_dock_open(smp_device *device, int berths, int64_t rows, int64_t stride, int64_t row_bytes, smp_dock **dock,
                       smp_error *err);
/* The device must have been waited for. */
void smp_dock_close(smp_device *device, smp_dock *dock);

/* Before the first strip of a run. */
smp_code smp_dock_begin(smp_device *device, smp_dock *dock, smp_error *err);

/* Queues: the rows that were sent into the first berth go on to `to`, where the device computes on them. */
smp_code smp_dock_land(smp_device *device, smp_dock *dock, void *to, int64_t rows, smp_error *err);

/* Queues: rows first .. first+rows-1, which were computed at `from`, go to the next berth, which must be empty. */
smp_code smp_dock_take(smp_device *device, smp_dock *dock, const void *from, int64_t first, int64_t rows,
                       smp_error *err);

/* Sends rows on from berths to a stream: all of the `wait` older ones, and of the others what it has room for now. */
smp_code smp_dock_give(smp_bus *bus, smp_dock *dock, smp_endpoint *endpoint, int wait, smp_error *err);

#endif
