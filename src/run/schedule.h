/* Which rows every step computes for every strip: pure arithmetic over a plan. A phase's drivers are the steps whose
 * rows are wanted for their own sake (sinks, frames, reductions); strip k of K asks every driver for its k-th share of
 * rows, and the needs run backwards through the steps, widened by each stage's reach. */
#ifndef SMP_RUN_SCHEDULE_H
#define SMP_RUN_SCHEDULE_H

#include "pipe/plan.h"

typedef struct smp_rows {
    int64_t from, to; /* rows to compute in this strip; from == to: none */
    int64_t first;    /* the first row that anything ever reads: none before it is computed */
    int64_t keep;     /* the first row of the step's output that this or a later strip still reads */
} smp_rows;

typedef struct smp_window {
    int64_t rows;     /* rows of memory for the step's output; the picture's height for frames; 0: no memory */
    int64_t retained; /* the most rows that stay when the window moves on */
    int64_t shown;    /* the most rows that a strip sees of it */
} smp_window;

/* Strips of phase `phase` when drivers advance strip_rows rows at a time (a multiple of plan->row_multiple). */
int64_t smp_strip_count(const smp_plan *plan, int phase, int64_t strip_rows);

/* Rows of each step (step_count entries) for strip k. Steps of other phases get empty rows. */
void smp_strip_needs(const smp_plan *plan, int phase, int64_t strip_rows, int64_t k, smp_rows *rows);

/* Where host and device share memory, rows that only go to one sink are computed in that sink's own memory: which sink
 * takes those of a step, or -1. */
int smp_zero_copy_sink(const smp_plan *plan, int index);

/* Window of each step (step_count entries), over all strips of all phases. */
smp_code smp_plan_windows(const smp_plan *plan, int64_t strip_rows, smp_window *windows, smp_error *err);

#endif
