/* What tests of comparisons share. */
#ifndef SMP_TESTS_COMPARE_CASE_H
#define SMP_TESTS_COMPARE_CASE_H

#include "gpu_case.h"

#include "compare/compare.h"

/* The comparison of a job's plan, which must succeed; the caller frees it. */
static smp_compare compare_on(const gpu_job *job, smp_device *device, smp_compare_request request)
{
    smp_compare found;
    smp_error err = {0};
    request.plan = job->plan;
    request.device = device;
    request.threads = 1;
    if (smp_compare_plan(&request, &job->in.view, &found, &err))
        fail_msg("%s", err.message);
    return found;
}

#endif
