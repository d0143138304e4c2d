/* smempipe run: one file through a pipeline. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/mistakes.h"
#include "cli/shipped.h"
#include "cli/write_options.h"
#include "commands/outputs.h"
#include "compare/input.h"
#include "report/report.h"
#include "run/run.h"

static const smp_option options[] = {
    {"report", 0, SMP_O_STRING, offsetof(smp_run_settings, report), .argument = "FILE.json", .flags = SMP_O_OPTIONAL,
     .help = "show on stderr what each stage cost and found (-v does too), or write it to a file as JSON"},
    {"counters", 0, SMP_O_FLAG, offsetof(smp_run_settings, counters),
     .help = "add to the report what the GPU kernels do to shared memory: wavefronts and bank conflicts. model: their "
             "SASS is executed, or the build has none and they are traced as the host's compiler makes them"},
    SMP_INDEX_OPTION(offsetof(smp_run_settings, plan)),
    {"format", 0, SMP_O_STRING, offsetof(smp_run_settings, format), .argument = "EXT",
     .help = "the format of standard output, by its extension: jpg, npy, flac, raw; png and wav unless said"},
    {"to", 0, SMP_O_STRING, offsetof(smp_run_settings, format), .argument = "EXT", .help = "the same as --format"},
    {"frames", 0, SMP_O_FLAG, offsetof(smp_run_settings, frames),
     .help = "run every picture of a stream (y4m, --raw, GIF, WebP, PNG), one after another, into a .y4m or .raw, or "
             "into files "
             "with a number in their names, as in frame-%04d.png; standard output gets raw after --raw, else y4m; "
             "--report FILE gets a line of JSON for each"},
    {0},
};

/* Whether the pipeline makes its own input. What is wrong with it is told when it is run. */
static bool makes_input(const void *given)
{
    smp_run_settings settings = *(const smp_run_settings *)given;
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_error unsaid = {.code = SMP_OK};
    const char *pipe = settings.plan.base.stages.count ? NULL : settings.pipe;
    bool made = false;
    if ((pipe || settings.plan.base.stages.count) && (!pipe || strcmp(pipe, "-") != 0) &&
        !smp_cli_parse(&settings.plan.base, pipe, &diags, &program, &unsaid))
        made = program->origin != NULL;
    else if (settings.plan.base.stages.count)
        made = smp_origin_begins(settings.plan.base.stages.items[0]);
    smp_program_free(program);
    smp_diags_free(&diags);
    return made;
}

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(smp_run_settings, pipe), .unless = "stage", .refuse = smp_shipped_refuse,
     .help = "the pipeline: a file, or the name of one that 'smempipe pipelines' lists"},
    {"IN", offsetof(smp_run_settings, in), .spared = makes_input,
     .help = "the file to read; - is standard input; none where the pipeline begins with canvas, tone or the like "
             "(smempipe stages)"},
    {"OUT", offsetof(smp_run_settings, out),
     .help = "the file to write, its format by its extension; - is standard output"},
    {0},
};

static bool is_file_report(const smp_run_settings *settings)
{
    return settings->report && settings->report[0];
}

/* Everything about the report file that can be known before the pipeline is. */
static smp_code check_report(const smp_run_settings *settings, smp_error *err)
{
    const char *path = settings->report;
    if (!strcmp(path, "-")) {
        if (strcmp(settings->out, "-") != 0)
            return SMP_OK;
        smp_fail(err, SMP_E_USAGE, "the report and the picture cannot both go to standard output");
        return smp_hint(err, "give one of them a file name");
    }
    if (!strcmp(path, settings->out))
        return smp_fail(err, SMP_E_USAGE, "the report and the output are the same file '%s'", path);
    if (smp_cli_refuse_report(path, settings->in, err) || smp_cli_refuse_report(path, settings->pipe, err) ||
        smp_cli_refuse_report(path, settings->out, err))
        return err->code;
    return smp_cli_check_report(path, settings->plan.base.common.force, err);
}

/* And what the pipeline names: files that it includes, reads and saves. */
static smp_code check_report_beside(const smp_run_settings *settings, const smp_program *program,
                                    const smp_diags *diags, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < diags->source_count; i++)
        if (diags->sources[i].included)
            code = smp_cli_refuse_report(settings->report, diags->sources[i].name, err);
    for (size_t i = 0; !code && i < program->file_count; i++)
        code = smp_cli_refuse_report(settings->report, program->files[i].path, err);
    for (size_t i = 0; !code && i < program->save_count; i++) {
        char *path = NULL;
        code = smp_save_path(settings->out, NULL, program->saves[i].path, &path, err);
        code = code ? code : smp_cli_refuse_report(settings->report, path, err);
        smp_free(path);
    }
    return code;
}

