/* Ways round decoding a whole picture. For run_file.c. */
#pragma once

#include "run/run.h"

/* Opens the input again, to be decoded smaller, where that gives outputs of the same size. */
smp_code smp_run_shrink(const smp_run_request *request, smp_reader **reader, smp_error *err);

/* Writes the input's coded picture to the output, where no step changes it: *copied. The reader may be another one
 * afterwards. */
smp_code smp_run_copy(const smp_run_request *request, const smp_plan *plan, smp_reader **reader, smp_run_report *report,
                      bool *copied, smp_error *err);
