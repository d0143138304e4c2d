/* smempipe explain: how a pipeline would run, with every default filled in. Reads headers only. */
#include "commands/explain.h"
#include "cli/mistakes.h"
#include "cli/shipped.h"
#include "commands/stages.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "compare/input.h"
#include "report/json.h"
#include "report/text.h"
#include "run/file_source.h"
#include "run/strips/memory_estimate.h"
#include "run/strips/step.h"

enum { STATEMENT_COLUMNS = 54 };

typedef struct explain_settings {
    smp_plan_settings plan;
    const char *pipe, *in, *out;
    bool json, time;
    const char *svg;
} explain_settings;

static const smp_option options[] = {
    {"json", 0, SMP_O_FLAG, offsetof(explain_settings, json), .help = "machine-readable"},
    {"time", 0, SMP_O_FLAG, offsetof(explain_settings, time),
     .help = "predict each step's time on a GPU (an H100 where there is none): reads IN, which it needs, and executes "
             "the GPU's kernels in the lab, which takes seconds"},
    SMP_INDEX_OPTION(offsetof(explain_settings, plan)),
    {"svg", 0, SMP_O_STRING, offsetof(explain_settings, svg), .argument = "FILE",
     .help =
         "draw the plan for IN, which it needs: steps, and on the edges types, rows and memory; - is standard output"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(explain_settings, pipe), .unless = "stage", .refuse = smp_shipped_refuse,
     .help = "the pipeline; - is standard input"},
    {"IN", offsetof(explain_settings, in), .optional = true,
     .help = "the file it would run on; without it only what holds for every input is shown"},
    {"OUT", offsetof(explain_settings, out), .optional = true,
     .help = "the file it would write (nothing is written); without it one that holds every format is assumed"},
    {0},
};

/* "stage name=value ...", from smp_alloc. */
static char *statement_of(const smp_stage *stage, const void *params)
{
    char *text = params ? smp_params_text(stage, params) : NULL;
    char *whole = smp_asprintf("%s%s%s", stage->name, text && text[0] ? " " : "", text ? text : "");
    smp_free(text);
    return whole;
}

/* ------------------------------------------------------------------------------------------------ with an input */

/* Finds the resources of a step's launches on a GPU, for a strip away from the picture's ends. */
static smp_code explain_launches(const smp_explanation *e, const smp_step *step, const smp_variant *variant,
                                 smp_explain_step *out, smp_error *err)
{
    smp_view in, result, second;
    smp_memory_estimate_views(e->plan, step, e->strip_rows, &in, &result, &second);
    smp_code code = SMP_OK;
    for (int i = 0; !code && i < SMP_MAX_LAUNCHES; i++) {
        const smp_launch *launch = &variant->launches[i];
        smp_cuda_launch_info *to = &out->launches[out->launch_count];
        size_t at, size;
        bool counts;
        if (!smp_launch_runs(launch, true) ||
            (step->job == SMP_JOB_REDUCE && !smp_result_part(&step->work.reduction, launch, &at, &size, &counts)))
            continue;
        smp_io io = smp_step_views(step, launch, &in, &result, &second, SMP_PROBE_ADDRESS);
        code = smp_cuda_launch_describe(e->device, launch, &io, step->work.kernel.bytes, to, err);
        out->launch_count += !code && to->kernel[0];
    }
    return code;
}

/* "(stage ...) + stage ...": what a joined step stands for; null when memory is short. */
static char *parts_text(const smp_step *step)
{
    char *text = smp_strdup("");
    for (size_t i = 0; text && i < step->part_count; i++) {
        const smp_part *part = &step->parts[i];
        const bool inserted = part->node == SMP_NODE_NONE;
        char *statement = statement_of(part->stage, part->params), *before = text;
        text = statement ? smp_asprintf("%s%s%s%s%s", before, i ? " + " : "", inserted ? "(" : "", statement,
                                        inserted ? ")" : "")
                         : NULL;
        smp_free_all(statement, before);
    }
    return text;
}

