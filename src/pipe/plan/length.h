/* Plans for a sound whose length is not known while it is read: they are made for one longer than any, and get the
 * length once it has ended. */
#pragma once

#include "pipe/plan/plan.h"

/* Whether two plans of one program, for a sound and for a longer one, compute the same rows as far as the shorter
 * reaches, and each from rows that precede its end by no more than a reach: then rows may be computed before the length
 * is known. The plans have one phase. */
bool smp_plans_agree(const smp_plan *shorter, const smp_plan *longer);

/* Gives all steps and sinks the heights that follow from so many frames of the input. *failed: the step that cannot
 * have them, of which nothing may be left; else SMP_STEP_NONE. *differs: the first step that would compute its rows in
 * another way had the length been known, or SMP_STEP_NONE. */
smp_code smp_plan_set_length(smp_plan *plan, int64_t frames, int *differs, int *failed, smp_error *err);
