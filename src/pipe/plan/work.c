/* Estimates the work of a pipeline: see work.h. */
#include "pipe/plan/plan.h"

double smp_program_operations(const smp_program *program, const smp_shape *shape, const char *output)
{
    const smp_plan_request ask = {.program = program, .input = *shape, .output = output};
    smp_plan *plan = NULL;
    double sum = 0;
    if (smp_plan_make(&ask, NULL, &plan, NULL))
        return 0;
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_shape *out = &plan->steps[i].out;
        sum += plan->steps[i].work.ops * (double)out->width * (double)out->height * out->channels;
    }
    smp_plan_free(plan);
    return sum;
}
