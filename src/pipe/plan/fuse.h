/* Drops some of a plan's finished steps and joins others. Internal to src/pipe. */
#pragma once

#include "pipe/plan/plan.h"

/* Frees what a step owns. */
void smp_step_free(smp_step *step);

/* Drops the steps that neither a sink nor a reduction needs. Keeps the order. needed: scratch, false for each step and
 * sink; moved as above. */
void smp_plan_prune(smp_plan *plan, bool *needed, int *moved);

/* Joins runs of steps that compute each sample from that sample alone (smp_node_plan.values.op) into one step each. It
 * gives the same bytes and the same count of clipped samples: the values between the steps are f32, or integers that
 * f32 holds exactly. The storage and clipping of the steps must be known. */
smp_code smp_plan_fuse(smp_plan *plan, smp_error *err);
