/* Comparing variants on a file: reads it whole, plans as a run to a picture in memory would, and compares. */
#ifndef SMP_COMPARE_INPUT_H
#define SMP_COMPARE_INPUT_H

#include "compare/compare.h"
#include "run/run.h"

/* run: program, diags, input, limits, device, plain_storage are used, and output, when it is not null, for what a file
 * of that name can hold. request: all but plan and device. *out is filled also on failure, as far as it went; the
 * caller frees it. */
smp_code smp_compare_file(const smp_run_request *run, const smp_compare_request *request, smp_compare *out,
                          smp_error *err);

/* Counts the shared-memory accesses of what a run launched, in launches of their own, and adds them to its report. The
 * input must be a file that can be read again. SMP_E_DIFFERENT: model and GPU disagree. */
smp_code smp_count_run(const smp_run_request *run, int threads, smp_run_report *report, smp_error *err);

#endif
