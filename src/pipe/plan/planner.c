/* The planner: turns a program and shapes into steps. plan.h says what it decides. In order: steps for every node with
 * the conversions it needs; sinks; dropping what is not needed; storage; joining (fuse.h); phases. */

#include <stdio.h>

#include "base/alloc.h"
#include "pipe/plan/planner.h"

static smp_code finish_plan(smp_planner *p)
{
    size_t n = p->plan->step_count + p->plan->sink_count;
    bool *flags = smp_alloc_array(3 * n, sizeof *flags);
    int *moved = smp_alloc_array(n, sizeof *moved);
    smp_code code = flags && moved ? SMP_OK : smp_fail_memory(p->err, "the plan", n);
    if (!code) {
        smp_plan_prune(p->plan, flags, moved);
        bool *last = flags, *used = flags + n, *integers = flags + 2 * n;
        smp_plan_storage(p->plan, p->request->plain_storage, last, used, integers);
        code = smp_planner_store_sinks(p);
        code = code ? code : smp_planner_code_sinks(p);
    }
    smp_free_all(flags, moved);
    if (code)
        return code;
    smp_plan_clipping(p->plan);
    if (p->request->fuse)
        code = smp_plan_fuse(p->plan, p->err);
    if (code)
        return code;
    smp_plan_phases(p->plan);
    return SMP_OK;
}

/* Allocates what the planner keeps for each node and file of the program. */
static smp_code open_planner(smp_planner *p)
{
    const smp_program *program = p->request->program;
    p->plan = smp_alloc(sizeof *p->plan);
    p->step_of = smp_alloc_array(program->node_count + 1, sizeof *p->step_of);
    p->dpi_of = smp_alloc_array(program->node_count + 1, sizeof *p->dpi_of);
    p->step_of_file = smp_alloc_array(program->file_count + 1, sizeof *p->step_of_file);
    p->icc_of_file = smp_alloc_array(program->file_count + 1, sizeof *p->icc_of_file);
    SMP_NEED(p->plan && p->step_of && p->dpi_of && p->step_of_file && p->icc_of_file, "the plan", sizeof *p->plan,
             p->err);
    for (size_t i = 0; i < program->file_count; i++)
        p->step_of_file[i] = SMP_STEP_NONE;
    p->plan->row_multiple = 1;
    p->plan->prepass = SMP_NODE_NONE;
    return SMP_OK;
}

static void close_planner(smp_planner *p)
{
    for (size_t i = 0; p->icc_of_file && i < p->request->program->file_count; i++)
        smp_free(p->icc_of_file[i]);
    smp_free_all(p->icc_of_file, p->step_of, p->dpi_of, p->step_of_file, p->converted);
}

/* The input, decoded by a step where its rows are a coded scan, and turned upright. */
static smp_code add_input(smp_planner *p)
{
    const smp_plan_request *request = p->request;
    const smp_kind kind = request->program->kind;
    int index;
    if (kind != SMP_KIND_NONE && kind != request->input.kind)
        return smp_fail(p->err, SMP_E_PIPE, "the pipeline is for %s, but the input is %s",
                        kind == SMP_IMAGE ? "pictures" : "sound",
                        request->input.kind == SMP_IMAGE ? "a picture" : "sound");
    smp_step *source = smp_planner_add_step(p, &index);
    if (!source)
        return p->err->code;
    source->job = SMP_JOB_SOURCE;
    source->in = source->out = source->work.out = request->scan.kind ? request->scan : request->input;
    snprintf(source->label, sizeof source->label, "(input)");
    if (request->scan.kind && (p->origin = smp_planner_insert(p, SMP_ROLE_JPEG, 0, 0)) < 0)
        return p->err->code;
    if (request->orientation > 1)
        p->origin = smp_planner_insert(p, SMP_ROLE_ORIENT, p->origin, request->orientation);
    return p->origin < 0 ? p->err->code : SMP_OK;
}

/* Nodes up to the one that must see its input first; outputs, where there is none such. */
static smp_code add_program(smp_planner *p)
{
    const smp_plan_request *request = p->request;
    const smp_program *program = request->program;
    for (size_t i = 0; i < program->node_count && p->plan->prepass < 0; i++)
        SMP_TRY(smp_planner_add_node(p, (int)i));
    if (!request->output || p->plan->prepass >= 0)
        return SMP_OK;
    SMP_TRY(smp_planner_add_sink(p, program->output, -1, request->output));
    for (size_t i = 0; i < program->save_count; i++)
        SMP_TRY(smp_planner_add_sink(p, program->saves[i].node, (int)i, program->saves[i].path));
    return SMP_OK;
}

smp_code smp_plan_make(const smp_plan_request *request, smp_diags *diags, smp_plan **out, smp_error *err)
{
    smp_error local = {0};
    smp_planner p = {.request = request, .diags = diags, .err = err ? err : &local};
    *out = NULL;
    smp_code code = open_planner(&p);
    code = code ? code : add_input(&p);
    code = code ? code : add_program(&p);
    code = code ? code : finish_plan(&p);
    close_planner(&p);
    if (code)
        smp_plan_free(p.plan);
    else
        *out = p.plan;
    return code;
}

void smp_plan_free(smp_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->step_count; i++)
        smp_step_free(&plan->steps[i]);
    smp_free_all(plan->steps, plan->sinks, plan->drawn, plan);
}
