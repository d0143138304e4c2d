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
#include "pipe/storage.h"

typedef struct planner {
    const smp_plan_request *request;
    smp_diags *diags;
    smp_plan *plan;
    int *step_of;       /* the step that computes a node's picture */
    double *dpi_of;     /* the resolution that stages up to a node ask for; 0: none */
    int *step_of_file;  /* the step that reads a file, or SMP_STEP_NONE */
    void **icc_of_file; /* its profile, from smp_alloc */
    int origin;         /* the step that `@input` means */
    int *converted;     /* step * SMP_ROLES + role: an existing conversion of that step, or SMP_STEP_NONE */
    size_t converted_capacity;
    const smp_jpeg_params *coding; /* of the step that is being inserted */
    bool to_srgb;                  /* it encodes light of a picture without an encoding of its own */
    smp_error *err;
} planner;

/* ---------------------------------------------------------------------------------------------- adding steps */

static smp_step *add_step(planner *p, int *index)
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

/* Whether the stage's second picture is of this kind (SMP_P_*). */
static bool second_is(const smp_stage *stage, unsigned flag)
{
    for (const smp_param *param = stage->params; param && param->name; param++)
        if (param->type == SMP_T_OPERAND && (param->flags & flag))
            return true;
    return false;
}

/* Fills in what stage->plan() says for the inputs `input` and `second`. The step takes over params. */
static smp_code work_out(planner *p, int index, const smp_stage *stage, void *params, int input, int second)
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
    step->work.reducers = stage->reducers;
    step->work.linear = steps[input].linear;
    step->work.probing = p->request->shapes;
    if (stage->plan) {
        smp_code code = stage->plan(params, &step->in, second >= 0 ? &steps[second].out : NULL, &step->work, p->err);
        if (code)
            return code;
    }
    if (step->work.out.channels != step->in.channels)
        step->work.out.speakers = 0;
    step->out = step->work.out;
    if (stage->role == SMP_ROLE_NONE && step->in.format != SMP_F32 && step->out.format == SMP_F32)
        step->work.clips = true; /* measures, not light: of any range */
    step->premultiplied = steps[input].premultiplied && step->out.alpha;
    step->linear = steps[input].linear && !step->work.no_light;
    step->reads = step->reads_second = smp_row_map_of(&step->work);
    if (step->work.second_own)
        step->reads_second = (smp_row_map){.add = step->work.second_add};
    p->plan->row_multiple = smp_max_i64(p->plan->row_multiple, step->work.row_unit);
    step->whole_input = step->work.whole || step->work.access == SMP_WHOLE;
    step->whole_second = step->whole_input || (second >= 0 && second_is(stage, SMP_P_ANYSIZE));
    return SMP_OK;
}

/* Inserts the stage of a role after step `from`. value: for its first parameter, if it has one. */
static int insert(planner *p, smp_role role, int from, int64_t value)
{
    const smp_stage *stage = smp_stage_with_role(role);
    if (!stage) {
        smp_fail(p->err, SMP_E_PROCESS, "this build has no stage for what the planner must insert (role %d)",
                 (int)role);
        return SMP_STEP_NONE;
    }
    int index;
    if (!add_step(p, &index))
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
    else if (role == SMP_ROLE_LINEAR || role == SMP_ROLE_ENCODED)
        ((smp_light_params *)params)->curve = p->to_srgb ? 0 : fmax(0, p->plan->steps[from].out.curve);
    if (work_out(p, index, stage, params, from, SMP_STEP_NONE))
        return SMP_STEP_NONE;
    smp_step *step = &p->plan->steps[index];
    if (role == SMP_ROLE_JPEG)
        step->out = step->work.out = p->request->input;
    snprintf(step->label, sizeof step->label, "(%s)", stage->name);
    step->premultiplied = role == SMP_ROLE_PREMULTIPLY || (role != SMP_ROLE_STRAIGHT && step->premultiplied);
    step->linear = role == SMP_ROLE_LINEAR || (role != SMP_ROLE_ENCODED && step->linear);
    return index;
}

/* The same, but branches that need the same conversion of one step share it. */
static int converted(planner *p, smp_role role, int from)
{
    int known = p->converted[(size_t)from * SMP_ROLES + role];
    if (known >= 0)
        return known;
    int index = insert(p, role, from, 0);
    if (index >= 0)
        p->converted[(size_t)from * SMP_ROLES + role] = index;
    return index;
}

/* Step `from` converted to the wanted state of alpha and light. Light is converted on straight colour. */
static int in_state(planner *p, int from, bool premultiplied, bool linear)
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

