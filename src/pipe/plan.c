/* The planner: turns a program and shapes into steps. plan.h says what it decides. In order: steps for every node with
 * the conversions it needs; sinks; dropping what is not needed; storage; joining (fuse.h); phases. */
#include "pipe/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "pipe/colours.h"
#include "pipe/fuse.h"
#include "pipe/phases.h"
#include "pipe/planner.h"
#include "pipe/storage.h"

/* ---------------------------------------------------------------------------------------------- nodes */

/* Reports a failure to plan a node also as a diagnostic at the stage's name. */
static smp_code blame(smp_planner *p, const smp_node *node, smp_code code)
{
    if (p->diags && code == SMP_E_PIPE && p->err) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, node->span, "%s", p->err->message);
        if (p->err->hint[0])
            smp_diag_note(p->diags, diag, "%s", p->err->hint);
    }
    return code;
}

/* A file that the program names becomes another source. Its faults are reported at its name. */
static smp_code file_picture(smp_planner *p, int number, int *index)
{
    const smp_operand_file *file = &p->request->program->files[number];
    smp_shape shape = {0};
    int orientation = 1;
    *index = p->step_of_file[number];
    if (*index >= 0)
        return SMP_OK;
    smp_code code = p->request->probe ? p->request->probe(p->request->probe_context, file, &shape, &orientation, p->err)
                                      : smp_fail(p->err, SMP_E_PIPE, "files cannot be read here");
    if (code && code != SMP_E_MEMORY && p->diags) {
        smp_diag *diag =
            smp_diags_add(p->diags, SMP_ERROR, file->span, "cannot read '%.200s': %s", file->path, p->err->message);
        if (file->setting)
            smp_diag_fix(p->diags, diag, "give --set %s=FILE", file->setting);
        else if (p->err->hint[0])
            smp_diag_note(p->diags, diag, "%s", p->err->hint);
    }
    if (code)
        return code;
    p->icc_of_file[number] = (void *)(uintptr_t)shape.icc;
    smp_step *source = smp_planner_add_step(p, index);
    if (!source)
        return p->err->code;
    source->job = SMP_JOB_SOURCE;
    source->file = file;
    source->in = source->out = source->work.out = shape;
    snprintf(source->label, sizeof source->label, "(%.90s)", file->path);
    if (orientation > 1 && (*index = smp_planner_insert(p, SMP_ROLE_ORIENT, *index, orientation)) < 0)
        return p->err->code;
    p->step_of_file[number] = *index;
    return SMP_OK;
}

/* What was found for a node when the input was looked at. */
static const smp_seen *found_for(const smp_planner *p, int number)
{
    for (size_t i = 0; i < p->request->found_count; i++)
        if (p->request->found[i].node == number)
            return &p->request->found[i];
    return NULL;
}

/* Nodes up to the last one that something was found for were planned before. */
static bool warned(const smp_planner *p, const smp_node *node)
{
    for (size_t i = 0; i < p->request->found_count; i++)
        if (node - p->request->program->nodes <= p->request->found[i].node)
            return true;
    return false;
}

#define BEYOND(what) "stage '%s' reaches further than the " what
static void warn(smp_planner *p, const smp_node *node, const char *format, const char *label)
{
    if (p->diags && !warned(p, node))
        smp_diags_add(p->diags, SMP_WARNING, node->span, format, label);
}

/* Two pictures whose values mean other colours are computed on as they are. */
static void warn_of_colours(smp_planner *p, const smp_node *node, int input, int second)
{
    char name[64], other[64];
    const smp_shape *in = &p->plan->steps[input].out, *by = &p->plan->steps[second].out;
    if (!p->diags || warned(p, node) || smp_planner_second_is(node->stage, SMP_P_WEIGHTS) ||
        !smp_colours_differ(in, by, name, other))
        return;
    smp_diag *diag = smp_diags_add(p->diags, SMP_WARNING, node->span,
                                   "'%s' takes the values of its second picture as they are, but its colours are %s "
                                   "and the picture's are %s",
                                   node->stage->name, other, name);
    smp_diag_note(p->diags, diag,
                  "make both sRGB first: `profile srgb` in front, and smempipe convert OTHER.png "
                  "OTHER-srgb.png -e 'profile srgb'");
}

/* Whether a stage that changes nothing of a long sound does something to a short one. */
static bool changes_short(const smp_stage *stage, const void *params, const smp_shape *in, bool linear)
{
    smp_error none = {.code = SMP_OK};
    smp_shape frame = *in;
    frame.height = 1;
    smp_node_plan work = {.out = frame, .access = stage->access, .values.linear = linear, .probing = true};
    const smp_code code = stage->plan(params, &frame, NULL, &work, &none);
    smp_free(work.table.data);
    return code || !work.effect.none;
}

