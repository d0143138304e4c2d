/* Steps of a plan: what a stage says for its inputs, and the conversions that the planner inserts (see planner.h). */
#include "pipe/plan/planner.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/checked.h"

smp_step *smp_planner_add_step(smp_planner *p, int *index)
{
    smp_plan *plan = p->plan;
    size_t want = plan->step_count + 1, slots = want * SMP_ROLES;
    *index = SMP_STEP_NONE;
    if (!smp_grow(&plan->steps, &plan->step_capacity, want, sizeof *plan->steps) ||
        !smp_grow(&p->converted, &p->converted_capacity, slots, sizeof *p->converted)) {
        smp_fail_memory(p->err, "the plan", want * sizeof *plan->steps);
        return NULL;
    }
    for (size_t i = slots - SMP_ROLES; i < slots; i++)
        p->converted[i] = SMP_STEP_NONE;
    *index = (int)plan->step_count++;
    smp_step *step = &plan->steps[*index];
    *step =
        (smp_step){.input = SMP_STEP_NONE, .second = SMP_STEP_NONE, .reduced_by = SMP_STEP_NONE, .node = SMP_NODE_NONE};
    return step;
}

bool smp_planner_second_is(const smp_stage *stage, unsigned flag)
{
    for (const smp_param *param = stage->params; param && param->name; param++)
        if (param->type == SMP_T_OPERAND && (param->flags & flag))
            return true;
    return false;
}

smp_code smp_planner_work_out(smp_planner *p, int index, const smp_stage *stage, void *params, int input, int second)
{
    smp_step *steps = p->plan->steps, *step = &steps[index];
    step->job = SMP_JOB_STAGE;
    step->stage = stage;
    step->params = params;
    step->input = input;
    step->second = second;
    step->in = steps[input].out;
    step->work.out = step->in;
    step->work.access = stage->access;
    step->work.reduction.reducers = smp_stage_reducers(stage);
    step->work.values.linear = steps[input].linear;
    step->work.probing = p->request->shapes;
    if (stage->plan)
        SMP_TRY(stage->plan(params, &step->in, second >= 0 ? &steps[second].out : NULL, &step->work, p->err));
    if (step->work.out.channels != step->in.channels)
        step->work.out.speakers = 0;
    step->out = step->work.out;
    if (stage->role == SMP_ROLE_NONE && step->in.format != SMP_F32 && step->out.format == SMP_F32)
        step->work.values.clips = true; /* measures, not light: of any range */
    step->premultiplied = steps[input].premultiplied && step->out.alpha;
    step->linear = steps[input].linear && !step->work.values.no_light;
    step->reads = step->reads_second = smp_row_map_of(&step->work);
    if (step->work.rows.second_own)
        step->reads_second = (smp_row_map){.add = step->work.rows.second_add};
    p->plan->row_multiple = smp_max_i64(p->plan->row_multiple, step->work.rows.unit);
    step->whole_input = step->work.rows.whole || step->work.access == SMP_WHOLE;
    step->whole_second = step->whole_input || (second >= 0 && smp_planner_second_is(stage, SMP_P_ANYSIZE));
    return SMP_OK;
}

int smp_planner_insert(smp_planner *p, smp_role role, int from, int64_t value)
{
    const smp_stage *stage = smp_stage_with_role(role);
    if (!stage) {
        smp_fail(p->err, SMP_E_PROCESS, "this build has no stage for what the planner must insert (role %d)",
                 (int)role);
        return SMP_STEP_NONE;
    }
    int index;
    if (!smp_planner_add_step(p, &index))
        return SMP_STEP_NONE;
    void *params = smp_alloc(stage->params_size ? stage->params_size : 1);
    if (!params) {
        smp_fail_memory(p->err, "the plan", stage->params_size);
        return SMP_STEP_NONE;
    }
    p->plan->steps[index].params = params;
    if (smp_default_params(stage, params, p->err))
        return SMP_STEP_NONE;
    if (role == SMP_ROLE_CONVERT)
        ((smp_convert_params *)params)->format = (int)value;
    else if (role == SMP_ROLE_ORIENT)
        ((smp_orient_params *)params)->orientation = value;
    else if (role == SMP_ROLE_JPEG)
        *(smp_jpeg_source *)params = (smp_jpeg_source){.width = p->request->input.width,
                                                       .height = p->request->input.height,
                                                       .channels = p->request->input.channels,
                                                       .across = p->request->across,
                                                       .down = p->request->down};
    else if (role == SMP_ROLE_JPEG_ENCODE)
        *(smp_jpeg_params *)params = *p->coding;
    else if (role == SMP_ROLE_RATE)
        ((smp_rate_params *)params)->rate = (double)value;
    else if (role == SMP_ROLE_CHANNELS)
        ((smp_channels_params *)params)->mode = (int)value - 1;
    else if (role == SMP_ROLE_SIZE)
        *(smp_size_params *)params = *p->size;
    else if (role == SMP_ROLE_LINEAR || role == SMP_ROLE_ENCODED)
        ((smp_light_params *)params)->curve = p->to_srgb ? 0 : fmax(0, p->plan->steps[from].out.curve);
    if (smp_planner_work_out(p, index, stage, params, from, SMP_STEP_NONE))
        return SMP_STEP_NONE;
    smp_step *step = &p->plan->steps[index];
    if (role == SMP_ROLE_JPEG)
        step->out = step->work.out = p->request->input;
    snprintf(step->label, sizeof step->label, "(%s)", stage->name);
    step->premultiplied = role == SMP_ROLE_PREMULTIPLY || (role != SMP_ROLE_STRAIGHT && step->premultiplied);
    step->linear = role == SMP_ROLE_LINEAR || (role != SMP_ROLE_ENCODED && step->linear);
    return index;
}

/* smp_planner_insert, but branches that need the same conversion of one step share it. */
static int converted(smp_planner *p, smp_role role, int from)
{
    int known = p->converted[(size_t)from * SMP_ROLES + role];
    if (known >= 0)
        return known;
    int index = smp_planner_insert(p, role, from, 0);
    if (index >= 0)
        p->converted[(size_t)from * SMP_ROLES + role] = index;
    return index;
}

int smp_planner_in_state(smp_planner *p, int from, bool premultiplied, bool linear)
{
    const smp_step *step = &p->plan->steps[from];
    if (step->out.kind == SMP_AUDIO)
        return from;
    if (step->linear != linear && step->out.curve != 1) { /* else they are linear as they come */
        if (step->premultiplied && (from = converted(p, SMP_ROLE_STRAIGHT, from)) < 0)
            return from;
        if ((from = converted(p, linear ? SMP_ROLE_LINEAR : SMP_ROLE_ENCODED, from)) < 0)
            return from;
        step = &p->plan->steps[from];
    }
    if (step->out.alpha && step->premultiplied != premultiplied)
        from = converted(p, premultiplied ? SMP_ROLE_PREMULTIPLY : SMP_ROLE_STRAIGHT, from);
    return from;
}
