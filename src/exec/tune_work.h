/* What the files of tuning share: tune.c goes through it all, tune_step.c searches a step, tune_whole.c whole runs. */
#ifndef SMP_EXEC_TUNE_WORK_H
#define SMP_EXEC_TUNE_WORK_H

#include "exec/compare_work.h"
#include "exec/tune.h"

typedef struct smp_tuner {
    const smp_tune_request *request;
    smp_device *device;
    smp_plan *plan;
    smp_tuning *choices; /* one a step of the plan; variant null: as it is */
    smp_tune_report *report;
    int64_t strip_rows; /* the executor's choice */
    double step_budget; /* seconds that are left for the search of steps; what naive takes beside it is not counted */
    double spent;       /* seconds of the search so far, for progress */
    int steps_left;
} smp_tuner;

/* For smp_compare_request.contest. */
smp_code smp_tune_step(void *tuner, smp_contest *contest, smp_error *err);

/* Strip heights, and whether all that was chosen makes the whole faster. *strip_rows: 0 where the executor's choice
 * stays. Steps' choices are taken back when the whole is slower with them. */
smp_code smp_tune_whole(smp_tuner *tuner, const smp_view *in, int64_t *strip_rows, smp_error *err);

/* The next try of a row; null with *err filled when memory is exhausted. */
smp_tune_try *smp_tune_try_add(smp_tune_row *row, const char *text, smp_error *err);

/* Tells the caller that so many more seconds of the search have gone; its code stops the work. */
smp_code smp_tune_progress(smp_tuner *tuner, double seconds);

#endif
