/* Chooses how the samples of each step of a plan are stored, and where stores can clamp. plan.h says why. */
#pragma once

#include "media/jpeg_params.h"
#include "pipe/plan/plan.h"

/* Sets each step's storage. plain: f32 on every edge. The arrays are scratch, an entry a step. */
void smp_plan_storage(smp_plan *plan, bool plain, bool *last, bool *used, bool *integers);

/* Sets work.values.clips: whether values outside 0..white can reach a step's store, so that clamping is worth counting.
 */
void smp_plan_clipping(smp_plan *plan);

/* The step that codes the same picture alike for an earlier sink; or SMP_STEP_NONE. */
int smp_plan_coded_before(const smp_plan *plan, size_t sink, const smp_jpeg_params *coding);