/* ---------------------------------------------------------------------------------------------- nodes */

/* Reports a failure to plan a node also as a diagnostic at the stage's name. */
static smp_code blame(planner *p, const smp_node *node, smp_code code)
{
    if (p->diags && code == SMP_E_PIPE && p->err) {
        smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, node->span, "%s", p->err->message);
        if (p->err->hint[0])
            smp_diag_note(p->diags, diag, "%s", p->err->hint);
    }
    return code;
}

static int picture_of(const planner *p, int node)
{
    return node == SMP_NODE_NONE ? SMP_STEP_NONE : node == SMP_NODE_INPUT ? p->origin : p->step_of[node];
}

static double dpi_of(const planner *p, int node)
{
    return node < 0 ? 0 : p->dpi_of[node];
}

/* A file that the program names becomes another source. Its faults are reported at its name. */
static smp_code file_picture(planner *p, int number, int *index)
{
    const smp_operand_file *file = &p->request->program->files[number];
    smp_shape shape = {0};
    int orientation = 1;
    *index = p->step_of_file[number];
    if (*index >= 0)
        return SMP_OK;
    smp_code code = p->request->probe
                        ? p->request->probe(p->request->probe_context, file->path, &shape, &orientation, p->err)
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
    smp_step *source = add_step(p, index);
    if (!source)
        return p->err->code;
    source->job = SMP_JOB_SOURCE;
    source->path = file->path;
    source->in = source->out = source->work.out = shape;
    snprintf(source->label, sizeof source->label, "(%.90s)", file->path);
    if (orientation > 1 && (*index = insert(p, SMP_ROLE_ORIENT, *index, orientation)) < 0)
        return p->err->code;
    p->step_of_file[number] = *index;
    return SMP_OK;
}

/* What was found for a node when the input was looked at. */
static const smp_seen *found_for(const planner *p, int number)
{
    for (size_t i = 0; i < p->request->found_count; i++)
        if (p->request->found[i].node == number)
            return &p->request->found[i];
    return NULL;
}

/* Nodes up to the last one that something was found for were planned before. */
static bool warned(const planner *p, const smp_node *node)
{
    for (size_t i = 0; i < p->request->found_count; i++)
        if (node - p->request->program->nodes <= p->request->found[i].node)
            return true;
    return false;
}

#define BEYOND(what) "stage '%s' reaches further than the " what
static void warn(planner *p, const smp_node *node, const char *format, const char *label)
{
    if (p->diags && !warned(p, node))
        smp_diags_add(p->diags, SMP_WARNING, node->span, format, label);
}

