/* What the steps in front of the one that is being changed gave: kept as a frame, from which the next run goes on. The
 * values are those that the whole plan has there, so that its output is the same to the byte. */
#include <string.h>

#include "base/alloc.h"
#include "commands/edit/session.h"
#include "pipe/plan/planner.h"

/* The last step in front of those of node `from` on, where all that follow read none before it; 0: there is none. */
static int cut_of(const smp_plan *plan, int from)
{
    int cut = 0;
    for (size_t i = 1; i < plan->step_count; i++)
        if (plan->steps[i].node != SMP_NODE_NONE && plan->steps[i].node < from)
            cut = (int)i;
    if (cut && plan->steps[cut].job == SMP_JOB_REDUCE) /* its picture is its input's */
        cut = plan->steps[cut].input;
    for (size_t i = (size_t)cut + 1; i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->job == SMP_JOB_SOURCE || step->input < cut || (step->second >= 0 && step->second < cut) ||
            (step->reduced_by >= 0 && step->reduced_by < cut))
            return 0;
    }
    return plan->steps[cut].job == SMP_JOB_STAGE ? cut : 0;
}

/* Makes a step the source of those behind it. */
static void begin_at(smp_plan *plan, int cut)
{
    const smp_step was = plan->steps[cut];
    for (int i = 0; i <= cut; i++)
        smp_step_free(&plan->steps[i]);
    plan->steps[0] = (smp_step){.job = SMP_JOB_SOURCE,
                                .node = SMP_NODE_NONE,
                                .input = SMP_STEP_NONE,
                                .second = SMP_STEP_NONE,
                                .reduced_by = SMP_STEP_NONE,
                                .label = "(kept)",
                                .in = was.out,
                                .out = was.out,
                                .work.out = was.out,
                                .storage = was.storage,
                                .premultiplied = was.premultiplied,
                                .linear = was.linear};
    plan->step_count -= (size_t)cut;
    memmove(plan->steps + 1, plan->steps + cut + 1, (plan->step_count - 1) * sizeof *plan->steps);
    for (size_t i = 1; i < plan->step_count; i++) {
        int *const from[] = {&plan->steps[i].input, &plan->steps[i].second, &plan->steps[i].reduced_by};
        for (int k = 0; k < 3; k++)
            *from[k] -= *from[k] >= 0 ? cut : 0;
    }
    plan->sinks[0].step -= cut;
}

void smp_edit_forget(smp_edit_kept *kept)
{
    smp_free_all(kept->text, kept->view.data);
    *kept = (smp_edit_kept){.text = NULL};
}

smp_code smp_edit_keep(smp_edit_kept *kept, const smp_program *program, const char *text, int from, smp_plan *plan,
                       bool *fresh, smp_error *err)
{
    const smp_span place = program->nodes[from].span;
    const int cut = cut_of(plan, from);
    const smp_step *step = &plan->steps[cut];
    smp_shape shape = step->out;
    shape.format = step->storage;
    *fresh = false;
    if (cut && kept->text && strlen(kept->text) == place.start && !strncmp(kept->text, text, place.start) &&
        kept->node == step->node && kept->premultiplied == step->premultiplied && kept->linear == step->linear &&
        kept->view.width == shape.width && kept->view.height == shape.height && kept->view.channels == shape.channels &&
        kept->view.format == (int32_t)shape.format)
        begin_at(plan, cut);
    else if (cut && plan->sink_count == 1) {
        smp_edit_forget(kept);
        kept->text = smp_strndup(text, place.start);
        kept->node = step->node;
        kept->premultiplied = step->premultiplied;
        kept->linear = step->linear;
        *fresh = kept->text && !smp_edit_make_frame(&shape, &kept->view, &(smp_error){.code = SMP_OK}) &&
                 smp_grow(&plan->sinks, &plan->sink_capacity, 2, sizeof *plan->sinks);
        if (*fresh) {
            plan->sinks[1] = (smp_sink){.step = cut, .save = -1, .shape = step->out, .rows = step->out};
            plan->sink_count = 2;
        } else
            smp_edit_forget(kept); /* without memory for it all is run each time */
    }
    SMP_TRY(smp_plan_fuse(plan, err));
    smp_plan_phases(plan);
    return SMP_OK;
}
