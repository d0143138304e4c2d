/* Drops and joins the steps of a plan: see fuse.h. */
#include "pipe/plan/planner.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "stages/shared/samples/op_chains.h"

void smp_step_free(smp_step *step)
{
    for (size_t i = 0; i < step->part_count; i++)
        smp_free(step->parts[i].params);
    smp_free_all(step->parts, step->params, step->work.table.data);
}

/* Drops the steps that are not to be kept and renumbers the references to the others. moved: scratch, an int for each
 * step. */
static void keep_steps(smp_plan *plan, const bool *keep, int *moved)
{
    int kept = 0;
    for (int i = 0; i < (int)plan->step_count; i++) {
        moved[i] = keep[i] ? kept : SMP_STEP_NONE;
        if (!keep[i]) {
            smp_step_free(&plan->steps[i]);
            continue;
        }
        smp_step step = plan->steps[i];
        step.input = step.input >= 0 ? moved[step.input] : step.input;
        step.second = step.second >= 0 ? moved[step.second] : step.second;
        step.reduced_by = step.reduced_by >= 0 ? moved[step.reduced_by] : step.reduced_by;
        plan->steps[kept++] = step;
    }
    plan->step_count = (size_t)kept;
    for (size_t i = 0; i < plan->sink_count; i++)
        plan->sinks[i].step = moved[plan->sinks[i].step];
}

/* Whether a reduction is wanted for what it tells, and not for the step alone that it adjusts. */
static bool tells(const smp_step *step)
{
    return step->stage->access == SMP_REDUCE || smp_stage_partials(step->stage) || step->work.access == SMP_REDUCE;
}

void smp_plan_prune(smp_plan *plan, bool *needed, int *moved)
{
    for (size_t i = 0; i < plan->sink_count; i++)
        needed[plan->sinks[i].step] = true;
    for (int i = (int)plan->step_count - 1; i >= 0; i--) {
        const smp_step *step = &plan->steps[i];
        const bool wanted =
            step->job == SMP_JOB_REDUCE && (plan->prepass >= 0 ? step->work.prepass.wanted : tells(step));
        needed[i] = needed[i] || i == 0 || wanted;
        if (!needed[i])
            continue;
        for (int k = 0; k < 3; k++) {
            int from = k == 0 ? step->input : k == 1 ? step->second : step->reduced_by;
            if (from >= 0)
                needed[from] = true;
        }
    }
    keep_steps(plan, needed, moved);
}

/* Counts the steps and sinks that read each step's picture. */
static void count_uses(const smp_plan *plan, int *uses)
{
    memset(uses, 0, plan->step_count * sizeof *uses);
    for (size_t i = 0; i < plan->step_count; i++) {
        if (plan->steps[i].input >= 0)
            uses[plan->steps[i].input]++;
        if (plan->steps[i].second >= 0)
            uses[plan->steps[i].second]++;
    }
    for (size_t i = 0; i < plan->sink_count; i++)
        uses[plan->sinks[i].step]++;
}

/* The operations of a step, joined already or not; none where a sample's result depends on more than that sample. */
static smp_op_chain chain_of(const smp_step *step)
{
    smp_op_chain chain = {.count = 0};
    bool one = step->job == SMP_JOB_STAGE && step->second < 0 && step->reduced_by < 0 &&
               step->in.channels == step->out.channels && step->in.alpha == step->out.alpha;
    if (step->part_count)
        memcpy(&chain, step->work.kernel.bytes, sizeof chain);
    else if (one && step->work.values.op.kind)
        chain.op[chain.count++] = step->work.values.op;
    return chain;
}

/* Moves what `step` stands for (itself, or its parts) to the end of `to`, which has room. */
static void move_parts(smp_step *to, smp_step *step)
{
    if (!step->part_count) {
        smp_part *part = &to->parts[to->part_count++];
        *part = (smp_part){.stage = step->stage, .params = step->params, .node = step->node};
        memcpy(part->label, step->label, sizeof part->label);
        step->params = NULL;
        return;
    }
    for (size_t i = 0; i < step->part_count; i++)
        to->parts[to->part_count++] = step->parts[i];
    step->part_count = 0;
}

