/* Storage of a plan's steps: see storage.h. */
#include "pipe/plan/planner.h"

/* For every step, whether its output may be rounded when it is stored: all its consumers are sinks, or steps that only
 * move samples to sinks. */
static void find_last_stores(const smp_plan *plan, bool *last, bool *used)
{
    for (size_t i = 0; i < plan->step_count; i++)
        last[i] = true, used[i] = false;
    for (size_t i = 0; i < plan->sink_count; i++)
        used[plan->sinks[i].step] = true;
    for (int i = (int)plan->step_count - 1; i > 0; i--) {
        const smp_step *step = &plan->steps[i];
        if (step->input < 0)
            continue;
        bool passes = step->job == SMP_JOB_STAGE && step->work.values.exactness == SMP_MOVE && used[i] && last[i];
        used[step->input] = true;
        last[step->input] = last[step->input] && passes;
        if (step->second >= 0) {
            used[step->second] = true;
            last[step->second] = false;
        }
    }
}

/* Whether a step's output goes to one that reads samples as files hold them. */
static bool is_read_stored(const smp_plan *plan, size_t step)
{
    for (size_t i = step + 1; i < plan->step_count; i++)
        if (plan->steps[i].job == SMP_JOB_STAGE && plan->steps[i].work.values.stored &&
            plan->steps[i].input == (int)step)
            return true;
    return false;
}

void smp_plan_storage(smp_plan *plan, bool plain, bool *last, bool *used, bool *integers)
{
    find_last_stores(plan, last, used);
    for (size_t i = 0; i < plan->step_count; i++) {
        smp_step *step = &plan->steps[i];
        const smp_step *input = step->input >= 0 ? &plan->steps[step->input] : NULL;
        if (!input)
            integers[i] = step->out.format != SMP_F32;
        else if (step->job == SMP_JOB_REDUCE)
            integers[i] = integers[step->input];
        else
            integers[i] = step->work.values.exactness != SMP_REAL && integers[step->input] &&
                          (step->second < 0 || integers[step->second]) && !plain;
        if (step->job == SMP_JOB_REDUCE)
            step->storage = input->storage;
        else if (!input || integers[i] || (last[i] && used[i] && !plain))
            step->storage = step->out.format;
        else if (plain && step->stage->role == SMP_ROLE_CONVERT && last[i])
            step->storage = step->out.format;
        else
            step->storage = SMP_F32;
        if (step->job != SMP_JOB_REDUCE && ((input && step->work.values.stored) || is_read_stored(plan, i))) {
            step->storage = step->out.format;
            integers[i] = step->out.format != SMP_F32;
        }
    }
}

void smp_plan_clipping(smp_plan *plan)
{
    for (size_t i = 0; i < plan->step_count; i++) {
        smp_step *step = &plan->steps[i];
        if (step->input < 0)
            step->work.values.clips = step->out.format == SMP_F32;
        else
            step->work.values.clips = step->work.values.clips || plan->steps[step->input].work.values.clips;
    }
}

int smp_plan_coded_before(const smp_plan *plan, size_t sink, const smp_jpeg_params *coding)
{
    for (size_t i = 0; i < sink; i++) {
        const smp_step *step = &plan->steps[plan->sinks[i].step];
        if (plan->sinks[i].coded && step->input == plan->sinks[sink].step &&
            smp_jpeg_params_equal(step->params, coding))
            return plan->sinks[i].step;
    }
    return SMP_STEP_NONE;
}
