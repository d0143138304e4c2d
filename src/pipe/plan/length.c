/* See length.h. */
#include "pipe/plan/plan.h"

#include <string.h>

#include "base/alloc.h"

static bool same_map(const smp_row_map *a, const smp_row_map *b)
{
    return a->num == b->num && a->den == b->den && a->add == b->add && a->up == b->up && a->down == b->down &&
           a->span_count == b->span_count;
}

static bool same_but_height(const smp_shape *a, const smp_shape *b)
{
    return a->kind == b->kind && a->width == b->width && a->channels == b->channels && a->format == b->format &&
           a->rate == b->rate;
}

static bool same_bytes(const void *a, size_t a_size, const void *b, size_t b_size)
{
    return a_size == b_size && !a == !b && (!a || !memcmp(a, b, a_size));
}

static bool same_work(const smp_node_plan *a, const smp_node_plan *b)
{
    return same_bytes(a->kernel.bytes, a->kernel.size, b->kernel.bytes, b->kernel.size) &&
           same_bytes(a->table.data, a->table.size, b->table.data, b->table.size) &&
           !memcmp(&a->values.op, &b->values.op, sizeof a->values.op) && a->access == b->access &&
           a->rows.unit == b->rows.unit && a->variants == b->variants &&
           a->reduction.reducers == b->reduction.reducers && a->rows.second_own == b->rows.second_own &&
           a->rows.second_add == b->rows.second_add && same_but_height(&a->between, &b->between) &&
           a->between.height == b->between.height && !a->rows.needs_height && !b->rows.needs_height &&
           a->reduction.kind == b->reduction.kind && a->reduction.size == b->reduction.size &&
           a->prepass.wanted == b->prepass.wanted;
}

/* Whether the rows that the longer sound has more of a step need what the shorter does not have of its input. */
static bool ends_with_input(const smp_plan *shorter, const smp_plan *longer, int index)
{
    const smp_step *a = &shorter->steps[index], *b = &longer->steps[index];
    int64_t first, end;
    if (a->out.height == b->out.height)
        return true;
    smp_row_map_reads(&b->reads, b->in.height, a->out.height, a->out.height + 1, &first, &end);
    return a->out.height < b->out.height && end > a->in.height;
}

bool smp_plans_agree(const smp_plan *shorter, const smp_plan *longer)
{
    bool agree = shorter->step_count == longer->step_count && shorter->sink_count == longer->sink_count &&
                 shorter->phases == 1 && longer->phases == 1;
    for (size_t i = 0; agree && i < shorter->step_count; i++) {
        const smp_step *a = &shorter->steps[i], *b = &longer->steps[i];
        agree = a->job == b->job && a->stage == b->stage && a->node == b->node && a->input == b->input &&
                a->second == b->second && a->storage == b->storage && a->part_count == b->part_count &&
                same_but_height(&a->out, &b->out) && same_map(&a->reads, &b->reads) &&
                same_map(&a->reads_second, &b->reads_second) && same_work(&a->work, &b->work);
        if (agree && a->job == SMP_JOB_STAGE)
            agree = ends_with_input(shorter, longer, (int)i);
    }
    return agree;
}

/* The height of a step's output where its input has the height of step->in. *alike: it is computed as before. */
static smp_code height_of(const smp_plan *plan, const smp_step *step, int64_t *height, bool *alike, smp_error *err)
{
    smp_node_plan work = {.out = step->in,
                          .access = step->stage->access,
                          .reduction.reducers = smp_stage_reducers(step->stage),
                          .values.linear = step->work.values.linear,
                          .probing = true};
    const smp_shape *by = step->second >= 0 ? &plan->steps[step->second].out : NULL;
    const smp_code code = step->stage->plan(step->params, &step->in, by, &work, err);
    smp_free(work.table.data);
    *height = work.out.height;
    *alike = work.effect.none ||
             same_bytes(work.kernel.bytes, work.kernel.size, step->work.kernel.bytes, step->work.kernel.size);
    return code;
}

smp_code smp_plan_set_length(smp_plan *plan, int64_t frames, int *differs, int *failed, smp_error *err)
{
    *failed = *differs = SMP_STEP_NONE;
    plan->steps[0].in.height = plan->steps[0].out.height = plan->steps[0].work.out.height = frames;
    for (size_t i = 1; i < plan->step_count; i++) {
        smp_step *step = &plan->steps[i];
        bool alike = true;
        if (step->job == SMP_JOB_SOURCE)
            continue;
        int64_t height = step->in.height = plan->steps[step->input].out.height;
        const bool own = step->job == SMP_JOB_STAGE && !step->part_count && step->stage->plan;
        const smp_code code = own ? height_of(plan, step, &height, &alike, err) : SMP_OK;
        if (code) {
            *failed = (int)i;
            return code;
        }
        step->out.height = step->work.out.height = height;
        if (!alike && *differs < 0)
            *differs = (int)i;
    }
    for (size_t i = 0; i < plan->sink_count; i++)
        plan->sinks[i].shape.height = plan->sinks[i].rows.height = plan->steps[plan->sinks[i].step].out.height;
    return SMP_OK;
}
