/* What the files of the comparison share: compare.c walks the plan, check.c decides what is right,
 * timing.c samples, counts.c counts. */
#ifndef SMP_COMPARE_INTERNAL_H
#define SMP_COMPARE_INTERNAL_H

#include "compare/compare.h"
#include "compare/flush_caches.h"
#include "compare/model.h"
#include "run/step.h"

typedef struct smp_frame { /* the whole output of a step, on the device */
    void *memory;
    int64_t stride;
    int last_use; /* the last step that reads it */
} smp_frame;

typedef struct smp_comparison {
    const smp_compare_request *request;
    const smp_plan *plan;
    smp_device *device;
    smp_compare *out;
    smp_step_run *runs; /* one a step; device null: not opened yet */
    smp_frame *frames;
    smp_flush *flush;
    smp_device *cpu;      /* runs naive as the definition, for other devices; null until needed */
    smp_model *model;     /* null except while counting */
    double step_seconds;  /* for sampling one compared step */
    double count_seconds; /* for tracing one compared step */
} smp_comparison;

/* One step under comparison: all variants run on the same input. */
typedef struct smp_trial {
    smp_comparison *c;
    int index;
    const smp_step *step;
    smp_step_run *run;
    smp_step_run *target;     /* the step that applies a reduction, or run */
    smp_view in, second, out; /* whole pictures; out: naive's result, or `in` for reductions */
    smp_view result;          /* memory that the variants write; layout as out */
    smp_compare_step *report;
    const smp_compare_variant *last; /* the variant that was timed last; null: none */
} smp_trial;

/* The variant of a row of the report. */
const smp_variant *smp_trial_variant(const smp_trial *trial, const smp_compare_variant *row);

/* Zeroes results and counters, runs the variant once over the whole picture into `out`, and waits. */
smp_code smp_trial_run(smp_trial *trial, const smp_variant *variant, const smp_view *out, smp_error *err);

/* Fills in check and wrong of each variant that runs on the device. Naive has been run into trial->out, and later steps
 * use its reduction. */
smp_code smp_trial_check(smp_trial *trial, smp_error *err);

/* Samples all variants that are right, interleaved. */
smp_code smp_trial_time(smp_trial *trial, smp_error *err);

/* Counts all variants that have GPU kernels. */
smp_code smp_trial_count(smp_trial *trial, smp_error *err);

#endif