static smp_code explain_step(smp_explanation *e, int index, const smp_window *window, const char *wanted,
                             smp_error *err)
{
    const smp_plan *plan = e->plan;
    const smp_step *step = &plan->steps[index];
    smp_explain_step *out = &e->steps[index];
    const void *params = step->params            ? step->params
                         : step->reduced_by >= 0 ? plan->steps[step->reduced_by].params
                                                 : NULL;
    if (!step->stage)
        out->text = smp_strdup("(input)");
    else if (step->part_count)
        out->text = parts_text(step);
    else {
        char *statement = statement_of(step->stage, params);
        bool inserted = step->node == SMP_NODE_NONE,
             measures = step->job == SMP_JOB_REDUCE && step->stage->access == SMP_ADJUST;
        out->text = !statement ? NULL : smp_asprintf(inserted ? "(%s)" : measures ? "(measure) %s" : "%s", statement);
        smp_free(statement);
    }
    SMP_NEED(out->text, "the plan's text", 256, err);
    const smp_variant *variant = step->stage ? smp_step_variant(step, wanted) : NULL;
    const bool borrowed = smp_source_by_strips(plan, index, e->device) ||
                          (e->device->host_memory && smp_zero_copy_sink(plan, index) >= 0) ||
                          (window->frame_of >= 0 && window->frame_of != index);
    out->rows = borrowed ? 0 : window->rows;
    out->bytes = smp_memory_estimate_step(plan, step, variant, !e->device->host_memory, e->strip_rows, out->rows);
    if (variant) {
        smp_view in, result, by;
        smp_memory_estimate_views(plan, step, e->strip_rows, &in, &result, &by);
        variant = smp_step_serving(step, variant, e->device, &in, &result, &by, step->work.kernel.bytes);
        out->variant = variant->name;
    }
    e->bytes += out->bytes;
    return variant && !e->device->host_memory ? explain_launches(e, step, variant, out, err) : SMP_OK;
}

static smp_code draw(const explain_settings *settings, smp_explanation *e, smp_error *err)
{
    const size_t places = 2 * (e->plan->step_count + e->plan->sink_count);
    e->places = smp_alloc_array(places, sizeof *e->places);
    smp_code code = e->places ? SMP_OK : smp_fail_memory(err, "a drawing", places * sizeof *e->places);
    if (!code && !strcmp(settings->svg, "-"))
        smp_explanation_svg(stdout, e);
    else if (!code)
        code = smp_cli_write_file(settings->svg, settings->plan.base.common.force, smp_explanation_svg, e, err);
    smp_free(e->places);
    return code;
}

static smp_code explain_plan(const explain_settings *settings, smp_explanation *e, smp_error *err)
{
    const smp_plan *plan = e->plan;
    smp_window *windows = smp_alloc_array(plan->step_count, sizeof *windows);
    e->steps = smp_alloc_array(plan->step_count, sizeof *e->steps);
    e->strip_rows = smp_strip_rows(plan, e->device, settings->plan.strip_rows);
    smp_code code = windows && e->steps ? SMP_OK : smp_fail_memory(err, "the plan", plan->step_count * sizeof *windows);
    code = code ? code : smp_plan_windows(plan, e->strip_rows, windows, err);
    if (!code) {
        e->stream_bytes = smp_memory_estimate_streams(plan, e->device, e->strip_rows, windows);
        e->thread_bytes = smp_memory_estimate_threads(plan, e->device, settings->plan.variant, e->strip_rows);
        e->bytes = e->stream_bytes + e->thread_bytes;
    }
    for (size_t i = 0; !code && i < plan->step_count; i++)
        code = explain_step(e, (int)i, &windows[i], settings->plan.variant, err);
    if (!code && settings->svg)
        code = draw(settings, e, err);
    if (!code && settings->json)
        smp_explanation_json(stdout, e);
    else if (!code && !(settings->svg && !strcmp(settings->svg, "-")))
        smp_explanation_table(stdout, e, smp_cli_color(&settings->plan.base.common, STDOUT_FILENO));
    for (size_t i = 0; e->steps && i < plan->step_count; i++)
        smp_free(e->steps[i].text);
    smp_free_all(e->steps, windows);
    return code;
}

