/* One step of a plan on a device: the variant that runs it, its tables, results, counters and scratch memory, and its
 * launches. The one way in which anything launches a stage: runs strip by strip (runner.c), comparisons and counts of
 * whole pictures (compare.c). */
#ifndef SMP_EXEC_STEP_H
#define SMP_EXEC_STEP_H

#include "device/device.h"
#include "pipe/plan.h"

typedef struct smp_step_run {
    smp_device *device;
    const smp_step *step;
    const smp_variant *variant; /* that is asked for; may be changed between launches; see smp_step_scratch */
    const smp_variant *ran;     /* that the last launch ran in its place: smp_step_serving(); null: none yet */
    smp_node_plan work;         /* a copy: a finished reduction changes it. Its table is owned here */
    void *table, *result;       /* device memory; null: none */
    uint64_t *clipped;          /* device: one counter; null when not counted */
    void *scratch;
    int64_t scratch_rows;
    smp_findings findings; /* of a finished reduction, */
    bool wants_partial;    /* set by who also wants them in the form that adds up over files: */
    void *partial;         /* this, null where the stage has none */
    smp_cost cost;
} smp_step_run;

/* Bytes of a row's samples, and from a row to the next as the executor lays pictures out: rows begin at multiples of
 * SMP_ALIGN; rows of one pixel (sound above all) lie end to end, as one long row. */
int64_t smp_row_bytes(const smp_shape *shape, smp_format storage);
int64_t smp_row_stride(const smp_shape *shape, smp_format storage);

/* Rows first .. first+count-1 of a picture of that shape whose row `base` lies at memory. */
smp_view smp_view_of(const smp_shape *shape, smp_format storage, void *memory, int64_t stride, int64_t base,
                     int64_t first, int64_t count);

/* Bytes that are never read or written, aligned as a device's memory; and the first rows, as many as exist, of a
 * picture there, for who asks what a launch would be. */
#define SMP_NOWHERE ((void *)(uintptr_t)(1 << 16))
smp_view smp_view_nowhere(const smp_shape *shape, smp_format storage, int64_t rows);

/* Bytes that must cross memory for the whole step: inputs read once, output written once. */
uint64_t smp_step_bytes(const smp_plan *plan, const smp_step *step);

/* The variants that a step chooses from, ended by a null name; the stage's default; the one of that name, or the
 * default where there is none or wanted is null. */
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
 * the bytes from a row of it to the next: as wide as the input, with the output's channels. */
bool smp_step_uses_scratch(const smp_step *step, smp_format from, const smp_node_plan *work, const smp_variant *variant,
                           bool gpu);
int64_t smp_step_scratch_stride(const smp_step *step);

/* What a launch sees: the scratch picture, which has the rows of `in`, in place of one of the step's pictures; a step
 * without a second picture then finds that one as `by`. */
smp_io smp_step_views(const smp_step *step, const smp_launch *launch, const smp_view *in, const smp_view *out,
                      const smp_view *by, void *scratch);

/* The rows of an input `height` rows high that a step reads for output rows from .. to-1. */
void smp_step_reads(const smp_step *step, int64_t height, int64_t from, int64_t to, int64_t *first, int64_t *count);

/* Takes device memory for tables, results and counters, and uploads tables. work: what the step computes with; null: as
 * planned. *run is filled also on failure: close it. */
smp_code smp_step_open(smp_step_run *run, smp_device *device, const smp_step *step, const smp_node_plan *work,
                       const smp_variant *variant, smp_error *err);

/* Makes sure that the variant has the scratch memory for `rows` rows of its input, whose samples in memory are `from`.
 */
smp_code smp_step_scratch(smp_step_run *run, smp_format from, int64_t rows, smp_error *err);

/* Queues the variant's launches: out.rows rows. by: rows of the second picture, data null without one. The scratch
 * picture has the rows of `in`. What it takes is added to run->cost (exact after a sync). */
smp_code smp_step_launch(smp_step_run *run, const smp_view *in, const smp_view *out, const smp_view *by,
                         smp_error *err);

/* Sets results and counters to zero. */
smp_code smp_step_reset(smp_step_run *run, smp_error *err);

/* Makes ready for another picture of the same shape: what the one before cost, found and changed is forgotten. */
smp_code smp_step_again(smp_step_run *run, smp_error *err);

/* Brings a finished reduction home and lets the stage read it: findings to run, table and kernel parameters to
 * `target`, the run of the step that waits for them (may be run itself). */
smp_code smp_step_finish(smp_step_run *run, smp_step_run *target, smp_error *err);

/* Samples that the last store clamped since the reset; 0 when not counted. */
smp_code smp_step_clipped(smp_step_run *run, uint64_t *clipped, smp_error *err);

/* Gives everything back; a zeroed run is allowed. */
void smp_step_close(smp_step_run *run);

#endif
