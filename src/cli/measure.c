/* smempipe measure: what a pipeline's measuring stages find in files, and in all of them together. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/many.h"
#include "cli/shard.h"
#include "cli/shipped.h"
#include "report/measure.h"

typedef struct measure_settings {
    smp_many_settings many;
    bool json, csv, long_form, totals_only;
    const char *sort;
} measure_settings;

static const smp_option options[] = {
    {"json", 0, SMP_O_FLAG, offsetof(measure_settings, json), .help = "write JSON"},
    {"csv", 0, SMP_O_FLAG, offsetof(measure_settings, csv),
     .help = "write CSV: a row a file, a column a value (mean_r, p50_g)"},
    {"long", 0, SMP_O_FLAG, offsetof(measure_settings, long_form),
     .help = "with --csv: a row a value, also those of histograms"},
    {"sort", 0, SMP_O_STRING, offsetof(measure_settings, sort), .argument = "COLUMN",
     .help = "with --csv: files in the order of this column, the largest first with - before its name"},
    {"together", 't', SMP_O_FLAG, offsetof(measure_settings, totals_only),
     .help = "only what all files are together, not each by itself"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(measure_settings, many.pipe), .unless = "stage", .refuse = smp_shipped_refuse,
     .help = "the pipeline: a file, or the name of one that 'smempipe pipelines' lists"},
    {"IN", offsetof(measure_settings, many.inputs), .many = true, .unless = "files-from",
     .help = "files and folders to read; - is standard input"},
    {0},
};

typedef struct measuring {
    const smp_common *common;
    smp_measure_output output;
    smp_totals totals;
    smp_failures failures;
    smp_remarks remarks;
    smp_progress progress;
    smp_error broken; /* why totals could not be kept */
} measuring;

static void finished(void *context, size_t index, smp_run_report *report, const smp_error *err)
{
    measuring *m = context;
    (void)index;
    if (report->status) {
        smp_failures_add(&m->failures, report->input, err);
        return;
    }
    smp_remarks_add(&m->remarks, report);
    if (isatty(STDOUT_FILENO) && m->progress.shown)
        smp_progress_end(&m->progress);
    if (!m->broken.code)
        smp_measure_file(&m->output, report, &m->broken);
    if (!m->broken.code)
        smp_totals_add(&m->totals, report, &m->broken);
}

static void tick(void *context, const smp_batch_count *count)
{
    measuring *m = context;
    size_t ended = count->done + count->failed;
    if (!isatty(STDOUT_FILENO) || m->output.totals_only)
        smp_progress_files(&m->progress, ended, count->failed, count->files,
                           count->bytes ? (double)count->bytes_done / (double)count->bytes
                                        : (double)ended / (double)count->files);
}

/* A pipeline in which nothing is measured is a mistake. */
static smp_code check_program(const smp_program *program, smp_error *err)
{
    for (size_t i = 0; i < program->node_count; i++)
        if (program->nodes[i].stage->finish)
            return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "the pipeline measures nothing");
    for (size_t i = smp_stage_count(); i-- > 0;)
        if (smp_stage_at(i)->access == SMP_REDUCE)
            smp_hint(err, "add a stage that does: %s", smp_stage_at(i)->example);
    return SMP_E_PIPE;
}

