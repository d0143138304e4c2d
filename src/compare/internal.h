/* Shared by the files of the comparison: walk.c walks the plan, check.c decides what is right, fit.c what the time
 * limit has room for, timing.c samples, counts.c counts. */
#pragma once

#include "compare/compare.h"
#include "compare/flush_caches.h"
#include "compare/model.h"
#include "run/strips/step.h"

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
