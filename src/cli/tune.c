/* smempipe tune: what is fastest on this device, kept for `--tuned`. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "exec/tune.h"
#include "io/output.h"
#include "report/text.h"

typedef struct tune_settings {
    smp_plan_settings plan;
    const char *pipe, *in;
    double time_limit;
    int64_t repeat;
    bool show, forget;
} tune_settings;

static const smp_option options[] = {
    {"time-limit", 0, SMP_O_NUMBER, offsetof(tune_settings, time_limit), .fallback = "20", .argument = "S", .min = 0,
     .max = 86400, .help = "search for about S seconds"},
    {"repeat", 0, SMP_O_INT, offsetof(tune_settings, repeat), .fallback = "10", .argument = "N", .min = 5, .max = 1000,
     .help = "time each candidate at least N times"},
    {"show", 0, SMP_O_FLAG, offsetof(tune_settings, show), .help = "list what is kept, of every device"},
    {"forget", 0, SMP_O_FLAG, offsetof(tune_settings, forget), .help = "remove all that is kept"},
    {"isa", 0, SMP_O_CHOICE, offsetof(tune_settings, plan.isa), .fallback = "auto", .argument = "SET",
     .flags = SMP_O_ADVANCED, .help = "instruction set of the CPU kernels: auto, base, v3 (AVX2) or v4 (AVX-512)",
     .choices = smp_isa_words},
    {"plain-storage", 0, SMP_O_FLAG, offsetof(tune_settings, plan.plain_storage), .flags = SMP_O_ADVANCED,
     .help = "store floats between all stages"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(tune_settings, pipe), .unless = "stage", .optional = true, .help = "the pipeline"},
    {"IN", offsetof(tune_settings, in), .optional = true,
     .help = "a file like those that it will run on: what is found holds for its size, format and channels"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ what is kept */

static void show_entry(const smp_tuned_entry *entry)
{
    char text[96];
    if (entry->stage)
        smp_tuning_text(&entry->tuning, text, sizeof text);
    else
        snprintf(text, sizeof text, "strips of %lld rows", (long long)entry->strip_rows);
    fputs("  ", stdout);
    smp_text_wrap(stdout, entry->work, 2, 4);
    fputs("    ", stdout);
    smp_text_column(stdout, text, 40);
    printf("  %10.4g ms  -> %10.4g ms  %6.2f x\n", entry->before, entry->after,
           entry->after > 0 ? entry->before / entry->after : 0);
}

static void show_kept(const smp_tuned *tuned)
{
    for (size_t i = 0; i < tuned->count; i++) {
        bool first = true; /* of its device */
        for (size_t k = 0; k < i; k++)
            first = first && strcmp(tuned->entries[k].device, tuned->entries[i].device) != 0;
        for (size_t k = i; first && k < tuned->count; k++)
            if (!strcmp(tuned->entries[k].device, tuned->entries[i].device)) {
                if (k == i)
                    smp_text_wrap(stdout, tuned->entries[i].device, 0, 2);
                show_entry(&tuned->entries[k]);
            }
    }
    if (tuned->path) {
        fputs(tuned->count ? "in " : "nothing is kept in ", stdout);
        smp_text_clean(stdout, tuned->path);
        putchar('\n');
    } else
        puts("nothing is kept: there is no cache folder (HOME and XDG_CACHE_HOME are not set)");
}

static smp_code forget(const smp_common *common, const smp_tuned *tuned, smp_error *err)
{
    bool there;
    smp_code code = smp_tuned_forget(tuned, &there, err);
    if (!code && !common->quiet)
        puts(there ? "forgotten: --tuned runs with the defaults from now on" : "nothing was kept");
    return code;
}

/* ------------------------------------------------------------------------------------------------ the search */

typedef struct tuning {
    const tune_settings *settings;
    smp_tuned tuned;
} tuning;

