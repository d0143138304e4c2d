/* What the files of the comparison share: compare.c walks the plan, compare_check.c decides what is right,
 * compare_time.c samples, compare_count.c counts. */
#ifndef SMP_EXEC_COMPARE_WORK_H
#define SMP_EXEC_COMPARE_WORK_H

#include "exec/compare.h"
#include "exec/flush.h"
#include "exec/model.h"
#include "exec/step.h"

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
    smp_device *cpu;  /* what naive is held against on other devices; null until needed */
    smp_model *model; /* while counts are taken */
    double step_seconds;  /* of sampling, for each compared step */
    double count_seconds; /* the same of tracing */
} smp_comparison;

/* One step while it is compared. */
typedef struct smp_contest {
    smp_comparison *c;
    int index;
    const smp_step *step;
    smp_step_run *run;
    smp_step_run *target; /* of a reduction's finish: the step that applies it, or run */
    smp_view in, by, out; /* whole pictures; out: naive's result, or `in` for reductions */
    smp_view trial;       /* where variants write; memory of the same layout as out */
    int64_t strip_rows;   /* launched strip by strip, as a run would; 0: the whole picture at once */
    bool decide;          /* sampled until verdicts are clear, not until medians are known well */
    bool hurry;           /* soon over when the time is, with fewer samples than asked for: report->timed_out */
    smp_compare_step *report;
    const smp_compare_variant *last; /* that was timed; null: none */
} smp_contest;

/* The variant that a row of the report stands for; its tuning, where it has one, is the run's from now on. */
const smp_variant *smp_contest_take(smp_contest *contest, const smp_compare_variant *row);

/* Runs the variant once over the whole picture, into `out`, with results and counters zeroed before; waits. */
smp_code smp_contest_run(smp_contest *contest, const smp_variant *variant, const smp_view *out, smp_error *err);

/* Whether two variants make the same launches on the device, as they do on a CPU that lacks what tells them apart. */
bool smp_contest_same(const smp_contest *contest, const smp_variant *a, const smp_variant *b);

/* Knows what is right: opened when naive has been run into contest->out, and before anything else is. Judging runs the
 * variant once and fills in check and wrong, or why it cannot run here. Close it also when opening failed. */
typedef struct smp_referee smp_referee;
smp_code smp_referee_open(smp_contest *contest, smp_referee **out, smp_error *err);
smp_code smp_referee_judge(smp_referee *referee, smp_contest *contest, smp_compare_variant *to, smp_error *err);
void smp_referee_close(smp_referee *referee);

/* Fills in check and wrong of each variant that runs on the device: naive has been run into contest->out, and its
 * reduction, if it is one, is what later steps use. */
smp_code smp_contest_check(smp_contest *contest, smp_error *err);

/* Samples all variants that are right, in turns. */
smp_code smp_contest_time(smp_contest *contest, smp_error *err);

/* Counts all variants that have GPU kernels. */
smp_code smp_contest_count(smp_contest *contest, smp_error *err);

#endif
