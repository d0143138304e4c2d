/* Computes the rows of every step for every strip: pure arithmetic over a plan. The drivers of a phase are the steps
 * whose rows are wanted for their own sake: sinks, frames, reductions. Strip k of K asks every driver for its k-th
 * share of rows. The needs run backwards through the steps, and each stage's reach widens them. */
#pragma once

#include "pipe/plan/plan.h"

typedef struct smp_rows {
    int64_t from, to; /* rows to compute in this strip; from == to: none */
    int64_t first;    /* the first row that any step ever reads; earlier rows are not computed */
    int64_t keep;     /* the first row of the step's output that this or a later strip reads */
} smp_rows;

typedef struct smp_window {
    int64_t rows;     /* rows of memory for the step's output; the picture's height for frames; 0: no memory */
    int64_t retained; /* the most rows that stay when the window moves on */
    int64_t shown;    /* the most rows of it that one strip sees */
    int frame_of; /* of a frame: the step whose memory it takes, since no later phase reads that; or itself. Of others
                   * -1 */
} smp_window;

/* Rows of a strip in this phase, where strip_rows are asked for. For a sound that is kept whole for a later phase they
 * are more: a picture's wide rows are few in a strip, and as many frames would take a turn of every thread for some
 * bytes. */
int64_t smp_phase_rows(const smp_plan *plan, int phase, int64_t strip_rows);

/* The number of strips of phase `phase` when drivers advance strip_rows rows at a time (a multiple of
 * plan->row_multiple). */
int64_t smp_strip_count(const smp_plan *plan, int phase, int64_t strip_rows);

/* The rows of each step (step_count entries) for strip k. Steps of other phases get empty rows. */
void smp_strip_needs(const smp_plan *plan, int phase, int64_t strip_rows, int64_t k, smp_rows *rows);

/* The rows of a source that a run reads: 0 .. n-1. Those below are never read, whatever the strips: damage among them
 * is not found. */
smp_code smp_rows_needed(const smp_plan *plan, int source, int64_t *rows, smp_error *err);

/* The sink whose memory step `index` can write directly (zero copy), or -1. The step's rows must go to one sink and
 * nowhere else. Only for devices that share the host's memory. */
int smp_zero_copy_sink(const smp_plan *plan, int index);

/* The window of each step (step_count entries), large enough for all strips of all phases. */
smp_code smp_plan_windows(const smp_plan *plan, int64_t strip_rows, smp_window *windows, smp_error *err);
