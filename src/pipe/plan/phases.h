/* The phases of a finished plan: which steps stream together, which keep a whole frame, and how many rows of each a row
 * of a strip stands for. plan.h says what a phase is. */
#pragma once

#include "pipe/plan/plan.h"

/* Sets plan->phases and, of each step, phase, frame and strip_share. */
void smp_plan_phases(smp_plan *plan);
