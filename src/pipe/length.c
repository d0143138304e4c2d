/* See length.h. */
#include "pipe/length.h"

#include <string.h>

#include "base/alloc.h"

static bool same_map(const smp_row_map *a, const smp_row_map *b)
{
    return a->num == b->num && a->den == b->den && a->add == b->add && a->up == b->up && a->down == b->down &&
           a->piece_count == b->piece_count;
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
    return same_bytes(a->kernel, a->kernel_size, b->kernel, b->kernel_size) &&
           same_bytes(a->table, a->table_size, b->table, b->table_size) && !memcmp(&a->op, &b->op, sizeof a->op) &&
           a->access == b->access && a->row_unit == b->row_unit && a->variants == b->variants &&
           a->reducers == b->reducers && a->second_own == b->second_own && a->second_add == b->second_add &&
           same_but_height(&a->between, &b->between) && a->between.height == b->between.height && !a->needs_height &&
           !b->needs_height && a->result == b->result && a->result_size == b->result_size && a->looks == b->looks;
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
                          .reducers = smp_stage_reducers(step->stage),
                          .linear = step->work.linear,
                          .probing = true};
    const smp_shape *by = step->second >= 0 ? &plan->steps[step->second].out : NULL;
    const smp_code code = step->stage->plan(step->params, &step->in, by, &work, err);
    smp_free(work.table);
    *height = work.out.height;
    *alike = work.nothing || same_bytes(work.kernel, work.kernel_size, step->work.kernel, step->work.kernel_size);
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
