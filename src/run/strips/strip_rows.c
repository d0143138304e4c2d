/* Chooses the height of strips: enough work for every thread or the GPU, and little memory. */
#include <math.h>

#include "base/checked.h"
#include "run/run.h"
#include "run/strips/step.h"

/* Rows of a strip so that the rows of inputs many times as high, which a slot of a stream holds, stay within bounds. */
static double most_shrunk_rows(const smp_plan *plan, double input_reach)
{
    enum { SLOT_BYTES = 64 << 20 };
    double most = INFINITY;
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->strip_share > 1)
            most = fmin(most, (SLOT_BYTES / (double)smp_row_bytes(&step->out, step->out.format) - input_reach) /
                                  step->strip_share);
    }
    return fmax(1, most);
}

/* Strips are small, so that the rings of slots hold most of one: while the device sends one to the writer, the reader
 * fills the next. Tiles fill a GPU by being low, and compute their reach anew, so that strips are many times as high as
 * that. JPEGs that the device decodes or codes are few bytes for the rings, and pictures for the device. */
static double gpu_strip_bytes(const smp_plan *plan, double reach_bytes)
{
    enum { GPU_STRIP_BYTES = 8 << 20, GPU_MOST_BYTES = 64 << 20, REACHES = 16 };
    for (size_t i = 0; i < plan->sink_count; i++)
        if (plan->sinks[i].coded)
            return GPU_MOST_BYTES;
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].stage && plan->steps[i].stage->role == SMP_ROLE_JPEG)
            return GPU_MOST_BYTES;
    return fmin(fmax(GPU_STRIP_BYTES, REACHES * reach_bytes), GPU_MOST_BYTES);
}

int64_t smp_strip_rows(const smp_plan *plan, const smp_device *device, int64_t wanted)
{
    enum { STRIP_BYTES = 1 << 20, SHRINKING_BYTES = 8 << 20, MOST_BYTES = 256 << 20 };
    if (wanted > 0)
        return (wanted + plan->row_multiple - 1) / plan->row_multiple * plan->row_multiple;
    const bool cpu = device && device->host_memory;
    double widest = 1, reach = 0, input_reach = 0; /* bytes of a row of a strip; reach in rows of a strip, of inputs */
    for (size_t i = 0; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        const double rows = (double)(step->reads.up + step->reads.down);
        widest = fmax(widest, (double)smp_row_bytes(&step->out, step->out.format) * step->strip_share);
        reach += rows / (step->strip_share * smp_row_map_ratio(&step->reads));
        input_reach += rows;
    }
    double rows = STRIP_BYTES / widest;
    if (device && !cpu)
        rows = gpu_strip_bytes(plan, reach * widest) / widest;
    /* every thread computes halo rows again: keep them a small part of a strip */
    const double units = cpu ? (double)smp_max_i64(1, device->info.units) : 1;
    rows = fmax(rows, fmin(3 * reach * units, MOST_BYTES / widest));
    rows = fmax(rows, fmin(3 * input_reach * units, SHRINKING_BYTES / widest));
    double multiple = (double)smp_max_i64(8, plan->row_multiple);
    const double fitting = cpu ? most_shrunk_rows(plan, input_reach) : INFINITY;
    if (ceil(rows / multiple) * multiple > fitting) {
        rows = fitting;
        multiple = (double)plan->row_multiple;
    }
    return (int64_t)(ceil(fmax(1, floor(rows)) / multiple) * multiple);
}