/* The kernels convert X to X, X to f32 and f32 to X. */
static bool has_kernel(smp_format from, smp_format to)
{
    return from == to || from == SMP_F32 || to == SMP_F32;
}

/* "levels white=50% + threshold": the labels of the parts, or only their stages when the labels are too long. */
static void join_labels(smp_step *step)
{
    size_t size = sizeof step->label, used = size;
    for (int names = 0; names < 2 && used >= size; names++) {
        used = 0;
        for (size_t i = 0; i < step->part_count && used < size; i++) {
            const smp_part *part = &step->parts[i];
            const char *text = names ? part->stage->name : part->label;
            used += (size_t)snprintf(step->label + used, size - used, "%s%s", i ? " + " : "", text);
        }
    }
}

/* Makes `second` do the work of both, as `stage` with that plan. `first`, its input, is left empty. */
static smp_code join(smp_step *first, smp_step *second, const smp_stage *stage, const smp_node_plan *work,
                     smp_error *err)
{
    smp_step joined = *second;
    const size_t parts = (first->part_count ? first->part_count : 1) + (second->part_count ? second->part_count : 1);
    joined.part_count = 0;
    joined.parts = smp_alloc_array(parts, sizeof *joined.parts);
    SMP_NEED(joined.parts, "the plan", parts * sizeof *joined.parts, err);
    move_parts(&joined, first);
    move_parts(&joined, second);
    smp_free_all(second->parts, second->work.table.data);
    joined.stage = stage;
    joined.params = NULL;
    joined.input = first->input;
    joined.in = first->in;
    joined.work = *work;
    joined.reads = smp_row_map_of(work);
    join_labels(&joined);
    *second = joined;
    return SMP_OK;
}

/* Joins step `index` with its input, if both compute each sample from that sample alone. */
static smp_code join_samples(smp_plan *plan, const smp_stage *stage, const int *uses, int index, bool *keep,
                             smp_error *err)
{
    const int input = plan->steps[index].input;
    if (!stage || input < 0 || uses[input] != 1)
        return SMP_OK;
    smp_step *first = &plan->steps[input], *second = &plan->steps[index];
    smp_op_chain chain = chain_of(first), more = chain_of(second);
    if (!chain.count || !more.count || chain.count + more.count > SMP_SAMPLE_OP_MOST ||
        !has_kernel(plan->steps[first->input].storage, second->storage))
        return SMP_OK;
    for (int k = 0; k < more.count; k++)
        chain.op[chain.count++] = more.op[k];
    smp_op_chain_shorten(&chain);
    smp_node_plan work = {.out = second->out,
                          .access = SMP_POINT,
                          .values.exactness = second->work.values.exactness,
                          .values.clips = second->work.values.clips,
                          .change.makes_srgb = first->work.change.makes_srgb || second->work.change.makes_srgb,
                          .kernel.size = sizeof chain,
                          .ops = first->work.ops + second->work.ops};
    memcpy(work.kernel.bytes, &chain, sizeof chain);
    smp_code code = join(first, second, stage, &work, err);
    keep[input] = code != SMP_OK;
    return code;
}

smp_code smp_plan_fuse(smp_plan *plan, smp_error *err)
{
    const smp_stage *samples = smp_stage_with_role(SMP_ROLE_OP_CHAIN);
    const int n = (int)plan->step_count;
    int *uses = smp_alloc_array(2 * (size_t)n, sizeof *uses);
    bool *keep = smp_alloc_array((size_t)n, sizeof *keep);
    smp_code code = uses && keep ? SMP_OK : smp_fail_memory(err, "the plan", (size_t)n);
    if (!code) {
        count_uses(plan, uses);
        for (int i = 0; i < n; i++)
            keep[i] = true;
        for (int i = 1; !code && i < n; i++)
            code = join_samples(plan, samples, uses, i, keep, err);
        if (!code)
            keep_steps(plan, keep, uses + n);
    }
    smp_free_all(uses, keep);
    return code;
}