const smp_compare_step *smp_explain_predicted(const smp_explanation *e, int step)
{
    const smp_compare *found = e->predicted;
    for (size_t i = 0; found && i < found->step_count; i++)
        if (found->steps[i].number == step && found->steps[i].variant_count &&
            !strcmp(found->steps[i].label, e->plan->steps[step].label))
            return &found->steps[i];
    return NULL;
}

/* Runs the steps' kernels in the lab on the whole input. */
static smp_code predict(const explain_settings *settings, const smp_cli_job *job, smp_compare *found, smp_error *err)
{
    enum { LIMIT = 60 /* seconds: larger pictures are not predicted */ };
    smp_progress progress;
    smp_run_request run = job->request;
    const smp_compare_request request = {.counts = true,
                                         .predicted = "",
                                         .hot = true, /* a run empties no caches */
                                         .default_only = true,
                                         .variant = settings->plan.variant,
                                         .threads = (int)settings->plan.base.common.threads,
                                         .time_limit = LIMIT,
                                         .progress = smp_progress_step,
                                         .progress_context = &progress};
    run.diags = NULL; /* the plan has told the warnings */
    smp_progress_begin(&progress, &settings->plan.base.common, settings->in);
    const smp_code code = smp_compare_file(&run, &request, found, err);
    smp_progress_end(&progress);
    return code;
}

static smp_code explain_input(const explain_settings *settings, const smp_program *program, smp_diags *diags,
                              smp_error *err)
{
    smp_plan *plan = NULL;
    smp_cli_job job;
    smp_compare found = {.step_count = 0};
    smp_code code = smp_cli_job_open(&settings->plan, program, diags, settings->in, &job, err);
    job.request.output = settings->out ? settings->out : "any.npy"; /* a format that holds what comes, whatever it is */
    code = code ? code : smp_plan_file(&job.request, &plan, err);
    if (!code && settings->time)
        code = predict(settings, &job, &found, err);
    if (!code) {
        smp_explanation explanation = {
            .pipe = settings->pipe ? settings->pipe : "-e",
            .input = settings->in,
            .assumed = !settings->out,
            .plan = plan,
            .device = job.device,
            .limit = job.request.read.limits.max_memory,
            .predicted = settings->time ? &found : NULL,
        };
        code = explain_plan(settings, &explanation, err);
    }
    smp_compare_free(&found);
    smp_plan_free(plan);
    smp_cli_job_close(&job);
    return code;
}

/* ------------------------------------------------------------------------------------------------ without an input */

/* Returns the stage's access with these parameters: automatic levels look at everything first, levels by hand do
 * not. */
static smp_access access_of(const smp_node *node, const void *params, const smp_shape *shape)
{
    smp_node_plan *plan = smp_alloc(sizeof *plan);
    smp_error err = {0};
    smp_access access = node->stage->access;
    if (plan && node->stage->plan && node->second == SMP_NODE_NONE) {
        plan->out = *shape;
        plan->access = access;
        if (!node->stage->plan(params, shape, NULL, plan, &err))
            access = plan->access;
        smp_free(plan->table.data);
    }
    smp_free(plan);
    return access;
}

/* The statement for an input of this size, null when it does not work there. */
static char *statement_for(const smp_program *program, const smp_node *node, int64_t size, smp_access *access)
{
    smp_kind kind = program->kind == SMP_AUDIO ? SMP_AUDIO : SMP_IMAGE;
    smp_shape shape = {.kind = kind,
                       .width = kind == SMP_AUDIO ? 1 : size,
                       .height = size,
                       .channels = size % 2 ? 3 : 1,
                       .format = SMP_U8};
    const smp_draw draw = {.index = (uint64_t)size};
    smp_diags diags = {0};
    smp_error err = {0};
    if (kind == SMP_AUDIO) {
        shape.format = SMP_F32;
        shape.rate = (double)size * 16;
    }
    void *params = smp_alloc(node->stage->params_size + 1);
    char *text = NULL;
    if (params && !smp_node_params(program, node, &shape, &draw, &diags, params, &err))
        text = statement_of(node->stage, params);
    if (text)
        *access = access_of(node, params, &shape);
    smp_diags_free(&diags);
    smp_free(params);
    return text;
}

