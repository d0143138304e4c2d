/* Kernels of files for pipelines (smp_foreign_lab of stages/foreign.h): compiled where they are .cu, executed by the
 * lab's machine. */
#pragma once

#include "lab/machine/warp.h"

/* Is told the result of each launch that the warp machine runs for a stage, until it is called with null. Not for
 * several threads at a time. */
typedef void smp_warp_observer(void *context, const smp_warp_result *result);
void smp_warp_observe_stage(smp_warp_observer *observer, void *context);
