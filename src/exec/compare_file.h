/* Comparing variants on a file: reads it whole, plans as a run to a picture in memory would, and compares. */
#ifndef SMP_EXEC_COMPARE_FILE_H
#define SMP_EXEC_COMPARE_FILE_H

#include "exec/compare.h"
#include "exec/exec.h"

/* run: program, diags, input, limits, device, plain_storage are used. request: all but plan and device. *out is filled
 * also on failure, as far as it went; the caller frees it. */
smp_code smp_compare_file(const smp_run_request *run, const smp_compare_request *request, smp_compare *out,
                          smp_error *err);

#endif
