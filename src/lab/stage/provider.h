/* Kernels of files for pipelines (stages/foreign.h): compiled where they are .cu, executed by the warp machine. */
#ifndef SMP_LAB_STAGE_PROVIDER_H
#define SMP_LAB_STAGE_PROVIDER_H

#include "lab/machine/warp.h"
#include "lab/stage/toolkit.h"

/* From now on stages find them. May be called again. */
void smp_warp_provide_stage(void);

/* Opens a file for a stage, so that it is at hand when a plan is made: a run that shut itself off from the file system
 * could not compile it any more. What is wrong with it is said when the plan is made. reach: what it may read, then,
 * too; is copied. A file that was not prepared may read its folder. */
void smp_warp_prepare_stage(const char *path, const smp_kernel_reach *reach);

/* Is told the result of each launch that the warp machine runs for a stage, until it is called with null. Not for
 * several threads at a time. */
typedef void smp_warp_observer(void *context, const smp_warp_result *result);
void smp_warp_observe_stage(smp_warp_observer *observer, void *context);

#endif
