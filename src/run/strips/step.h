/* One step of a plan on a device: the variant that runs it, its tables, results, counters and scratch memory, and its
 * launches. Every launch of a stage goes through here: runs by strips (strips.c), and comparisons and counts of whole
 * pictures (src/compare). */
#pragma once

#include "device/device.h"
#include "pipe/plan/plan.h"

typedef struct smp_step_run {
    smp_device *device;
    const smp_step *step;
    const smp_variant *variant; /* that is asked for; may be changed between launches; see smp_step_scratch */
    const smp_variant *ran;     /* that the last launch ran in its place: smp_step_serving(); null: none yet */
    smp_node_plan work;         /* a copy: a finished reduction changes it. Its table is owned here */
    void *table, *result;       /* device memory; null: none */
    uint64_t *clipped;          /* device memory: one counter; null: not counted */
    void *scratch;
    int64_t scratch_rows;
    bool begun;      /* launches that run once have run for this picture */
    int64_t through; /* rows of this picture that were launched in order from the first on; -1: others were */
    smp_measurements measurements; /* of a finished reduction */
    bool wants_partial;            /* set by the caller: also keep the result in the form that merges over files */
    void *partial;                 /* that form; null: not wanted, or the stage has none */
    smp_cost cost;
    double result_seconds; /* of the processor's thread that made the measurements and the table, behind the kernels */
} smp_step_run;

/* Bytes of a row's samples, and from a row to the next (the stride). Rows begin at multiples of SMP_ALIGN. Rows of one
 * pixel (above all sound) have no gaps between them: they form one long row. */
int64_t smp_row_bytes(const smp_shape *shape, smp_format storage);
int64_t smp_row_stride(const smp_shape *shape, smp_format storage);

/* Rows first .. first+count-1 of a picture of that shape. Its row `base` is at `memory`. */
smp_view smp_view_of(const smp_shape *shape, smp_format storage, void *memory, int64_t stride, int64_t base,
                     int64_t first, int64_t count);

/* A probe address: aligned as a device's memory, never read or written. A probe view has the first rows of a picture
 * there, as many as exist. Callers use them to ask which launch a variant would make. */
#define SMP_PROBE_ADDRESS ((void *)(uintptr_t)(1 << 16))
smp_view smp_probe_view(const smp_shape *shape, smp_format storage, int64_t rows);

/* Bytes that must cross memory for the whole step: inputs read once, output written once. */
uint64_t smp_step_bytes(const smp_plan *plan, const smp_step *step);

/* The variants that a step chooses from, ended by a null name; the stage's default; the variant of that name, or the
 * default when there is none or wanted is null. */
const smp_variant *smp_step_variants(const smp_step *step);
const smp_variant *smp_step_default(const smp_step *step);
const smp_variant *smp_step_variant(const smp_step *step, const char *wanted);

/* Whether a variant has a launch for this kind of device. */
bool smp_variant_runs(const smp_variant *variant, bool gpu);

/* The variant that runs on the device where `variant` is asked for: itself; on a GPU the rung below that serves work
 * over these views (stages/launch.h); on a CPU `tiled`, if they are the same there. params: the kernel parameters. */
const smp_variant *smp_step_serving(const smp_step *step, const smp_variant *variant, const smp_device *device,
                                    const smp_view *in, const smp_view *out, const smp_view *by, const void *params);

/* Whether a variant puts a picture of floats between its launches, where the input's samples in memory are `from`, and
 * the bytes from a row of it to the next: as wide as the output, with its channels. */
bool smp_step_uses_scratch(const smp_step *step, smp_format from, const smp_node_plan *work, const smp_variant *variant,
                           bool gpu);
int64_t smp_step_scratch_stride(const smp_step *step);
/* Rows of that picture where `rows` rows of the input are read. */
int64_t smp_step_scratch_rows(const smp_step *step, int64_t rows);

/* The views of one launch. The scratch picture takes the place of the step's input or output and has the rows of `in`.
 * A step without a second input then gets that input or output as `second`. */
smp_io smp_step_views(const smp_step *step, const smp_launch *launch, const smp_view *in, const smp_view *out,
                      const smp_view *second, void *scratch);

/* The rows that a step reads for output rows from .. to-1. height: of its input. */
void smp_step_reads(const smp_step *step, int64_t height, int64_t from, int64_t to, int64_t *first, int64_t *count);
/* The same of its second input, whose height is `height`. */
void smp_step_reads_second(const smp_step *step, int64_t height, int64_t from, int64_t to, int64_t *first,
                           int64_t *count);

/* Allocates device memory for tables, results and counters, and uploads tables. work: the parameters to compute with;
 * null: as planned. *run is filled also on failure: close it. */
smp_code smp_step_open(smp_step_run *run, smp_device *device, const smp_step *step, const smp_node_plan *work,
                       const smp_variant *variant, smp_error *err);

/* Makes sure that the variant has scratch memory for `rows` rows of its input. from: the format of the input's samples
 * in memory. A reduction that can do without (smp_node_plan.reduction.more_at) gets none where the device has too
 * little. */
smp_code smp_step_scratch(smp_step_run *run, smp_format from, int64_t rows, smp_error *err);

/* Queues the variant's launches for out.rows rows: whole units (smp_node_plan.rows.unit). second: rows of the second
 * input, data null without one. The scratch picture has the rows of `in`. Adds the cost to run->cost, which is exact
 * after a sync. */
smp_code smp_step_launch(smp_step_run *run, const smp_view *in, const smp_view *out, const smp_view *second,
                         smp_error *err);

/* Sets results and counters to zero. */
smp_code smp_step_reset(smp_step_run *run, smp_error *err);

/* Prepares for another picture of the same shape: forgets the cost, the measurements and what a reduction changed. */
smp_code smp_step_again(smp_step_run *run, smp_error *err);

/* Copies a reduction's result to the host: an allocation of the caller's. *table: where the device has made the table;
 * null: finish() makes it. */
smp_code smp_step_result(const smp_step_run *run, void **result, const void **table, smp_error *err);

/* Copies a finished reduction to the host and lets the stage evaluate it. Measurements go to run, table and kernel
 * parameters to `target`: the run of the step that waits for them, or run itself. */
smp_code smp_step_finish(smp_step_run *run, smp_step_run *target, smp_error *err);

/* Copies a table that the device made to work.table in host memory, for runs of the step on other devices. */
smp_code smp_step_bring_table(smp_step_run *run, smp_error *err);

/* Samples that the last store clamped since the reset; 0 when not counted. */
smp_code smp_step_clipped(smp_step_run *run, uint64_t *clipped, smp_error *err);

/* Frees everything; a zeroed run is allowed. */
void smp_step_close(smp_step_run *run);
