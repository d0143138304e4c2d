/* Shared by the files of the comparison: walk.c walks the plan, check.c decides what is right, fit.c what the time
 * limit has room for, timing.c samples, counts.c counts. */
#pragma once

#include "banks/trace.h"
#include "compare/compare.h"
#include "device/device.h"
#include "run/strips/step.h"

/* Flushes caches between samples, so that data comes from memory, as in a run over much data. */

typedef struct smp_flush smp_flush;

/* *out null on failure. */
smp_code smp_flush_open(smp_device *device, smp_flush **out, smp_error *err);
void smp_flush_close(smp_flush *flush); /* null is allowed */

/* Flushes the cache lines of these views (data null: none) and waits. x86 processors flush exactly those lines. Other
 * processors and GPUs read a buffer four times the last cache instead: written lines would still be on their way to
 * memory while the sample runs. The emulator has no caches. */
smp_code smp_flush_views(smp_flush *flush, const smp_view *const *views, size_t count, smp_error *err);

/* Counts shared-memory accesses without a GPU: the emulator runs a step's GPU kernels on the step's own input, by their
 * SASS where the build has it, else traced as the host's compiler made them.
 * Of large pictures only some whole rows are counted, launched as a run would launch a strip. */

typedef struct smp_model smp_model;

/* The size of the counted GPU decides grids. like: a real one (kind cuda); null: an H100. threads: 0 for all. *out is
 * null on failure. */
smp_code smp_model_open(const smp_device_info *like, int threads, smp_model **out, smp_error *err);
void smp_model_close(smp_model *model); /* null is allowed */

/* Writes "a GPU of compute capability 9.0 with 132 SMs" to text. */
void smp_model_text(const smp_model *model, char *text, size_t size);

/* Sets the step whose kernels are counted next. `in` and `second` (data null without one) are whole pictures on
 * `device`. */
smp_code smp_model_load(smp_model *model, const smp_step *step, const smp_node_plan *work, smp_device *device,
                        const smp_view *in, const smp_view *second, smp_error *err);

/* Traces one variant over output rows from .. from+rows-1 (a reduction: input rows). The caller frees *trace.
 * SMP_E_DEVICE: the variant has no GPU kernels for this work. */
smp_code smp_model_count(smp_model *model, const smp_variant *variant, int64_t from, int64_t rows, smp_trace *trace,
                         smp_error *err);

/* The fewest rows that are counted when not all are: whole blocks of kernels, multiples of row_multiple. */
int64_t smp_model_unit(const smp_step *step, int64_t row_multiple);

/* Rows in the middle of the output whose trace takes about `seconds` in all. Traces the variants on one unit first to
 * learn their speed. */
smp_code smp_model_rows(smp_model *model, const smp_variant *const *variants, size_t count, int64_t row_multiple,
                        double seconds, int64_t *from, int64_t *rows, smp_error *err);

/* Rows first .. first+count-1 of a whole picture; an empty view of an empty view. */
smp_view smp_view_rows(const smp_view *whole, int64_t first, int64_t count);

typedef struct smp_frame { /* the whole output of a step, on the device */
    void *memory;
    int64_t stride;
    int last_use;             /* the last step that reads it */
    const smp_variant *maker; /* that makes it: naive, unless the time limit has no room for it; null: not chosen yet */
} smp_frame;

typedef struct smp_comparison {
    const smp_compare_request *request;
    const smp_plan *plan; /* of the request, or one of its prepasses */
    int before;           /* steps of the plans before it */
    smp_device *device;
    smp_compare *out;
    smp_step_run *runs; /* one a step of `plan`; device null: not opened yet */
    smp_frame *frames;
    smp_flush *flush;
    smp_device *cpu;                  /* runs naive as the definition, for other devices; null until needed */
    smp_model *model;                 /* null except while counting */
    smp_count_source *sass;           /* of a run: kept from step to step, since opening it takes long; or null */
    double step_seconds;              /* for sampling one compared step */
    double count_seconds;             /* for tracing one compared step */
    double check_seconds;             /* for the runs of all steps that checks and few samples take */
    double started;                   /* when the walk began: smp_now() */
    int64_t steps_wanted, steps_left; /* that are compared; of these, that were not yet */
} smp_comparison;

/* Whole pictures of a step on its device. out: for reductions, the input. */
typedef struct smp_views {
    smp_view in, second, out;
} smp_views;

/* One step under comparison: all variants run on the same input. */
typedef struct smp_trial {
    smp_comparison *c;
    int index;
    const smp_step *step;
    smp_step_run *run;
    smp_step_run *target;            /* the step that applies a reduction, or run */
    smp_view in, second, out;        /* whole pictures; out: the maker's result, or `in` for reductions */
    smp_view result;                 /* memory that the variants write; layout as out */
    smp_compare_step *report;        /* null: the step is not compared, only made for later ones */
    const smp_variant *maker;        /* of what the variants are held against */
    const smp_compare_variant *last; /* the variant that was timed last; null: none */
} smp_trial;

/* The variant of a row of the report. */
const smp_variant *smp_trial_variant(const smp_trial *trial, const smp_compare_variant *row);

/* Zeroes results and counters, runs the variant once over the whole picture into `out`, and waits. */
smp_code smp_trial_run(smp_trial *trial, const smp_variant *variant, const smp_view *out, smp_error *err);

/* Whether two variants run the same kernels here; and the rows of the report that do as one before (same_as). */
bool smp_trial_same(const smp_trial *trial, const smp_variant *a, const smp_variant *b);
void smp_trial_find_same(smp_trial *trial);

/* Chooses the maker, and leaves out variants of the report that the time limit has no room for. Overwrites out and
 * results. */
smp_code smp_trial_fit(smp_trial *trial, smp_error *err);

/* Seconds of the time limit that the runs of this step may take. */
double smp_trial_granted(const smp_comparison *c);

/* Work so small that it is never left out. */
bool smp_work_is_small(const smp_step *step, const smp_node_plan *work);

/* About how many seconds a run of the variant over the whole output takes. unit: rows that strips are multiples of.
 * granted: seconds from which on it need not be known well. Overwrites out and results. */
smp_code smp_estimate_run(smp_step_run *run, const smp_variant *variant, const smp_views *whole, int64_t unit,
                          double granted, double *seconds, smp_error *err);

/* Fills in check and wrong of each variant that runs on the device and is not left out. The maker has been run into
 * trial->out, and later steps use its reduction. */
smp_code smp_trial_check(smp_trial *trial, smp_error *err);

/* Samples all variants that are right, interleaved. */
smp_code smp_trial_time(smp_trial *trial, smp_error *err);

/* Counts all variants that have GPU kernels. */
smp_code smp_trial_count(smp_trial *trial, smp_error *err);

/* Chooses what to count when tracing the whole step would take too long: fewer rows (model.h) or, when one row is
 * already too much work (a matrix product), the step planned again for the upper left corner of its pictures. */

typedef struct smp_counted {
    smp_step step;             /* the trial's, or planned for the corner; owns its table when `planned` */
    const smp_node_plan *work; /* the parameters it computes with */
    bool planned;
    smp_view in, second, out; /* whole pictures of that step, on the trial's device; out: memory it may write */
    int64_t from, rows;       /* output rows to count */
} smp_counted;

/* Chooses the part for this trial and `count` variants so that tracing takes about `seconds`. Fills in the report's
 * count_* and loads the step and its inputs into the model. Close it also after a failure. */
smp_code smp_counted_open(smp_trial *trial, const smp_variant *const *variants, size_t count, double seconds,
                          smp_counted *counted, smp_error *err);
void smp_counted_close(smp_counted *counted);
