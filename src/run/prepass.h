/* First passes over an input, before its plan is complete: a stage whose output's size depends on samples
 * (smp_node_plan.prepass.wanted) ends the plan with its reduction. That plan is run without outputs, and what it found
 * goes into the next one. */
#pragma once

#include "base/limits.h"
#include "pipe/plan/plan.h"
#include "run/result.h"

typedef struct smp_prepasses {
    smp_seen *found; /* for smp_plan_request */
    size_t count, capacity;
    smp_run_report *reports; /* of the runs, one each */
    size_t report_capacity;
} smp_prepasses;

/* Takes over the report of a run of `plan`, a prepass, and what it found. */
smp_code smp_prepasses_take(smp_prepasses *prepasses, const smp_plan *plan, smp_run_report *report, smp_error *err);

/* Appends the steps of all runs to those of `report`, and adds their times. */
smp_code smp_prepasses_report(smp_prepasses *prepasses, smp_run_report *report, smp_error *err);
void smp_prepasses_free(smp_prepasses *prepasses);

/* Whether a node of the program may want one. */
bool smp_program_has_prepass(const smp_program *program);

/* Makes standard input a file that can be read again: a pipe is read to its end into an unnamed file. *start is where
 * the input begins in it. */
smp_code smp_prepass_keep_stdin(const smp_limits *limits, int64_t *start, smp_error *err);

/* Goes back there. */
smp_code smp_prepass_rewind(int64_t start, smp_error *err);