static void render_report(FILE *to, const void *report)
{
    smp_report_json(to, report, false);
}

static smp_code write_report(const smp_run_settings *settings, const smp_run_report *report, smp_error *err)
{
    if (!strcmp(settings->report, "-")) {
        smp_report_json(stdout, report, false);
        return SMP_OK;
    }
    return smp_cli_write_file(settings->report, settings->plan.base.common.force, render_report, report, err);
}

static smp_code check_format(const smp_run_settings *settings, smp_error *err)
{
    SMP_TRY(smp_cli_check_extension("format", settings->format, err));
    if (!strcmp(settings->out, "-"))
        return SMP_OK;
    return smp_cli_refuse_format("format", "standard output", "give - as OUT", settings->out, settings->format, err);
}

static smp_code check_arguments(const smp_run_settings *settings, smp_error *err)
{
    SMP_TRY(settings->in ? smp_cli_check_input(settings->pipe, settings->in, err) : SMP_OK);
    if (!settings->in && (settings->frames || settings->counters))
        return smp_fail(err, SMP_E_USAGE, "--%s reads a file, and the pipeline makes its input",
                        settings->frames ? "frames" : "counters");
    SMP_TRY(smp_cli_check_stdout(settings->out, err));
    if (settings->format)
        SMP_TRY(check_format(settings, err));
    SMP_TRY(smp_cli_check_variant(&settings->plan, err));
    if (is_file_report(settings))
        SMP_TRY(check_report(settings, err));
    if (settings->counters && settings->in && !strcmp(settings->in, "-"))
        return smp_fail(err, SMP_E_USAGE, "--counters reads the input again, which standard input cannot do"),
               smp_hint(err, "name a file");
    if (settings->counters && settings->frames)
        return smp_fail(err, SMP_E_USAGE, "--counters counts one picture, and --frames runs many");
    return SMP_OK;
}

typedef struct frame_log { /* what was found in each picture */
    FILE *to;
    int64_t pictures;
} frame_log;

static void log_frame(void *context, int64_t number, smp_run_report *report)
{
    frame_log *log = context;
    log->pictures = number;
    if (log->to)
        smp_report_frame(log->to, number, report);
}

static smp_code fail_log(const char *path, smp_error *err)
{
    smp_fail(err, SMP_E_WRITE, "cannot write the report: %s", strerror(errno));
    smp_hint(err, "give a file in a folder that you may write to");
    return smp_at(err, "%s", path);
}

/* Every picture of a stream. The report grows with them, since the stream may have no end. */
static smp_code run_frames(const smp_run_settings *settings, smp_run_request *request, smp_run_report *report,
                           smp_error *err)
{
    frame_log log = {0};
    const bool file = is_file_report(settings), standard = file && !strcmp(settings->report, "-");
    if (file &&
        !(log.to = standard ? stdout : fopen(settings->report, settings->plan.base.common.force ? "we" : "wxe")))
        return fail_log(settings->report, err);
#ifdef F_SETPIPE_SZ /* fewer turns between the programs of a pipe; only a wish */
    (void)fcntl(STDIN_FILENO, F_SETPIPE_SZ, 1 << 20);
    (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20);
#endif
    smp_code code = smp_run_frames(request, log_frame, &log, report, err);
    bool failed = log.to && ferror(log.to) != 0;
    if (log.to && !standard && fclose(log.to) != 0)
        failed = true;
    if (!code && failed)
        code = fail_log(settings->report, err);
    if (settings->plan.base.common.verbose && !settings->plan.base.common.quiet)
        fprintf(stderr, "smempipe: %lld pictures, %.4g a second\n", (long long)log.pictures,
                (double)log.pictures / (report->wall_seconds > 0 ? report->wall_seconds : 1));
    return code;
}

/* Warns of options that do nothing to this input and output. */
static void warn_of_idle_options(const smp_run_settings *settings, const smp_program *program)
{
    const smp_common *common = &settings->plan.base.common;
    const char *in = !strcmp(settings->in, "-") ? "standard input" : smp_writer_format(settings->in, NULL);
    if (common->fast_decode && in && strcmp(in, "JPEG") != 0)
        smp_cli_warning(common, "--fast-decode does nothing: it is for JPEG files, and this is %s", in);
    if (!settings->frames)
        smp_cli_idle_options(common, &settings->write, settings->out, settings->format, program);
}

