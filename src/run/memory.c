/* Runs over pictures in memory, without files: see run.h. */
#include "base/checked.h"
#include "base/clock.h"
#include "run/run.h"
#include "run/run_internal.h"
#include "run/strips/runner.h"
#include "run/strips/step.h"

bool smp_run_view(const smp_shape *shape, smp_view *view, size_t *bytes)
{
    const int64_t stride = smp_row_stride(shape, shape->format);
    *view = (smp_view){.stride = stride,
                       .width = shape->width,
                       .height = shape->height,
                       .rows = shape->height,
                       .channels = shape->channels,
                       .format = (int32_t)shape->format,
                       .white = smp_white(shape->format),
                       .alpha = shape->alpha};
    return smp_mul_size((size_t)stride, (size_t)shape->height, bytes);
}

smp_code smp_run_memory(const smp_plan *plan, smp_device *device, const char *variant, int64_t strip_rows,
                        const smp_view *in, const smp_view *out, smp_run_report *report, smp_error *err)
{
    *report = (smp_run_report){.device = device->info, .threads = device->info.units};
    double start = smp_now();
    smp_endpoint source = {.view = *in}, sink = {0};
    int failed;
    if (plan->sink_count > 1)
        return smp_fail(err, SMP_E_PROCESS, "a run in memory has one output, the plan has %zu", plan->sink_count);
    if (plan->sink_count)
        sink.view = *out;
    smp_runner_setup setup = {.plan = plan,
                              .device = device,
                              .variant = variant,
                              .strip_rows = strip_rows,
                              .any_range = true,
                              .source = &source,
                              .sinks = &sink};
    smp_code code = smp_runner_run(&setup, report, &failed, err);
    report->status = code;
    report->wall_seconds = smp_now() - start;
    return code;
}
