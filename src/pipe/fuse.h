/* What the planner does to a plan's steps once they stand: leaving some out, joining others. Internal to pipe/. */
#ifndef SMP_PIPE_FUSE_H
#define SMP_PIPE_FUSE_H

#include "pipe/plan.h"

/* Frees what a step owns. */
void smp_step_free(smp_step *step);

/* Leaves out steps that are not to be kept, in order, and renumbers what refers to the others. moved: an int a step. */
void smp_plan_keep(smp_plan *plan, const bool *keep, int *moved);

/* Joins runs of steps that make each sample from that sample alone (smp_node_plan.map) into one step each, which gives
 * the bytes, and the count of clipped samples, that they give one by one: between them values are f32, or integers
 * that f32 holds. Storage and clipping of the steps must be known. */
smp_code smp_plan_fuse(smp_plan *plan, smp_error *err);

#endif