static smp_run_request request_of(const smp_run_settings *settings, const smp_cli_job *job, smp_progress *progress)
{
    const smp_common *common = &settings->plan.base.common;
    smp_run_request request = job->request;
    request.output = settings->out;
    request.progress = smp_progress_step;
    request.progress_context = progress;
    request.write.output.force = common->force;
    smp_cli_write_options(&settings->write, &request.write);
    if (settings->format)
        request.write.format = settings->format + (settings->format[0] == '.');
    if (settings->frames) {
        request.read.frames = true;
        if (!settings->format)
            request.write.format = common->raw ? "raw" : "y4m";
    }
    return request;
}

/* Tells what there is to say of a run that went well. */
static void tell(const smp_run_settings *settings, const smp_run_report *report)
{
    const smp_common *common = &settings->plan.base.common;
    const bool table =
        (common->verbose && !common->quiet) || ((settings->report || settings->counters) && !is_file_report(settings));
    if (table)
        smp_report_table(stderr, report, smp_cli_color(common, STDERR_FILENO));
    else {
        smp_cli_clipped(common, settings->out, report->output_clipped);
        smp_cli_step_warnings(common, settings->out, report);
    }
    smp_cli_notes(common, settings->in, false, &report->input_notes);
    smp_cli_notes(common, settings->out, true, &report->output_notes);
}

/* An input is given or made, and not both. */
static smp_code check_origin(smp_run_settings *settings, const smp_program *program, smp_error *err)
{
    if (!program->origin)
        return settings->in ? SMP_OK : smp_fail(err, SMP_E_USAGE, "IN is missing");
    if (settings->in)
        return smp_fail(err, SMP_E_USAGE, "'%s' makes the input, and %.200s is one too", program->origin->words.name,
                        settings->in),
               smp_hint(err, "name the output alone");
    settings->in = program->made_label;
    return SMP_OK;
}

static smp_code run_program(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    smp_run_settings *settings = given;
    SMP_TRY(check_origin(settings, program, err));
    const smp_common *common = &settings->plan.base.common;
    smp_run_report report = {0};
    smp_error report_err = {0};
    smp_progress progress;
    smp_cli_job job;
    SMP_TRY(is_file_report(settings) ? check_report_beside(settings, program, diags, err) : SMP_OK);
    warn_of_idle_options(settings, program);
    smp_cli_warn_of_no_stage(common, settings->pipe, program);
    smp_cli_confine_run(settings, program);
    smp_code code = smp_cli_job_open(&settings->plan, program, diags, settings->in, &job, err);
    if (code) {
        smp_cli_job_close(&job);
        return code;
    }
    smp_run_request request = request_of(settings, &job, &progress);
    smp_progress_begin(&progress, common, settings->in);
    smp_progress_watch(&progress);
    code = settings->frames ? run_frames(settings, &request, &report, err) : smp_run_file(&request, &report, err);
    smp_progress_end(&progress);
    if (!code && settings->counters) {
        smp_progress_begin(&progress, common, "counting");
        code = smp_count_run(&request, (int)common->threads, &report, err);
        smp_progress_end(&progress);
    }
    const size_t noted = strlen(report.device_note);
    snprintf(report.device_note + noted, sizeof report.device_note - noted, "%s%s", noted && job.note[0] ? "; " : "",
             job.note);
    if (is_file_report(settings) && !settings->frames && write_report(settings, &report, &report_err) && !code) {
        code = report_err.code;
        *err = report_err;
    }
    if (!code)
        tell(settings, &report);
    smp_run_report_free(&report);
    smp_cli_job_close(&job);
    return code;
}

smp_code smp_cli_run(smp_run_settings *settings, smp_error *err)
{
    SMP_TRY(check_arguments(settings, err));
    const char *const in = settings->in;
    settings->plan.base.makes = true;
    if (settings->in) {
        smp_cli_look_near(settings->in);
        settings->plan.base.input = smp_name_kind(settings->in);
    }
    const bool there = !access(settings->out, F_OK);
    smp_code code = smp_cli_with_program(&settings->plan.base, settings->pipe, run_program, settings, err);
    if (code == SMP_E_READ && there && in && !strcmp(err->where, in) && access(in, F_OK) != 0)
        smp_hint(err, "'%.200s' is there: the input comes first, then the output", settings->out);
    return code;
}

static smp_code run(void *settings, smp_error *err)
{
    return smp_cli_run(settings, err);
}

const smp_command smp_command_run = {
    .name = "run",
    .help = "run a pipeline over one file",
    .settings_size = sizeof(smp_run_settings),
    .one_input = true,
    .groups = {{"options", options}, SMP_WRITE_GROUP(smp_run_settings, write), SMP_PIPELINE_GROUP, SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe run -v scan-clean.pipe page.jpg page.png --set paper=50px",
                  "the picture page.png, and on stderr what every stage cost"},
                 {"smempipe run -e '{stencil}' -e '{point}' in.png - | display",
                  "two stages without a file, the result to another program"}},
    .run = run,
};
