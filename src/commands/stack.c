/* smempipe stack: many pictures, or sounds, become one, sample by sample. The files are read side by side, and go as
 * one input through the stage `stack`. */
#include <string.h>

#include "base/alloc.h"
#include "cli/mistakes.h"
#include "commands/outputs.h"

typedef struct stack_settings {
    smp_many_settings many;
    const char *out;
    int by;
    smp_write_settings write;
} stack_settings;

static const char *const ways[] = {"mean", "median", "min", "max", "sum", NULL};

static const smp_option options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(stack_settings, out), .argument = "OUT",
     .help = "the file to write, its name says the format; - is standard output"},
    {"by", 0, SMP_O_CHOICE, offsetof(stack_settings, by), .fallback = "mean", .argument = "WAY", .choices = ways,
     .help = "mean: less noise; median: without what only few pictures have; min, max: the darkest, the brightest; "
             "sum: sounds at the same time"},
    {"stage", 'e', SMP_O_LIST, offsetof(stack_settings, many.plan.base.stages), .argument = "STAGE",
     .help = "a stage that the result goes through; may be repeated"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"IN", offsetof(stack_settings, many.inputs), .many = true, .unless = "files-from",
     .help = "pictures of one size, or sounds of one rate, and folders of them"},
    {0},
};

static smp_code run(const stack_settings *s, const smp_program *program, smp_diags *diags, const char **inputs,
                    smp_error *err)
{
    const smp_common *common = &s->many.plan.base.common;
    smp_run_report report = {.input = NULL};
    smp_cli_job job;
    SMP_TRY(smp_cli_job_open(&s->many.plan, program, diags, inputs[0], &job, err));
    job.request.stack = inputs;
    job.request.output = s->out;
    smp_cli_write_options(&s->write, &job.request.write);
    job.request.write.output.force = common->force;
    smp_code code = smp_run_file(&job.request, &report, err);
    if (!code) {
        smp_cli_notes(common, inputs[0], false, &report.input_notes);
        smp_cli_notes(common, s->out, true, &report.output_notes);
        smp_cli_clipped(common, s->out, report.output_clipped);
    }
    smp_run_report_free(&report);
    smp_cli_job_close(&job);
    return code;
}

/* Files that are open at once, each with a process that decodes it. */
static smp_code check_count(size_t count, smp_error *err)
{
    enum { MOST = 256 };
    if (count <= MOST)
        return SMP_OK;
    smp_fail(err, SMP_E_LIMIT, "%zu files are more than the %d that are read side by side", count, MOST);
    return smp_hint(err, "stack parts of as many files each, then what these give: of a mean or median that is near");
}

/* A command's run, which finds its files before its stages are parsed: one of them says how many there are. */
typedef struct stacking {
    const stack_settings *settings;
    smp_found_list found;
    const char **inputs; /* ends with null */
} stacking;

static smp_code find_files(stacking *k, smp_error *err)
{
    const smp_many_settings *many = &k->settings->many;
    const smp_program any = {.kind = SMP_KIND_NONE};
    const smp_find_options walk = smp_many_walk(many, &any);
    SMP_TRY(smp_many_find(many, &walk, &k->found, &k->inputs, err));
    return check_count(k->found.count, err);
}

static smp_code run_stages(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const stacking *k = given;
    const stack_settings *s = k->settings;
    if (strcmp(s->out, "-") != 0)
        SMP_TRY(smp_make_folders(s->out, err));
    smp_cli_confine_many(&s->many, program, &k->found, s->out);
    return run(s, program, diags, k->inputs, err);
}

/* The stage that makes one of all stands in front of the others. */
static smp_code with_stages(stack_settings *s, stacking *k, smp_error *err)
{
    smp_strings *stages = &s->many.plan.base.stages;
    char *text = smp_asprintf("stack %zu by=%s", k->found.count, ways[s->by]);
    smp_code code = SMP_OK;
    if (!text || !smp_grow(&stages->items, &stages->capacity, stages->count + 1, sizeof *stages->items))
        code = smp_fail_memory(err, "a stage", 1);
    else {
        memmove(stages->items + 1, stages->items, stages->count++ * sizeof *stages->items);
        stages->items[0] = text;
        code = smp_cli_with_program(&s->many.plan.base, NULL, run_stages, k, err);
    }
    smp_free(text);
    return code;
}

static smp_code stack(void *given, smp_error *err)
{
    stack_settings *s = given;
    stacking k = {.settings = s};
    if (!s->out) {
        smp_fail(err, SMP_E_USAGE, "the output is missing");
        const char *last = smp_cli_last_as_output(&s->many.inputs);
        return smp_hint(err, "write -o %.200s", last ? last : "mean.png");
    }
    smp_code code = smp_cli_check_stdout(s->out, err);
    code = code ? code : smp_many_open(&s->many, err);
    code = code ? code : find_files(&k, err);
    code = code ? code : with_stages(s, &k, err);
    smp_free(k.inputs);
    smp_found_free(&k.found);
    smp_free(s->many.plan.base.stages.items);
    s->many.plan.base.stages = (smp_strings){0};
    smp_many_close(&s->many);
    return code;
}

const smp_command smp_command_stack = {
    .name = "stack",
    .help = "the mean, median, least or greatest of many pictures, or sounds",
    .about =
        "All must have the same size, channels and depth, and the same profile; sounds the same rate, and one that is "
        "shorter goes on silently. Metadata is the first one's. It streams: memory is some rows of each. The median "
        "of pictures of one place shows it without who walked by, the mean has less noise, the sum of sounds is "
        "their mix (`-e limit` keeps it below full scale).",
    .meant = (const smp_alias[]){{"evaluate-sequence operator mode method mean average", "--by mean"},
                                 {"median", "--by median"},
                                 {"min darkest", "--by min"},
                                 {"max brightest", "--by max"},
                                 {0}},
    .settings_size = sizeof(stack_settings),
    .groups = {{"options", options}, SMP_WRITE_GROUP(stack_settings, write), SMP_MANY_GROUP, SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe stack night/ -o stars.tif --by mean", "a folder of exposures, with less noise"},
                 {"smempipe stack square/*.jpg -o empty.png --by median", "a place without who passed through"},
                 {"smempipe stack choir/*.wav -o all.wav --by sum -e limit", "sounds at the same time"}},
    .run = stack,
};