/* Parameters that do not depend on the input come out the same for two inputs that have nothing in common. */
static char *statement_text(const smp_program *program, const smp_node *node, bool *depends, smp_access *access)
{
    smp_access other = node->stage->access;
    *access = other;
    char *one = statement_for(program, node, 1201, access), *two = statement_for(program, node, 3000, &other);
    *depends = !one || !two || strcmp(one, two) != 0 || smp_node_draws(node);
    if (*depends)
        *access = node->stage->access;
    char *text = *depends ? smp_strdup(node->label ? node->label : node->stage->name) : one;
    if (text != one)
        smp_free(one);
    smp_free(two);
    return text;
}

static void picture_name(char *text, size_t size, int node)
{
    if (node == SMP_NODE_INPUT)
        snprintf(text, size, "@input");
    else if (node <= SMP_NODE_FILE)
        snprintf(text, size, "a file");
    else
        snprintf(text, size, "%d", node + 1);
}

static void node_json(smp_json *json, int number, const smp_node *node, const char *text, bool depends,
                      smp_access access)
{
    char from[16];
    SMP_JSON_OPEN(json, NULL, ("number", number + 1), ("statement", node->label), ("stage", node->stage->name));
    SMP_JSON(json, ("text", text), ("depends_on_input", depends), ("access", smp_access_name(access)));
    picture_name(from, sizeof from, node->input);
    smp_json_string(json, "input", from);
    if (node->second != SMP_NODE_NONE) {
        picture_name(from, sizeof from, node->second);
        smp_json_string(json, "by", from);
    }
    smp_json_bool(json, "linear_light", node->light == SMP_LIGHT_LINEAR);
    smp_json_end(json, '}');
}

/* Describes what a stage needs of its input for one pixel, or one frame of a sound. */
static const char *reads_text(const smp_stage *stage, smp_access access)
{
    static const char *const texts[][2] = {{"the same pixel", "the same frame"},
                                           {"pixels around", "frames around"},
                                           {"everything", "everything"},
                                           {"everything", "everything"},
                                           {"everything, then the pixel", "everything, then the frame"}};
    return (size_t)access < sizeof texts / sizeof texts[0] ? texts[access][stage->domain == SMP_AUDIO] : "?";
}

static void node_line(int number, const smp_node *node, const char *text, bool depends, smp_access access)
{
    char from[16];
    bool wide = smp_text_columns(text) > STATEMENT_COLUMNS;
    printf("%3d  ", number + 1);
    if (wide) { /* a long statement has lines of its own */
        smp_text_wrap(stdout, text, 5, 7);
        printf("%5s", "");
    }
    smp_text_column(stdout, wide ? "" : text, STATEMENT_COLUMNS);
    printf("  %s", reads_text(node->stage, access));
    if (node->input != number - 1) { /* a branch; the first statement takes @input, which is -1 too */
        picture_name(from, sizeof from, node->input);
        printf("  from %s", from);
    }
    if (node->second != SMP_NODE_NONE) {
        picture_name(from, sizeof from, node->second);
        printf("  by %s", from);
    }
    if (node->light == SMP_LIGHT_LINEAR)
        printf("  linear light");
    if (depends)
        printf("  depends on the input");
    putchar('\n');
}

