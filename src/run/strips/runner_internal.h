/* Shared by runs by strips of a fixed height (strips.c) and runs that follow a source as it comes (live.c). */
#pragma once

#include "run/file_source.h"
#include "run/strips/runner.h"
#include "run/strips/schedule.h"
#include "run/strips/step.h"
#include "run/strips/transfer.h"

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