static smp_code add_node(smp_planner *p, int number)
{
    const smp_node *node = &p->request->program->nodes[number];
    const smp_stage *stage = node->stage;
    int input = smp_planner_picture_of(p, node->input), second = SMP_STEP_NONE;
    smp_node_plan probe = {
        .out = p->plan->steps[input].out, .access = stage->access, .values.linear = node->light == SMP_LIGHT_LINEAR};
    probe.probing = true;
    const smp_seen *found = found_for(p, number);
    if (found) {
        probe.prepass.found = found->data;
        probe.prepass.found_size = found->size;
    }
    smp_code code = blame(p, node, smp_check_kind(node, &probe.out, p->err));
    if (!code && node->second <= SMP_NODE_FILE)
        code = file_picture(p, SMP_NODE_FILE - node->second, &second);
    else
        second = smp_planner_picture_of(p, node->second);
    if (code)
        return code;
    if (second >= 0)
        warn_of_colours(p, node, input, second);

    void *params = smp_alloc(stage->params_size ? stage->params_size : 1);
    if (!params)
        return smp_fail_memory(p->err, "parameters", stage->params_size);
    const smp_shape in = probe.out;
    code = smp_node_params(p->request->program, node, &in, p->diags, params, p->err);
    if (!code && stage->check)
        code = blame(p, node, stage->check(params, p->err));
    /* The first call only tells whether the stage moves samples or does nothing. Conversions do not change shapes. */
    if (!code && stage->plan) {
        code = stage->plan(params, &in, second >= 0 ? &p->plan->steps[second].out : NULL, &probe, p->err);
        smp_free(probe.table.data);
        code = blame(p, node, code);
    }
    if (!code && probe.effect.none && p->request->open_end && changes_short(stage, params, &in, probe.values.linear))
        probe.effect.none = false;
    p->dpi_of[number] = probe.change.dpi > 0 ? probe.change.dpi : smp_planner_dpi_of(p, node->input);
    if (code || probe.effect.none) {
        if (!code && !probe.effect.already)
            warn(p, node, "stage '%s' has no effect here", stage->name);
        p->step_of[number] = input;
        smp_free(params);
        return code;
    }

    bool moves = probe.values.exactness == SMP_MOVE;
    if (!moves) {
        bool linear = node->light == SMP_LIGHT_LINEAR;
        if (linear && in.curve == SMP_CURVE_OTHER)
            warn(p, node, "'%s' in linear light takes the picture for sRGB: its own tone curve is not a power",
                 stage->name);
        input = smp_planner_in_state(p, input, smp_stage_is(stage, SMP_TRAIT_NEIGHBOURHOOD), linear);
        if (input >= 0 && second >= 0)
            second = smp_planner_in_state(p, second, smp_stage_is(stage, SMP_TRAIT_NEIGHBOURHOOD),
                                          smp_planner_second_is(stage, SMP_P_WEIGHTS) ? p->plan->steps[second].linear
                                                                                      : linear);
        if (input < 0 || (node->second != SMP_NODE_NONE && second < 0)) {
            smp_free(params);
            return p->err->code;
        }
    }
    if (probe.access == SMP_STENCIL && !probe.rows.den && (probe.rows.up > in.height || probe.rows.down > in.height))
        warn(p, node, in.kind == SMP_AUDIO ? BEYOND("sound is long") : BEYOND("picture is high"), stage->name);
    if (probe.effect.remark[0])
        warn(p, node, "%s", probe.effect.remark);

    bool reduces = probe.access == SMP_REDUCE || probe.access == SMP_ADJUST;
    int index;
    if (!smp_planner_add_step(p, &index)) {
        smp_free(params);
        return p->err->code;
    }
    p->plan->steps[index].work.prepass.found = probe.prepass.found;
    p->plan->steps[index].work.prepass.found_size = probe.prepass.found_size;
    code = smp_planner_work_out(p, index, stage, params, input, second);
    smp_step *step = &p->plan->steps[index];
    step->node = number;
    snprintf(step->label, sizeof step->label, "%s", node->label ? node->label : stage->name);
    if (code)
        return blame(p, node, code);
    if (!reduces) {
        p->step_of[number] = index;
        return SMP_OK;
    }
    step->job = SMP_JOB_REDUCE;
    step->out = step->in;
    step->reads = step->reads_second = (smp_row_map){.up = step->work.rows.up, .down = step->work.rows.down};
    step->premultiplied = p->plan->steps[input].premultiplied;
    if (step->work.reduction.kind == SMP_RESULT_CHUNKS || step->work.reduction.kind == SMP_RESULT_CHUNKS_COUNTS)
        p->plan->row_multiple = smp_max_i64(p->plan->row_multiple, smp_chunk_rows(step->in.width));
    p->step_of[number] = input;
    if (probe.prepass.wanted) {
        p->plan->looks = number;
        snprintf(step->label, sizeof step->label, "(look) %.80s", node->label ? node->label : stage->name);
    }
    if (probe.access == SMP_REDUCE || probe.prepass.wanted)
        return SMP_OK;

    /* ADJUST: the second step applies what the first one measures, and shares its parameters. */
    int apply;
    if (!smp_planner_add_step(p, &apply))
        return p->err->code;
    code = smp_planner_work_out(p, apply, stage, params, input, second);
    p->plan->steps[apply].params = NULL; /* owned by the reducing step */
    if (code)
        return blame(p, node, code);
    smp_step *applying = &p->plan->steps[apply];
    applying->node = number;
    applying->reduced_by = index;
    memcpy(applying->label, p->plan->steps[index].label, sizeof applying->label);
    if (!smp_stage_partials(stage)) /* else its findings have the stage's own name */
        snprintf(p->plan->steps[index].label, sizeof applying->label, "(measure) %.80s", applying->label);
    p->step_of[number] = apply;
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- the whole */

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
        if (!code)
            code = smp_planner_code_sinks(p);
    }
    smp_free(flags);
    smp_free(moved);
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

