/* One run of a plan on a device: windows, tables, results, strips. Rows come from one endpoint and go to others, so
 * that files, memory and batches share it. */
#pragma once

#include "run/run.h"
#include "run/strips/stream.h"

/* Source or destination of rows: the stream of a file, or a picture in memory. */
typedef struct smp_endpoint {
    smp_stream *stream;
    smp_view view;  /* the whole picture, when stream is null */
    bool on_device; /* the view's memory is the device's */
    int64_t at;     /* rows so far, of a view */
    int64_t last;   /* of a coded scan: the rows that it takes */
} smp_endpoint;

typedef struct smp_runner smp_runner;

typedef struct smp_runner_setup {
    const smp_plan *plan;
    smp_device *device;
    const char *variant;
    int64_t strip_rows;           /* 0: chosen */
    const smp_read_options *read; /* for files that the program names; null: the defaults */
    smp_endpoint *source;
    smp_endpoint *sinks; /* plan->sink_count of them */
    bool any_range;      /* samples outside the bins of stages that count them are no error */
    bool live;      /* the source's rows come as somebody makes them, and go on as they come; the plan has one phase */
    smp_plan *open; /* the plan, where its length is known when the source ends; else null */
    smp_notes *notes; /* where the run says what its length changed; may be null */
    bool partials;    /* the report gets the partial results of reductions, which can be merged over files */
    smp_code (*progress)(void *context, int64_t done, int64_t total);
    void *progress_context;
} smp_runner_setup;

/* The same in three steps, for many pictures of one shape. open allocates all memory. go may be called again and again
 * with the same plan and device, each time with endpoints at their start; not after a failure, which may leave work
 * behind. */
smp_code smp_runner_open(const smp_runner_setup *setup, smp_runner **out, smp_error *err);
smp_code smp_runner_go(smp_runner *runner, const smp_runner_setup *setup, smp_run_report *report, int *failed_step,
                       smp_error *err);
void smp_runner_close(smp_runner *runner);

/* Runs the plan once. *report gets steps, measurements and device times. *failed_step is the step that failed, or
 * SMP_STEP_NONE. */
smp_code smp_runner_run(const smp_runner_setup *setup, smp_run_report *report, int *failed_step, smp_error *err);
