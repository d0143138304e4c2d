/* Estimates the memory of a run of a plan without allocating it. The numbers follow strips.c and the devices. Codecs
 * are not counted. */
#pragma once

#include "device/device.h"
#include "pipe/plan/plan.h"
#include "run/strips/schedule.h"

/* The views that a step gets for a strip in the middle of the picture. second: data is null without a second input. */
void smp_memory_estimate_views(const smp_plan *plan, const smp_step *step, int64_t strip_rows, smp_view *in,
                               smp_view *out, smp_view *second);

/* The slots between codecs and steps: of the input, of files that steps name, of the outputs. */
int64_t smp_memory_estimate_streams(const smp_plan *plan, const smp_device *device, int64_t strip_rows,
                                    const smp_window *windows);

/* Memory of one step: `rows` rows of its output, its table, its result, and the scratch picture of the variant (null:
 * no variant). */
int64_t smp_memory_estimate_step(const smp_plan *plan, const smp_step *step, const smp_variant *variant, bool gpu,
                                 int64_t strip_rows, int64_t rows);

/* Scratch memory and private counters of all CPU threads, for the step that needs most; 0 on a GPU. wanted: as for
 * smp_step_variant. */
int64_t smp_memory_estimate_threads(const smp_plan *plan, const smp_device *device, const char *wanted,
                                    int64_t strip_rows);