smp_code smp_plan_make(const smp_plan_request *request, smp_diags *diags, smp_plan **out, smp_error *err)
{
    *out = NULL;
    smp_error local = {0};
    const smp_program *program = request->program;
    smp_planner p = {.request = request, .diags = diags, .err = err ? err : &local};
    smp_code code = SMP_OK;
    int index;
    p.plan = smp_alloc(sizeof *p.plan);
    p.step_of = smp_alloc_array(program->node_count + 1, sizeof *p.step_of);
    p.dpi_of = smp_alloc_array(program->node_count + 1, sizeof *p.dpi_of);
    p.step_of_file = smp_alloc_array(program->file_count + 1, sizeof *p.step_of_file);
    p.icc_of_file = smp_alloc_array(program->file_count + 1, sizeof *p.icc_of_file);
    if (!p.plan || !p.step_of || !p.dpi_of || !p.step_of_file || !p.icc_of_file) {
        code = smp_fail_memory(p.err, "the plan", sizeof *p.plan);
        goto done;
    }
    for (size_t i = 0; i < program->file_count; i++)
        p.step_of_file[i] = SMP_STEP_NONE;
    p.plan->row_multiple = 1;
    if (program->kind != SMP_KIND_NONE && program->kind != request->input.kind) {
        code = smp_fail(p.err, SMP_E_PIPE, "the pipeline is for %s, but the input is %s",
                        program->kind == SMP_IMAGE ? "pictures" : "sound",
                        request->input.kind == SMP_IMAGE ? "a picture" : "sound");
        goto done;
    }
    smp_step *source = smp_planner_add_step(&p, &index);
    if (!source) {
        code = p.err->code;
        goto done;
    }
    source->job = SMP_JOB_SOURCE;
    source->in = source->out = source->work.out = request->scan.kind ? request->scan : request->input;
    snprintf(source->label, sizeof source->label, "(input)");
    if (request->scan.kind && (p.origin = smp_planner_insert(&p, SMP_ROLE_JPEG, 0, 0)) < 0)
        code = p.err->code;
    if (!code && request->orientation > 1) {
        p.origin = smp_planner_insert(&p, SMP_ROLE_ORIENT, p.origin, request->orientation);
        code = p.origin < 0 ? p.err->code : SMP_OK;
    }
    p.plan->looks = SMP_NODE_NONE;
    for (size_t i = 0; !code && i < program->node_count && p.plan->looks < 0; i++)
        code = add_node(&p, (int)i);
    const bool writes = request->output && p.plan->looks < 0;
    if (!code && writes)
        code = smp_planner_add_sink(&p, program->output, -1, request->output);
    for (size_t i = 0; !code && writes && i < program->save_count; i++)
        code = smp_planner_add_sink(&p, program->saves[i].node, (int)i, program->saves[i].path);
    if (!code)
        code = finish_plan(&p);

done:
    for (size_t i = 0; p.icc_of_file && i < program->file_count; i++)
        smp_free(p.icc_of_file[i]);
    smp_free(p.icc_of_file);
    smp_free(p.step_of);
    smp_free(p.dpi_of);
    smp_free(p.step_of_file);
    smp_free(p.converted);
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
    smp_free(plan->steps);
    smp_free(plan->sinks);
    smp_free(plan);
}