static smp_code explain_program(const explain_settings *settings, const smp_program *program, smp_error *err)
{
    smp_json json;
    const char *kind = program->kind == SMP_IMAGE ? "image" : program->kind == SMP_AUDIO ? "audio" : "any";
    const char *name = settings->pipe ? settings->pipe : "-e";
    if (settings->json) {
        smp_json_begin(&json, stdout, false);
        SMP_JSON_OPEN(&json, NULL, ("pipeline", name), ("kind", kind));
        smp_json_array(&json, "statements");
    } else {
        smp_text_clean(stdout, name);
        printf(": %zu stage%s, input: %s\n\n", program->node_count, program->node_count == 1 ? "" : "s", kind);
        printf("%3s  %-*s  %s\n", "#", STATEMENT_COLUMNS, "stage", "reads");
    }
    for (size_t i = 0; i < program->node_count; i++) {
        const smp_node *node = &program->nodes[i];
        bool depends;
        smp_access access;
        char *text = statement_text(program, node, &depends, &access);
        SMP_NEED(text, "the plan's text", 256, err);
        if (settings->json)
            node_json(&json, (int)i, node, text, depends, access);
        else
            node_line((int)i, node, text, depends, access);
        smp_free(text);
    }
    if (settings->json) {
        smp_json_end(&json, ']');
        smp_json_end(&json, '}');
    } else
        puts("\nName an input to see types, inserted steps, strips and memory.");
    return SMP_OK;
}

static smp_code check_time(const explain_settings *settings, const smp_program *program, smp_error *err)
{
    if (program->origin)
        return smp_cli_fail_made(program->made_label, err);
    if (settings->in && strcmp(settings->in, "-") != 0)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--time executes kernels on an input, which is read for it");
    return smp_hint(err, "name a file: smempipe explain P.pipe IN --time");
}

static smp_code check_svg(const explain_settings *settings, smp_error *err)
{
    if (!settings->in)
        return smp_fail(err, SMP_E_USAGE, "--svg draws a plan, and a plan is for an input"),
               smp_hint(err, "name one: smempipe explain P.pipe IN --svg plan.svg");
    if (settings->json && !strcmp(settings->svg, "-"))
        return smp_fail(err, SMP_E_USAGE, "only one of --json and --svg can go to standard output");
    SMP_TRY(smp_cli_refuse_report(settings->svg, settings->in, err));
    return smp_cli_refuse_report(settings->svg, settings->pipe, err);
}

static smp_code explain_either(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    explain_settings *settings = given;
    if (program->origin && settings->in)
        return smp_fail(err, SMP_E_USAGE, "'%s' makes the input, and %.200s is one too", program->origin->words.name,
                        settings->in),
               smp_hint(err, "leave one of them out");
    if (program->origin)
        settings->in = program->made_label;
    if (settings->svg)
        SMP_TRY(check_svg(settings, err));
    if (settings->time)
        SMP_TRY(check_time(settings, program, err));
    return settings->in ? explain_input(settings, program, diags, err) : explain_program(settings, program, err);
}

static smp_code explain(void *given, smp_error *err)
{
    explain_settings *settings = given;
    SMP_TRY(smp_cli_check_variant(&settings->plan, err));
    settings->plan.base.makes = true;
    if (settings->in)
        SMP_TRY(smp_cli_check_input(settings->pipe, settings->in, err));
    if (settings->in)
        settings->plan.base.input = smp_name_kind(settings->in);
    return smp_cli_with_program(&settings->plan.base, settings->pipe, explain_either, settings, err);
}

const smp_command smp_command_explain = {
    .name = "explain",
    .help = "show how a pipeline would run: defaults, types, strips, memory, variants",
    .about = "Nothing is written, and without --time nothing computed. With --device cuda or simt every launch is "
             "shown: grid, block, registers, shared memory, how many of its blocks run on an SM together, and what "
             "keeps that from being more.",
    .settings_size = sizeof(explain_settings),
    .one_input = true,
    .without = SMP_O_VERBOSE,
    .groups = {{"options", options}, SMP_PIPELINE_GROUP, SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe explain scan-clean.pipe page.jpg page.png", "the plan for this picture, step by step"},
                 {"smempipe explain scan-clean.pipe page.jpg --svg plan.svg", "the same as a drawing"},
                 {"smempipe explain blur.pipe photo.png --time", "what each step would take on an H100"},
                 {"smempipe explain -e '{stencil}'", "one stage with its defaults filled in"}},
    .run = explain,
};
