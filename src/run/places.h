/* Where the outputs of a run lie: none twice, and those that a pipeline saves below the folder of the main one.
 * Internal to src/run. */
#ifndef SMP_RUN_PLACES_H
#define SMP_RUN_PLACES_H

#include "run/run_internal.h"

/* outputs: one for each sink of the plan, [0] the main output. */
smp_code smp_check_places(const smp_run_request *request, const smp_plan *plan, const smp_run_output *outputs,
                          smp_error *err);

#endif
