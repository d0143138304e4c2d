/* Nodes of a program become steps: their pictures, parameters and conversions, and the two steps of a stage that
 * adjusts by what it measures (see planner.h). */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "pipe/plan/planner.h"

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

/* Returns what a prepass found for a node. */
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

/* A node on its way into the plan. Passes fill it in, from the top down. */
typedef struct entering {
    smp_planner *p;
    int number;
    const smp_node *node;
    const smp_stage *stage;
    int input, second;   /* the steps of its pictures; in the end, in the state that it wants */
    smp_shape in;        /* of the first one */
    void *params;        /* until a step owns them */
    smp_node_plan probe; /* what the stage says before conversions, which do not change shapes */
    int step;            /* the one that it becomes; of an ADJUST, the one that measures */
} entering;

static smp_code find_pictures(entering *e)
{
    smp_planner *p = e->p;
    e->second = SMP_STEP_NONE;
    if (e->node->input <= SMP_NODE_FILE)
        SMP_TRY(file_picture(p, SMP_NODE_FILE - e->node->input, &e->input));
    else
        e->input = smp_planner_picture_of(p, e->node->input);
    e->in = p->plan->steps[e->input].out;
    smp_code code = blame(p, e->node, smp_check_kind(e->node, &e->in, p->err));
    if (!code && e->node->second <= SMP_NODE_FILE)
        code = file_picture(p, SMP_NODE_FILE - e->node->second, &e->second);
    else if (!code)
        e->second = smp_planner_picture_of(p, e->node->second);
    if (!code && e->second >= 0)
        warn_of_colours(p, e->node, e->input, e->second);
    return code;
}

