/* Finding what is fastest on this device for a pipeline on an input: each step by itself (variant, threads, launch
 * shapes), one of them after the other, then the height of strips with the whole pipeline. Candidates must have naive's
 * bytes; one is chosen when it is faster beyond doubt. */
#ifndef SMP_EXEC_TUNE_H
#define SMP_EXEC_TUNE_H

#include "exec/exec.h"
#include "report/tune.h"

typedef struct smp_tune_request {
    const smp_run_request *run; /* program, diags, input, limits, device, plain_storage are used, and progress */
    double time_limit;          /* seconds; what is begun ends a little later */
    int64_t repeat;             /* samples of each candidate at least */
    int threads;                /* of the CPU that results of a GPU are held against; 0: all */
} smp_tune_request;

/* What is chosen goes to *tuned; what was there about the same work and is not faster goes from it. *report is filled
 * also on failure; the caller frees it. */
smp_code smp_tune_file(const smp_tune_request *request, smp_tuned *tuned, smp_tune_report *report, smp_error *err);

#endif
