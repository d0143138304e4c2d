/* Phases and strips: see phases.h. */
#include "pipe/plan/planner.h"

#include <limits.h>
#include <math.h>

#include "base/checked.h"

/* The last phase in which step `index` may run: that of the earliest step that reads it. Its own, where its rows are
 * wanted for their own sake. */
static int latest_phase(const smp_plan *plan, int index)
{
    int latest = INT_MAX;
    for (size_t i = 0; i < plan->sink_count; i++)
        if (plan->sinks[i].step == index)
            return plan->steps[index].phase;
    for (size_t i = (size_t)index + 1; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->reduced_by == index)
            return plan->steps[index].phase;
        if (step->input == index)
            latest = step->phase - step->whole_input < latest ? step->phase - step->whole_input : latest;
        if (step->second == index)
            latest = step->phase - step->whole_second < latest ? step->phase - step->whole_second : latest;
    }
    return latest == INT_MAX || plan->steps[index].job == SMP_JOB_REDUCE ? plan->steps[index].phase : latest;
}

/* If a step waits for the whole of its second picture, the steps that make the first wait as well: that one then
 * streams and is not a frame. */
static void wait_for_second(smp_plan *plan)
{
    bool waits = false;
    for (size_t i = 0; i < plan->step_count; i++)
        waits = waits || (plan->steps[i].whole_second && !plan->steps[i].whole_input);
    for (size_t i = plan->step_count; waits && i-- > 0;)
        plan->steps[i].phase = latest_phase(plan, (int)i);
}

static void set_phases(smp_plan *plan)
{
    plan->phases = 1;
    for (size_t i = 0; i < plan->step_count; i++) {
        smp_step *step = &plan->steps[i];
        step->phase = 0;
        step->frame = false;
        if (step->input >= 0)
            step->phase = plan->steps[step->input].phase + (step->whole_input ? 1 : 0);
        if (step->second >= 0) /* the second input streams beside the first, or is a complete frame */
            step->phase = (int)smp_max_i64(step->phase, plan->steps[step->second].phase + (step->whole_second ? 1 : 0));
        if (step->reduced_by >= 0)
            step->phase = (int)smp_max_i64(step->phase, plan->steps[step->reduced_by].phase + 1);
        plan->phases = (int)smp_max_i64(plan->phases, step->phase + 1);
    }
    wait_for_second(plan);
    for (size_t i = 1; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->input < 0)
            continue;
        smp_step *input = &plan->steps[step->input];
        input->frame = input->frame || input->phase < step->phase;
        if (step->second >= 0)
            plan->steps[step->second].frame =
                plan->steps[step->second].frame || plan->steps[step->second].phase < step->phase;
    }
}

/* Sets each step's rows in a strip: before a stage that makes fewer rows than it reads they are more than behind it. */
static void set_strip_shares(smp_plan *plan)
{
    for (size_t i = 0; i < plan->step_count; i++)
        plan->steps[i].strip_share = 0;
    for (size_t i = plan->step_count; i-- > 0;) {
        smp_step *step = &plan->steps[i];
        step->strip_share = step->strip_share > 0 ? step->strip_share : 1; /* of what nothing streams from */
        const int inputs[] = {step->input, step->second};
        for (int k = 0; k < 2; k++)
            if (inputs[k] >= 0 && plan->steps[inputs[k]].phase == step->phase) {
                smp_step *from = &plan->steps[inputs[k]];
                from->strip_share = fmax(from->strip_share, step->strip_share * smp_row_map_ratio(&step->reads));
            }
    }
}

void smp_plan_phases(smp_plan *plan)
{
    set_phases(plan);
    set_strip_shares(plan);
}
