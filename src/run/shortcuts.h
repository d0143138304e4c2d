/* Ways round decoding a whole picture. For run.c. */
#ifndef SMP_RUN_SHORTCUTS_H
#define SMP_RUN_SHORTCUTS_H

#include "run/run.h"

/* By how much the input may be decoded smaller (2, 4, 8), for outputs of the same size; 0: not. */
int smp_run_shrink(const smp_run_request *request, const smp_media *media);

/* Whether the input's coded picture can be the output's, once it was opened with smp_limits.coded and gave it. */
bool smp_run_copies(const smp_run_request *request, const smp_plan *plan, const smp_media *media);
smp_code smp_run_copy(const smp_run_request *request, const smp_plan *plan, const smp_media *media,
                      smp_run_report *report, smp_error *err);

#endif
