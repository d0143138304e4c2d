/* Shared by limit, compress and gate: the plan and the variants of kernels/audio/limit.h. */
#pragma once

#include "audio/limit.h"
#include "stages/stage.h"

enum { SMP_DYNAMICS_MOST = 60 /* dB that limit and compress turn down */ };

/* The kernel parameters are those of `k`, of which ahead, window, rise, back and bend are set here. ahead: seconds in
 * which the gain falls, called `name`; early: before the peak, not after it; rate: dB a second by which it rises. */
smp_code smp_dynamics_plan(const smp_limit *k, double ahead, const char *name, bool early, double rate,
                           const smp_shape *in, smp_node_plan *work, smp_error *err);

extern const smp_variant smp_dynamics_variants[3];