static smp_code measure_files(const measure_settings *settings, smp_found_list *found, const smp_program *program,
                              smp_diags *diags, smp_error *err)
{
    const smp_common *common = &settings->many.plan.base.common;
    measuring m = {.common = common,
                   .output = {.to = stdout,
                              .format = settings->json        ? SMP_MEASURE_JSON
                                        : settings->long_form ? SMP_MEASURE_LONG
                                        : settings->csv       ? SMP_MEASURE_CSV
                                                              : SMP_MEASURE_TABLE,
                              .sort = settings->sort,
                              .color = smp_cli_color(common, STDOUT_FILENO),
                              .totals_only = settings->totals_only}};
    smp_batch_request request = smp_many_request(&settings->many, program, diags);
    smp_batch_count count = {0};
    char note[400];
    smp_batch_file *files = smp_many_files(found, err);
    if (!files)
        return err->code;
    request.files = files;
    request.count = found->count;
    request.partials = request.in_order = true;
    request.finished = finished;
    request.tick = tick;
    request.context = &m;
    smp_measure_begin(&m.output);
    smp_progress_begin(&m.progress, common, "measure");
    smp_code code = smp_batch_run(&request, &count, note, sizeof note, err);
    smp_progress_end(&m.progress);
    if (common->verbose && !common->quiet && note[0])
        fprintf(stderr, "smempipe: %s\n", note);
    if (!code && (code = m.broken.code))
        *err = m.broken;
    if (!code && m.output.wide.lists && !common->quiet)
        smp_cli_warning(common, "histograms have no columns; --csv --long writes them");
    if (!code)
        code = smp_measure_end(&m.output, &m.totals, count.done, count.failed, err);
    if (!code && m.output.unsorted && !common->quiet)
        smp_cli_warning(common, "%zu of %zu rows have no '%s' and come last: other channels, or another kind of file",
                        m.output.unsorted, m.output.rows, settings->sort + (settings->sort[0] == '-'));
    smp_wide_free(&m.output.wide);
    if (!code) {
        smp_remarks_show(&m.remarks, common);
        smp_failures_show(&m.failures, common, count.files);
        code = count.failed ? SMP_E_PROCESS : SMP_OK;
    }
    const size_t left_out = found->left_out.files;
    char *others = left_out && !common->quiet ? smp_left_out_text(&found->left_out) : NULL;
    if (others)
        fprintf(stderr, "smempipe: %zu file%s passed over by their names (%s)\n", left_out, left_out == 1 ? "" : "s",
                others);
    smp_free(others);
    smp_failures_free(&m.failures);
    smp_remarks_free(&m.remarks);
    smp_totals_free(&m.totals);
    smp_many_files_free(files);
    return code;
}

static smp_code run_program(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const measure_settings *settings = given;
    smp_find_options walk = smp_many_walk(&settings->many, program);
    smp_found_list found = {0};
    walk.standard_input = true;
    smp_code code = check_program(program, err);
    if (!code)
        code = smp_walk(settings->many.inputs.items, settings->many.inputs.count, &walk, &found, err);
    if (!code)
        code = smp_many_check(&settings->many, found.count, &found.left_out, err);
    if (!code)
        code = measure_files(settings, &found, program, diags, err);
    smp_found_free(&found);
    return code;
}

static smp_code measure(void *given, smp_error *err)
{
    measure_settings *settings = given;
    if (settings->json && settings->csv) {
        smp_fail(err, SMP_E_USAGE, "--json and --csv exclude each other");
        return smp_hint(err, "choose one");
    }
    if ((settings->sort || settings->long_form) && !settings->csv) {
        smp_fail(err, SMP_E_USAGE, "%s is for CSV", settings->sort ? "--sort" : "--long");
        return smp_hint(err, "write --csv %s%s", settings->sort ? "--sort " : "--long",
                        settings->sort ? settings->sort : "");
    }
    if (settings->sort && settings->long_form) {
        smp_fail(err, SMP_E_USAGE, "--sort and --long exclude each other");
        return smp_hint(err, "files are sorted in the form of a row a file");
    }
    smp_code code = smp_cli_check_variant(&settings->many.plan, err);
    if (!code)
        code = smp_cli_refuse_ranks(err);
    if (!code)
        code = smp_many_open(&settings->many, err);
    for (size_t i = 0; !code && i < settings->many.inputs.count; i++)
        code = smp_cli_check_input(settings->many.pipe, settings->many.inputs.items[i], err);
    if (!code)
        code = smp_cli_with_program(&settings->many.plan.base, settings->many.pipe, run_program, settings, err);
    smp_many_close(&settings->many);
    return code;
}

const smp_command smp_command_measure = {
    .name = "measure",
    .help = "what a pipeline measures in files, and in all of them together",
    .about =
        "Prints the findings of stages that measure, for each file and for all files together; no picture is written. "
        "Together means as if all files were one: counts, sums, extremes, means and deviations over all samples, "
        "percentiles from counts that are added up, never means of means. Files of different sizes go together; files "
        "of "
        "different formats or channels (8 and 16 bits, gray and colour) do not, since their code values mean different "
        "things: each kind is told by itself. A stage in front that makes them alike brings them together.",
    .settings_size = sizeof(measure_settings),
    .without = SMP_O_OUTPUTS,
    .groups = {{"options", options}, SMP_MANY_GROUP, SMP_PIPELINE_GROUP, SMP_COMMON_GROUP, SMP_PLAN_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe measure -e '{reduce}' photo.jpg", "a table of one file"},
                 {"smempipe measure dataset-stats train/ -r -t --json",
                  "mean and deviation of a data set, to normalise by"},
                 {"smempipe measure focus-report photos/ --csv --sort -deviation", "a row a file, the sharpest first"}},
    .run = measure,
};
