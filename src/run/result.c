/* See result.h. */
#include "run/result.h"

#include "base/alloc.h"

void smp_run_report_free(smp_run_report *report)
{
    for (size_t i = 0; i < report->step_count; i++) {
        smp_measurements_free(&report->steps[i].measurements);
        smp_free(report->steps[i].partial);
    }
    smp_free_all(report->steps, report->drawn);
    report->drawn = NULL;
    report->steps = NULL;
    report->step_count = 0;
}
