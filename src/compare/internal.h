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
    smp_device *cpu;      /* what naive is held against on other devices; null until needed */
    smp_model *model;     /* while counts are taken */
    double step_seconds;  /* of sampling, for each compared step */
    double count_seconds; /* the same of tracing */
} smp_comparison;

/* One step while it is compared. */
typedef struct smp_trial {
    smp_comparison *c;
    int index;
    const smp_step *step;
    smp_step_run *run;
    smp_step_run *target;     /* of a reduction's finish: the step that applies it, or run */
    smp_view in, second, out; /* whole pictures; out: naive's result, or `in` for reductions */
    smp_view result;          /* where variants write; memory of the same layout as out */
    smp_compare_step *report;
    const smp_compare_variant *last; /* that was timed; null: none */
} smp_trial;

/* The variant that a row of the report stands for. */
const smp_variant *smp_trial_variant(const smp_trial *trial, const smp_compare_variant *row);

/* Runs the variant once over the whole picture, into `out`, with results and counters zeroed before; waits. */
smp_code smp_trial_run(smp_trial *trial, const smp_variant *variant, const smp_view *out, smp_error *err);

/* Fills in check and wrong of each variant that runs on the device: naive has been run into contest->out, and its
 * reduction, if it is one, is what later steps use. */
smp_code smp_trial_check(smp_trial *trial, smp_error *err);

/* Samples all variants that are right, in turns. */
smp_code smp_trial_time(smp_trial *trial, smp_error *err);

/* Counts all variants that have GPU kernels. */
smp_code smp_trial_count(smp_trial *trial, smp_error *err);

#endif
