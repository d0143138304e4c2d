/* Our side of the GPU benchmark: a row's statements planned for one size, over pictures that lie in a device's memory,
 * launched through the interface that runs launch through (src/run/strips/step.h), and nothing else in the way. */
#ifndef SMP_TESTS_BENCH_GPU_WORK_H
#define SMP_TESTS_BENCH_GPU_WORK_H

#include "gpu_rows.h"
#include "pipe/program.h"
#include "run/strips/step.h"

typedef struct gpu_work {
    smp_device *device;
    smp_program *program;
    smp_plan *plan;
    smp_step_run *runs; /* one a step; device null: a source */
    void **frames;      /* one a step: device memory of its whole output; a reduction's is its input's */
    void *target;       /* the caller's, for the result */
    int64_t *strides;   /* one a step: bytes from row to row */
    int last;           /* the step that makes the result; the source when the row only reduces */
    double bytes, ops;  /* that the whole must move (input read once, output written once), and compute */
} gpu_work;

/* variant: of every stage that has it; null: the default. source: device memory of gpu_source_bytes(). target: device
 * memory for the result, as large as the source; null: taken here. *work is filled also on failure: close it. */
smp_code gpu_work_open(gpu_work *work, smp_device *device, const gpu_row *row, gpu_size size, const char *variant,
                       void *source, void *target, smp_error *err);
size_t gpu_source_bytes(const gpu_row *row, gpu_size size);

/* Sets results to what launches expect: counts to zero. Queued, like the launches. */
smp_code gpu_work_reset(gpu_work *work, smp_error *err);

/* Queues every launch of the whole. */
smp_code gpu_work_launch(gpu_work *work, smp_error *err);

/* Seconds in kernels since the last launch began, by an event before and one after each; waits. */
smp_code gpu_work_seconds(gpu_work *work, double *seconds, smp_error *err);

/* The variants that ran, or are asked for where nothing has: "mma", or "tiled, warp" for several. */
void gpu_work_variants(const gpu_work *work, char *text, size_t size);

/* The result's picture. */
smp_view gpu_work_result(const gpu_work *work);

/* Fills the result's memory with a byte: what no launch writes is found. */
smp_code gpu_work_poison(gpu_work *work, unsigned char byte, smp_error *err);

/* Returns what the reductions found, after a wait; from smp_alloc, null when there is nothing. */
smp_code gpu_work_found(gpu_work *work, char **text, smp_error *err);

void gpu_work_close(gpu_work *work); /* a zeroed one is allowed */

#endif
