/* Compares variants on a file: reads it whole, plans as for a run to a picture in memory, and compares. */
#pragma once

#include "compare/compare.h"
#include "run/run.h"

/* Uses run's program, diags, input, read, device and plain_storage, and output when it is not null: the plan is then
 * for what a file of that name can hold. request: all but plan and device. *out is filled also on failure, as far as it
 * got; the caller frees it. */
smp_code smp_compare_file(const smp_run_request *run, const smp_compare_request *request, smp_compare *out,
                          smp_error *err);

/* Counts the shared-memory accesses of a run's launches, in separate launches, and adds them to its report. The input
 * must be a file that can be read again. SMP_E_DIFFERENT: model and GPU disagree. */
smp_code smp_count_run(const smp_run_request *run, int threads, smp_run_report *report, smp_error *err);