static smp_code read_params(entering *e)
{
    smp_planner *p = e->p;
    const size_t size = e->stage->params_size;
    SMP_NEED(e->params = smp_alloc(size ? size : 1), "parameters", size, p->err);
    const smp_code code =
        smp_node_params(p->request->program, e->node, &e->in, &p->request->draw, p->diags, e->params, p->err);
    return code || !e->stage->check ? code : blame(p, e->node, e->stage->check(e->params, p->err));
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

static smp_code ask(entering *e)
{
    const smp_seen *found = found_for(e->p, e->number);
    const smp_shape *by = e->second >= 0 ? &e->p->plan->steps[e->second].out : NULL;
    e->probe = (smp_node_plan){
        .out = e->in, .access = e->stage->access, .values.linear = e->node->light == SMP_LIGHT_LINEAR, .probing = true};
    e->probe.change.dpi = smp_planner_dpi_of(e->p, e->node->input);
    if (found)
        e->probe.prepass = (smp_prepass){.found = found->data, .found_size = found->size};
    if (!e->stage->plan)
        return SMP_OK;
    const smp_code code = e->stage->plan(e->params, &e->in, by, &e->probe, e->p->err);
    smp_free(e->probe.table.data);
    return blame(e->p, e->node, code);
}

/* Whether the second picture is wanted in linear light: weights stay as they are. */
static bool second_linear(const entering *e)
{
    return smp_planner_second_is(e->stage, SMP_P_WEIGHTS) ? e->p->plan->steps[e->second].linear
                                                          : e->node->light == SMP_LIGHT_LINEAR;
}

/* Brings the second input to what the stage wants of it. *brought: it wanted something. */
static smp_code bring_second(entering *e, bool *brought)
{
    smp_planner *p = e->p;
    const smp_second_wish wish = e->probe.second;
    *brought = wish.size.width || wish.rate > 0 || wish.channels;
    if (wish.size.width) {
        e->second = smp_planner_in_state(p, e->second, true, second_linear(e));
        p->size = &wish.size;
        if (e->second >= 0)
            e->second = smp_planner_insert(p, SMP_ROLE_SIZE, e->second, 0);
    }
    if (wish.channels && e->second >= 0)
        e->second = smp_planner_insert(p, SMP_ROLE_CHANNELS, e->second, wish.channels);
    if (wish.channels && e->second >= 0 && p->plan->steps[e->second].work.effect.remark[0])
        warn(p, e->node, "%s", p->plan->steps[e->second].work.effect.remark);
    if (wish.rate > 0 && e->second >= 0)
        e->second = smp_planner_insert(p, SMP_ROLE_RATE, e->second, (int64_t)wish.rate);
    return e->second < 0 && *brought ? blame(p, e->node, p->err->code) : SMP_OK;
}

/* Asks whether the stage moves samples, does nothing, wants another second input, or must see its input first. */
static smp_code probe(entering *e)
{
    smp_planner *p = e->p;
    bool brought = false;
    smp_code code = ask(e);
    code = code ? code : bring_second(e, &brought);
    if (!code && brought)
        code = ask(e);
    if (!code && e->probe.effect.none && p->request->open_end &&
        changes_short(e->stage, e->params, &e->in, e->probe.values.linear))
        e->probe.effect.none = false;
    p->dpi_of[e->number] = e->probe.change.dpi;
    return code;
}

static void leave_out(entering *e)
{
    if (!e->probe.effect.already && !smp_node_draws(e->node))
        warn(e->p, e->node, "stage '%s' has no effect here", e->stage->name);
    e->p->step_of[e->number] = e->input;
}

/* Alpha and light of its pictures as the stage wants them. One that only moves samples takes any. */
static smp_code convert_pictures(entering *e)
{
    smp_planner *p = e->p;
    const bool linear = e->node->light == SMP_LIGHT_LINEAR;
    const bool premultiplied = smp_stage_is(e->stage, SMP_TRAIT_NEIGHBOURHOOD);
    if (e->probe.values.exactness == SMP_MOVE)
        return SMP_OK;
    if (linear && e->in.curve == SMP_CURVE_OTHER)
        warn(p, e->node, "'%s' in linear light takes the picture for sRGB: its own tone curve is not a power",
             e->stage->name);
    e->input = smp_planner_in_state(p, e->input, premultiplied, linear);
    if (e->input >= 0 && e->second >= 0)
        e->second = smp_planner_in_state(p, e->second, premultiplied, second_linear(e));
    return e->input < 0 || (e->node->second != SMP_NODE_NONE && e->second < 0) ? p->err->code : SMP_OK;
}

static void warn_of_plan(const entering *e)
{
    const smp_row_need *rows = &e->probe.rows;
    if (e->probe.access == SMP_STENCIL && !rows->den && (rows->up > e->in.height || rows->down > e->in.height))
        warn(e->p, e->node, e->in.kind == SMP_AUDIO ? BEYOND("sound is long") : BEYOND("picture is high"),
             e->stage->name);
    if (e->probe.effect.remark[0])
        warn(e->p, e->node, "%s", e->probe.effect.remark);
}

static smp_code make_step(entering *e)
{
    smp_planner *p = e->p;
    smp_step *step = smp_planner_add_step(p, &e->step);
    if (!step)
        return p->err->code;
    step->work.change.dpi = smp_planner_dpi_of(p, e->node->input);
    step->work.prepass = (smp_prepass){.found = e->probe.prepass.found, .found_size = e->probe.prepass.found_size};
    const smp_code code = smp_planner_work_out(p, e->step, e->stage, e->params, e->input, e->second);
    e->params = NULL;
    step->node = e->number;
    snprintf(step->label, sizeof step->label, "%s", e->node->label ? e->node->label : e->stage->name);
    p->step_of[e->number] = e->step;
    return blame(p, e->node, code);
}

/* REDUCE and ADJUST: the step measures, and its picture is its input. */
static void make_it_measure(entering *e)
{
    smp_plan *plan = e->p->plan;
    smp_step *step = &plan->steps[e->step];
    step->job = SMP_JOB_REDUCE;
    step->out = step->in;
    step->reads = step->reads_second = (smp_row_map){.up = step->work.rows.up, .down = step->work.rows.down};
    step->premultiplied = plan->steps[e->input].premultiplied;
    if (step->work.reduction.kind == SMP_RESULT_CHUNKS || step->work.reduction.kind == SMP_RESULT_CHUNKS_COUNTS)
        plan->row_multiple = smp_max_i64(plan->row_multiple, smp_chunk_rows(step->in.width));
    e->p->step_of[e->number] = e->input;
    if (e->probe.prepass.wanted) {
        plan->prepass = e->number;
        snprintf(step->label, sizeof step->label, "(look) %.80s", e->node->label ? e->node->label : e->stage->name);
    }
}

/* ADJUST: a second step applies what the first one measures, and shares its parameters. */
static smp_code apply_what_it_measures(entering *e)
{
    smp_planner *p = e->p;
    int apply;
    if (!smp_planner_add_step(p, &apply))
        return p->err->code;
    smp_step *measuring = &p->plan->steps[e->step], *applying = &p->plan->steps[apply];
    const smp_code code = smp_planner_work_out(p, apply, e->stage, measuring->params, e->input, e->second);
    applying->params = NULL; /* owned by the measuring step */
    if (code)
        return blame(p, e->node, code);
    applying->node = e->number;
    applying->reduced_by = e->step;
    memcpy(applying->label, measuring->label, sizeof applying->label);
    if (!smp_stage_partials(e->stage)) /* else its measurements have the stage's own name */
        snprintf(measuring->label, sizeof measuring->label, "(measure) %.80s",
                 e->node->label ? e->node->label : e->stage->name);
    p->step_of[e->number] = apply;
    return SMP_OK;
}

/* The steps of a stage that has an effect. */
static smp_code make_steps(entering *e)
{
    SMP_TRY(convert_pictures(e));
    warn_of_plan(e);
    smp_code code = make_step(e);
    if (code || (e->probe.access != SMP_REDUCE && e->probe.access != SMP_ADJUST))
        return code;
    make_it_measure(e);
    return e->probe.access == SMP_REDUCE || e->probe.prepass.wanted ? SMP_OK : apply_what_it_measures(e);
}

/* Adds to the plan what the node drew. */
static smp_code tell_draws(const entering *e, bool left_out)
{
    char **told = &e->p->plan->drawn, *before = *told, *values = NULL;
    const bool draws = smp_node_draws(e->node);
    if (!e->node->chance && !draws)
        return SMP_OK;
    if (!left_out && draws)
        SMP_NEED(values = smp_node_drawn_text(e->node, e->params), "a text", 0, e->p->err);
    const char *own = left_out ? "" : e->probe.drawn;
    *told = smp_asprintf("%s%s%s %s%s%s", before ? before : "", before ? "\n" : "", e->stage->name,
                         left_out ? "left out"
                         : values ? values
                                  : "taken",
                         own[0] ? " " : "", own);
    smp_free_all(before, values);
    return *told ? SMP_OK : smp_fail_memory(e->p->err, "a text", 0);
}

smp_code smp_planner_add_node(smp_planner *p, int number)
{
    const smp_node *node = &p->request->program->nodes[number];
    entering e = {.p = p, .number = number, .node = node, .stage = node->stage};
    smp_code code = find_pictures(&e);
    code = code ? code : read_params(&e);
    code = code ? code : probe(&e);
    bool drawn_out = false; /* after what is wrong with it was told, whatever is drawn */
    code = code ? code : smp_node_is_left_out(node, &e.in, &p->request->draw, p->diags, &drawn_out, p->err);
    code = code ? code : tell_draws(&e, drawn_out);
    if (!code && drawn_out) {
        p->dpi_of[number] = smp_planner_dpi_of(p, node->input);
        p->step_of[number] = e.input;
    } else if (!code && e.probe.effect.none)
        leave_out(&e);
    else if (!code)
        code = make_steps(&e);
    smp_free(e.params);
    return code;
}