static smp_code search(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    tuning *t = given;
    const tune_settings *settings = t->settings;
    const smp_common *common = &settings->plan.base.common;
    smp_tune_report report = {.rows = NULL};
    smp_output *output = NULL;
    smp_progress progress;
    smp_cli_job job = {.device = NULL};
    smp_code code = smp_tuned_begin(&t->tuned, &output, err);
    if (!code)
        code = smp_cli_job_open(&settings->plan, program, diags, settings->in, &job, err);
    if (code) {
        smp_output_abort(output);
        smp_cli_job_close(&job);
        return code;
    }
    job.request.progress = smp_progress_step;
    job.request.progress_context = &progress;
    smp_tune_request request = {.run = &job.request,
                                .time_limit = settings->time_limit,
                                .repeat = settings->repeat,
                                .threads = (int)common->threads};
    smp_progress_begin(&progress, common, settings->in);
    code = smp_tune_file(&request, &t->tuned, &report, err);
    smp_progress_end(&progress);
    if (!code)
        code = smp_tuned_commit(&t->tuned, output, err);
    else
        smp_output_abort(output);
    if (!code && !common->quiet) {
        smp_tune_table(stdout, &report, common->verbose, smp_cli_color(common, STDOUT_FILENO));
        bool keeps = smp_tune_report_keeps(&report);
        fputs(keeps ? "kept in " : "nothing of it is kept in ", stdout);
        smp_text_clean(stdout, t->tuned.path);
        puts(keeps ? " for run, batch, measure, compare and explain with --tuned" : "");
    }
    smp_tune_report_free(&report);
    smp_cli_job_close(&job);
    return code;
}

static smp_code check_arguments(const tune_settings *settings, smp_error *err)
{
    if (settings->show || settings->forget) {
        if (settings->show && settings->forget)
            return smp_fail(err, SMP_E_USAGE, "--show and --forget are two things");
        if (settings->pipe || settings->in || settings->plan.base.stages.count)
            return smp_fail(err, SMP_E_USAGE, "%s takes no pipeline", settings->show ? "--show" : "--forget");
        return SMP_OK;
    }
    if (!settings->pipe && !settings->plan.base.stages.count)
        smp_fail(err, SMP_E_USAGE, "P.pipe is missing");
    else if (!settings->in)
        smp_fail(err, SMP_E_USAGE, "IN is missing");
    else
        return smp_cli_check_input(settings->pipe, settings->in, err);
    return smp_hint(err, "smempipe tune --help shows what it takes");
}

static smp_code tune(void *given, smp_error *err)
{
    tune_settings *settings = given;
    const smp_common *common = &settings->plan.base.common;
    tuning t = {.settings = settings};
    char note[400];
    smp_code code = check_arguments(settings, err);
    if (!code)
        code = smp_tuned_load(&t.tuned, note, sizeof note, err);
    if (!code && note[0] && !settings->forget)
        smp_cli_warning(common, "%s", note);
    if (!code && settings->show)
        show_kept(&t.tuned);
    else if (!code && settings->forget)
        code = forget(common, &t.tuned, err);
    else if (!code)
        code = smp_cli_with_program(&settings->plan.base, settings->pipe, search, &t, err);
    smp_tuned_free(&t.tuned);
    return code;
}

const smp_command smp_command_tune = {
    .name = "tune",
    .help = "find what is fastest on this device, for --tuned",
    .about =
        "Tries for every step the variants of its stage, fewer threads, and on GPUs the launch shapes that its kernels offer; "
        "then other heights of strips, with the whole pipeline. Every candidate must have the bytes of naive. What is faster "
        "beyond doubt (95 % confidence, 1 % at the least, twice) is kept in ~/.cache/smempipe or $XDG_CACHE_HOME/smempipe, and "
        "used by run, batch, measure, compare and explain with --tuned, on this device, for work of this kind: the stage, its "
        "formats and channels, about this size. Results do not depend on it. Without --tuned, and where nothing was "
        "found, the defaults hold.\n"
        "A batch computes small pictures with a thread each: tune for those with --threads 1.",
    .settings_size = sizeof(tune_settings),
    .groups = {{"options", options}, SMP_PIPELINE_GROUP, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe tune scan-clean.pipe page.jpg", "search for 20 seconds, show and keep what was found"},
                 {"smempipe run --tuned scan-clean.pipe page.jpg page.png", "use it"},
                 {"smempipe tune --show", "what is kept"}},
    .run = tune,
};
