/* The memory of a run: see memory_estimate.h. */
#include "run/strips/memory_estimate.h"

#include "base/checked.h"
#include "run/file_source.h"
#include "run/strips/step.h"

static smp_view view_of(const smp_step *step, int64_t rows)
{
    return smp_probe_view(&step->out, step->storage, rows);
}

/* The rows of its input that a step reads for one strip. */
static int64_t rows_read(const smp_step *step, int64_t strip_rows)
{
    return step->whole_input ? step->in.height : smp_row_map_most(&step->reads, step->in.height, strip_rows);
}

void smp_memory_estimate_views(const smp_plan *plan, const smp_step *step, int64_t strip_rows, smp_view *in,
                               smp_view *out, smp_view *second)
{
    const smp_step *input = &plan->steps[step->input];
    strip_rows = smp_phase_rows(plan, step->phase, strip_rows);
    *second = (smp_view){.data = NULL};
    *in = view_of(input, rows_read(step, strip_rows));
    *out = view_of(step, strip_rows);
    if (step->job == SMP_JOB_REDUCE)
        *out = *in = view_of(input, strip_rows);
    if (step->second >= 0) {
        const smp_step *by = &plan->steps[step->second];
        *second = view_of(by, step->whole_second ? by->out.height
                                                 : smp_row_map_most(&step->reads_second, by->out.height, strip_rows));
    }
}

int64_t smp_memory_estimate_streams(const smp_plan *plan, const smp_device *device, int64_t strip_rows,
                                    const smp_window *windows)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_shape *shape = &plan->steps[i].out;
        const bool by_strips = smp_source_by_strips(plan, (int)i, device);
        const int64_t rows =
            by_strips ? windows[i].shown
                      : smp_source_slot(shape, smp_phase_rows(plan, plan->steps[i].phase, strip_rows), device);
        if (plan->steps[i].job == SMP_JOB_SOURCE)
            bytes += smp_stream_read_bytes(shape, rows, by_strips, device);
    }
    for (size_t i = 0; i < plan->sink_count; i++)
        bytes += smp_stream_write_bytes(&plan->sinks[i].rows, strip_rows, device);
    return bytes;
}

int64_t smp_memory_estimate_step(const smp_plan *plan, const smp_step *step, const smp_variant *variant, bool gpu,
                                 int64_t strip_rows, int64_t rows)
{
    enum { TABLES = 3 }; /* the plan's, the run's (a reduction may fill it in), the device's */
    int64_t bytes = rows * smp_row_stride(&step->out, step->storage) + TABLES * (int64_t)step->work.table.size;
    if (step->job == SMP_JOB_REDUCE)
        bytes += (int64_t)step->work.reduction.size;
    if (variant && smp_step_uses_scratch(step, plan->steps[step->input].storage, &step->work, variant, gpu))
        bytes += smp_step_scratch_rows(step, rows_read(step, smp_phase_rows(plan, step->phase, strip_rows))) *
                 smp_step_scratch_stride(step);
    return bytes;
}

int64_t smp_memory_estimate_threads(const smp_plan *plan, const smp_device *device, const char *wanted,
                                    int64_t strip_rows)
{
    int64_t scratch = 0, counters = 0;
    for (size_t i = 0; device->host_memory && i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->job == SMP_JOB_SOURCE)
            continue;
        const smp_variant *variant = smp_step_variant(step, wanted);
        smp_view in, out, second;
        smp_memory_estimate_views(plan, step, strip_rows, &in, &out, &second);
        for (int k = 0; k < SMP_MAX_LAUNCHES; k++) {
            const smp_launch *launch = &variant->launches[k];
            size_t at, size;
            bool counts;
            if (!smp_launch_runs(launch, false))
                continue;
            smp_io io = smp_step_views(step, launch, &in, &out, &second, SMP_PROBE_ADDRESS);
            if (variant->scratch)
                scratch = smp_max_i64(scratch, (int64_t)variant->scratch(&io, step->work.kernel.bytes));
            if (step->job == SMP_JOB_REDUCE && smp_result_part(&step->work.reduction, launch, &at, &size, &counts) &&
                counts)
                counters = smp_max_i64(counters, (int64_t)size);
        }
    }
    return device->info.units * (scratch + counters);
}
