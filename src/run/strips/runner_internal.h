/* Shared by runs by strips of a fixed height (strips.c) and runs that follow a source as it comes (live.c). */
#pragma once

#include "run/file_source.h"
#include "run/strips/runner.h"
#include "run/strips/schedule.h"
#include "run/strips/step.h"

/* Rows between endpoints and the memory of a device. Where a phase has several strips, the rows of one stop over in
 * buffers of the device: so they cross the bus, in both directions at once, while the device computes on those of
 * another. */

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

typedef struct smp_step_state { /* what one step owns or borrows while it runs */
    smp_step_run run;           /* device is null for a source */
    void *memory;               /* of its output: its own window or frame (device memory), or borrowed */
    int64_t stride, base, rows; /* bytes; first row present; rows that fit */
    int64_t done;               /* rows computed so far */
    int64_t first, last;        /* live.c: those that are ever read, */
    int64_t sent;               /* and rows that went to sinks */
    smp_file_source file;       /* of a source that the program names */
    smp_staging *staging;       /* of a source: where its rows stop over; null: nowhere */
    int zero_copy_sink;         /* the sink whose memory this step writes directly, or -1 */
    bool borrowed; /* memory belongs to an endpoint (a sink's slot or view, a source's strip) or another frame */
} smp_step_state;

struct smp_runner {
    const smp_runner_setup *setup;
    const smp_plan *plan;
    smp_device *device;
    smp_step_state *states;
    smp_rows *rows;
    int64_t strip_rows, strips_done, strips_all;
    smp_staging **stagings; /* of the plan's sinks; null: none */
    smp_transfer transfer;
    smp_plan *open; /* the plan, which gets its length when the source ends; null: it has it */
};

/* Queues the step's launches for rows need->from .. need->to-1. */
smp_code smp_runner_compute(smp_runner *r, int index, const smp_rows *need, smp_error *err);

/* The same rows of a sink's step go to the sink. */
smp_code smp_runner_send(smp_runner *r, size_t sink, const smp_rows *done, smp_error *err);

/* Takes rows of a source up to need->to, which fit its memory. */
smp_code smp_runner_fill(smp_runner *r, int index, const smp_rows *need, smp_error *err);

/* live.c: memory, and the run of the only phase. */
smp_code smp_live_prepare(smp_runner *r, smp_error *err);
smp_code smp_live_phase(smp_runner *r, int *failed_step, smp_error *err);