/* Two pictures whose values mean other colours are computed on as they are. */
static void warn_of_colours(planner *p, const smp_node *node, int input, int second)
{
    char name[64], other[64];
    const smp_shape *in = &p->plan->steps[input].out, *by = &p->plan->steps[second].out;
    if (!p->diags || warned(p, node) || second_is(node->stage, SMP_P_WEIGHTS) ||
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

static smp_code add_node(planner *p, int number)
{
    const smp_node *node = &p->request->program->nodes[number];
    const smp_stage *stage = node->stage;
    int input = picture_of(p, node->input), second = SMP_STEP_NONE;
    smp_node_plan probe = {
        .out = p->plan->steps[input].out, .access = stage->access, .linear = node->light == SMP_LIGHT_LINEAR};
    probe.probing = true;
    const smp_seen *found = found_for(p, number);
    if (found) {
        probe.found = found->data;
        probe.found_size = found->size;
    }
    smp_code code = blame(p, node, smp_check_kind(node, &probe.out, p->err));
    if (!code && node->second <= SMP_NODE_FILE)
        code = file_picture(p, SMP_NODE_FILE - node->second, &second);
    else
        second = picture_of(p, node->second);
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
        smp_free(probe.table);
        code = blame(p, node, code);
    }
    p->dpi_of[number] = probe.dpi > 0 ? probe.dpi : dpi_of(p, node->input);
    if (code || probe.nothing) {
        if (!code && !probe.already)
            warn(p, node, "stage '%s' has no effect here", stage->name);
        p->step_of[number] = input;
        smp_free(params);
        return code;
    }

    bool moves = probe.exactness == SMP_MOVE;
    if (!moves) {
        bool linear = node->light == SMP_LIGHT_LINEAR;
        if (linear && in.curve == SMP_CURVE_OTHER)
            warn(p, node, "'%s' in linear light takes the picture for sRGB: its own tone curve is no power",
                 stage->name);
        input = in_state(p, input, stage->neighbourhood, linear);
        if (input >= 0 && second >= 0)
            second = in_state(p, second, stage->neighbourhood,
                              second_is(stage, SMP_P_WEIGHTS) ? p->plan->steps[second].linear : linear);
        if (input < 0 || (node->second != SMP_NODE_NONE && second < 0)) {
            smp_free(params);
            return p->err ? p->err->code : SMP_E_PROCESS;
        }
    }
    if (probe.access == SMP_STENCIL && !probe.rows_den && (probe.reach_up > in.height || probe.reach_down > in.height))
        warn(p, node, in.kind == SMP_AUDIO ? BEYOND("sound is long") : BEYOND("picture is high"), stage->name);
    if (probe.remark[0])
        warn(p, node, "%s", probe.remark);

    bool reduces = probe.access == SMP_REDUCE || probe.access == SMP_ADJUST;
    int index;
    if (!add_step(p, &index)) {
        smp_free(params);
        return p->err ? p->err->code : SMP_E_MEMORY;
    }
    p->plan->steps[index].work.found = probe.found;
    p->plan->steps[index].work.found_size = probe.found_size;
    code = work_out(p, index, stage, params, input, second);
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
    step->reads = step->reads_second = (smp_row_map){.up = step->work.reach_up, .down = step->work.reach_down};
    step->premultiplied = p->plan->steps[input].premultiplied;
    if (step->work.result == SMP_RESULT_CHUNKS || step->work.result == SMP_RESULT_CHUNKS_COUNTS)
        p->plan->row_multiple = smp_max_i64(p->plan->row_multiple, smp_chunk_rows(step->in.width));
    p->step_of[number] = input;
    if (probe.looks) {
        p->plan->looks = number;
        snprintf(step->label, sizeof step->label, "(look) %.80s", node->label ? node->label : stage->name);
    }
    if (probe.access == SMP_REDUCE || probe.looks)
        return SMP_OK;

    /* ADJUST: the second step applies what the first one measures, and shares its parameters. */
    int apply;
    if (!add_step(p, &apply))
        return p->err ? p->err->code : SMP_E_MEMORY;
    code = work_out(p, apply, stage, params, input, second);
    p->plan->steps[apply].params = NULL; /* owned by the reducing step */
    if (code)
        return blame(p, node, code);
    smp_step *applying = &p->plan->steps[apply];
    applying->node = number;
    applying->reduced_by = index;
    memcpy(applying->label, p->plan->steps[index].label, sizeof applying->label);
    if (!stage->partial) /* else its findings have the stage's own name */
        snprintf(p->plan->steps[index].label, sizeof applying->label, "(measure) %.80s", applying->label);
    p->step_of[number] = apply;
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- sinks */

/* Light for a file of integers, as sRGB encodes it. */
static int light_encoded(planner *p, int step)
{
    if (!smp_step_is_light(p->plan, &p->request->input, step))
        return step;
    p->to_srgb = true;
    step = insert(p, SMP_ROLE_ENCODED, step, 0);
    p->to_srgb = false;
    if (step >= 0) {
        p->plan->steps[step].out.curve = p->plan->steps[step].work.out.curve = SMP_CURVE_SRGB;
        p->plan->steps[step].work.makes_srgb = true;
    }
    return step;
}

static smp_code add_sink(planner *p, int node, int save, const char *path)
{
    int step = in_state(p, picture_of(p, node), false, false);
    if (step < 0)
        return p->err ? p->err->code : SMP_E_PROCESS;
    smp_shape shape = p->plan->steps[step].out;
    double was_rate = 0;
    if (p->request->accepts) {
        smp_code code =
            p->request->accepts(p->request->accepts_context, path, &p->plan->steps[step].out, &shape, p->err);
        const double rate = p->plan->steps[step].out.rate;
        if (!code && shape.kind == SMP_AUDIO && shape.rate != rate) {
            if ((step = insert(p, SMP_ROLE_RATE, step, (int64_t)shape.rate)) < 0)
                return p->err ? p->err->code : SMP_E_PROCESS;
            was_rate = rate;
            code = p->request->accepts(p->request->accepts_context, path, &p->plan->steps[step].out, &shape, p->err);
        }
        if (code)
            return code;
    }
    if (shape.format != SMP_F32 && (step = light_encoded(p, step)) < 0)
        return p->err ? p->err->code : SMP_E_PROCESS;
    const bool drops_bits =
        shape.format == SMP_U8 && p->plan->steps[step].out.format == SMP_U16 && p->request->input.format == SMP_U16;
    bool drops_alpha = p->plan->steps[step].out.alpha && !shape.alpha;
    if (drops_alpha && (step = in_state(p, step, true, false)) < 0)
        return p->err ? p->err->code : SMP_E_PROCESS;
    if (drops_alpha || shape.format != p->plan->steps[step].out.format) {
        step = insert(p, SMP_ROLE_CONVERT, step, shape.format);
        if (step < 0)
            return p->err ? p->err->code : SMP_E_PROCESS;
        smp_step *convert = &p->plan->steps[step];
        convert->out.channels = shape.channels;
        convert->out.alpha = shape.alpha;
        convert->work.out = convert->out;
    }
    if (!smp_grow(&p->plan->sinks, &p->plan->sink_capacity, p->plan->sink_count + 1, sizeof *p->plan->sinks))
        return smp_fail_memory(p->err, "the plan", sizeof *p->plan->sinks);
    smp_sink sink = {.step = step, .save = save, .path = path, .shape = shape, .was_rate = was_rate};
    sink.dpi = dpi_of(p, node);
    sink.drops_alpha = drops_alpha;
    sink.drops_bits = drops_bits;
    p->plan->sinks[p->plan->sink_count++] = sink;
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- sinks, as stored */

static smp_code store_sinks(planner *p)
{
    smp_plan *plan = p->plan;
    for (size_t i = 0; i < plan->sink_count; i++) {
        smp_sink *sink = &plan->sinks[i];
        if (plan->steps[sink->step].storage == sink->shape.format)
            continue;
        int step = insert(p, SMP_ROLE_CONVERT, sink->step, sink->shape.format);
        if (step < 0)
            return p->err ? p->err->code : SMP_E_PROCESS;
        plan->steps[step].storage = sink->shape.format;
        sink->step = step;
    }
    return SMP_OK;
}

/* Steps that code what goes to files, where they should. */
static smp_code code_sinks(planner *p)
{
    smp_plan *plan = p->plan;
    for (size_t i = 0; i < plan->sink_count; i++) {
        smp_sink *sink = &plan->sinks[i];
        smp_jpeg_params coding;
        sink->rows = sink->shape;
        if (!p->request->codes || !p->request->codes(p->request->codes_context, sink->path, &sink->shape, &coding))
            continue;
        p->coding = &coding;
        int step = smp_plan_coded_before(plan, i, &coding);
        if (step < 0)
            step = insert(p, SMP_ROLE_JPEG_ENCODE, sink->step, 0);
        if (step < 0)
            return p->err ? p->err->code : SMP_E_PROCESS;
        plan->steps[step].storage = SMP_U8;
        sink->step = step;
        sink->rows = plan->steps[step].out;
        sink->coded = true;
    }
    return SMP_OK;
}

/* ---------------------------------------------------------------------------------------------- the whole */

static smp_code finish_plan(planner *p)
{
    size_t n = p->plan->step_count + p->plan->sink_count;
    bool *flags = smp_alloc_array(3 * n, sizeof *flags);
    int *moved = smp_alloc_array(n, sizeof *moved);
    smp_code code = flags && moved ? SMP_OK : smp_fail_memory(p->err, "the plan", n);
    if (!code) {
        smp_plan_prune(p->plan, flags, moved);
        bool *last = flags, *used = flags + n, *integers = flags + 2 * n;
        smp_plan_storage(p->plan, p->request->plain_storage, last, used, integers);
        code = store_sinks(p);
        if (!code)
            code = code_sinks(p);
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
    planner p = {.request = request, .diags = diags, .err = err ? err : &local};
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
    smp_step *source = add_step(&p, &index);
    if (!source) {
        code = p.err->code;
        goto done;
    }
    source->job = SMP_JOB_SOURCE;
    source->in = source->out = source->work.out = request->scan.kind ? request->scan : request->input;
    snprintf(source->label, sizeof source->label, "(input)");
    if (request->scan.kind && (p.origin = insert(&p, SMP_ROLE_JPEG, 0, 0)) < 0)
        code = p.err->code;
    if (!code && request->orientation > 1) {
        p.origin = insert(&p, SMP_ROLE_ORIENT, p.origin, request->orientation);
        code = p.origin < 0 ? p.err->code : SMP_OK;
    }
    p.plan->looks = SMP_NODE_NONE;
    for (size_t i = 0; !code && i < program->node_count && p.plan->looks < 0; i++)
        code = add_node(&p, (int)i);
    const bool writes = request->output && p.plan->looks < 0;
    if (!code && writes)
        code = add_sink(&p, program->output, -1, request->output);
    for (size_t i = 0; !code && writes && i < program->save_count; i++)
        code = add_sink(&p, program->saves[i].node, (int)i, program->saves[i].path);
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
