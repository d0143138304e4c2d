/* Pipelines named on the command line: a file, or -e stages; printing of diagnostics. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/pipe_text.h"
#include "base/alloc.h"
#include "base/paths.h"
#include "base/text/diag.h"
#include "cli/cli.h"
#include "cli/mistakes.h"
#include "cli/shipped.h"
#include "cli/write_options.h"
#include "io/decoder/worker.h"
#include "report/json.h"

static const char *const diagnostics_words[] = {"text", "json", NULL};

const smp_option smp_pipeline_options[] = {
    {"stage", 'e', SMP_O_LIST, offsetof(smp_pipeline_settings, stages), .argument = "STAGE",
     .help = "a statement of the pipeline, instead of a file; may be repeated"},
    {"set", 0, SMP_O_PAIRS, offsetof(smp_pipeline_settings, settings), .argument = "NAME=VALUE",
     .help = "give a parameter of the pipeline another value; may be repeated"},
    {"allow-read", 0, SMP_O_LIST, offsetof(smp_pipeline_settings, readable), .argument = "DIR",
     .help = "let the pipeline include and read files below DIR too; else only below the pipe file's folder; may be "
             "repeated"},
    SMP_SEED_OPTION(0),
    {"epoch", 0, SMP_O_INT, offsetof(smp_pipeline_settings, epoch), .fallback = "0", .argument = "N", .min = 0,
     .max = UINT32_MAX, .help = "draw random values as in this pass over a data set: another, other values",
     .flags = SMP_O_DEVICE | SMP_O_ADVANCED},
    {"trust", 0, SMP_O_FLAG, offsetof(smp_pipeline_settings, trust),
     .help = "compile the pipeline's kernels (stage kernel) as your own: they may include any file of yours and take "
             "more time and memory, also where the system cannot confine a compiler",
     .flags = SMP_O_ADVANCED},
    {"diagnostics", 0, SMP_O_CHOICE, offsetof(smp_pipeline_settings, diagnostics), .fallback = "text",
     .argument = "HOW", .help = "how mistakes are reported on stderr: text, or json (one object a line, for editors)",
     .choices = diagnostics_words},
    {0},
};

smp_draw smp_cli_draw(const smp_pipeline_settings *settings)
{
    return (smp_draw){
        .seed = (uint64_t)settings->seed, .index = (uint64_t)settings->index, .epoch = (uint64_t)settings->epoch};
}

/* name=value pairs as two texts each; names are copies that the caller frees. */
static smp_code split_settings(const smp_strings *pairs, smp_setting **out, smp_error *err)
{
    smp_setting *settings = smp_alloc_array(pairs->count + 1, sizeof *settings);
    *out = settings;
    SMP_NEED(settings, "settings", pairs->count * sizeof *settings, err);
    for (size_t i = 0; i < pairs->count; i++) {
        const char *equals = strchr(pairs->items[i], '=');
        settings[i].name = smp_strndup(pairs->items[i], (size_t)(equals - pairs->items[i]));
        settings[i].value = equals + 1;
        SMP_NEED(settings[i].name, "settings", strlen(pairs->items[i]), err);
    }
    return SMP_OK;
}

/* A pipeline that is neither a file nor installed: says what there is. */
static smp_code fail_pipe(const char *path, const smp_shipped *shipped, smp_error *err)
{
    const char *near = smp_nearest(path, strlen(path), (const char *const *)shipped->names, shipped->count);
    if (errno != ENOENT)
        return err->code;
    if (strchr(path, '/'))
        return smp_hint(err, "check the spelling of the path; smempipe pipelines lists those that have a name");
    return near ? smp_hint(err, "did you mean the pipeline '%s'?", near)
                : smp_hint(err, "smempipe pipelines lists those that are installed");
}

/* The text at `path`: a file, or the pipeline of that name that is installed, also where a folder is called so. *name:
 * where it was found. */
static smp_code read_pipe(const char *path, const smp_shipped *shipped, char **name, char **text, size_t *length,
                          smp_error *err)
{
    smp_code code = smp_pipe_read(path, false, text, length, err);
    int why = errno;
    *name = (code && smp_is_folder(path)) || (code && why == ENOENT) ? smp_shipped_find(path) : NULL;
    if (*name) {
        *err = (smp_error){.code = SMP_OK};
        code = smp_pipe_read(*name, false, text, length, err);
    } else if (!(*name = smp_strdup(path)))
        return smp_fail_memory(err, "a path", strlen(path));
    if (!code)
        return SMP_OK;
    smp_at(err, "%s", *name);
    errno = why;
    return fail_pipe(path, shipped, err);
}

/* Texts without a statement are a script's mistake: a variable that is not set. */
static smp_code check_stages(const smp_strings *stages, smp_error *err)
{
    bool any = !stages->count; /* a command may do without any */
    for (size_t i = 0; !any && i < stages->count; i++) {
        const char *text = stages->items[i] + strspn(stages->items[i], " \t\r\n");
        any = text[0] && text[0] != '#';
    }
    if (any)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "-e '%.40s' has no stage", stages->items[0]);
    return smp_hint(err, "smempipe stages lists them; to change nothing but the format write smempipe convert IN OUT");
}

/* Lines of the command line may include a pipeline that comes with the program by its name, as `run` takes it: where
 * no file is called so. What is included names files beside itself alone. */
static smp_code include_pipe(void *context, const char *including, const char *path, char **text, size_t *length,
                             smp_error *err)
{
    const bool line = !including || !strcmp(including, "-e");
    char *shipped = !line || strchr(path, '/') || !access(path, F_OK) ? NULL : smp_shipped_find(path);
    const smp_code code = smp_pipe_include(context, including, shipped ? shipped : path, text, length, err);
    smp_free(shipped);
    return code;
}

static smp_code parse_pipe(const smp_pipeline_settings *settings, const char *path, const char *given,
                           const smp_shipped *shipped, smp_readable *may, const smp_setting *pairs, smp_diags *diags,
                           smp_program **out, smp_error *err)
{
    char *text = NULL, *name = NULL;
    size_t length = given ? strlen(given) : 0, count = settings->settings.count;
    bool standard = path && !given && !strcmp(path, "-");
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && i < settings->readable.count; i++)
        code = smp_readable_add(may, settings->readable.items[i], err);
    if (!code && !path)
        code = check_stages(&settings->stages, err);
    if (!code && !path)
        return smp_program_parse_lines(settings->stages.items, settings->stages.count, pairs, count, include_pipe, may,
                                       diags, out, err);
    if (!code && standard) {
        code = smp_pipe_read_open(STDIN_FILENO, false, &text, &length, err);
        if (code)
            smp_at(err, "standard input");
    } else if (!code && !given)
        code = read_pipe(path, shipped, &name, &text, &length, err);
    if (!code)
        code = smp_readable_add_folder_of(may, name ? name : given ? path : ".", err);
    if (!code)
        code = smp_program_parse(name ? name : path, given ? given : text, length, pairs, count, smp_pipe_include, may,
                                 diags, out, err);
    smp_free_all(text, name);
    return code;
}

static bool is_command(const char *name)
{
    return smp_command_find(name) != NULL;
}

smp_code smp_cli_parse(const smp_pipeline_settings *settings, const char *path, smp_diags *diags, smp_program **out,
                       smp_error *err)
{
    return smp_cli_parse_text(settings, path, NULL, diags, out, err);
}

smp_code smp_cli_parse_text(const smp_pipeline_settings *settings, const char *path, const char *text, smp_diags *diags,
                            smp_program **out, smp_error *err)
{
    *out = NULL;
    smp_setting *pairs = NULL;
    smp_shipped shipped = {0};
    smp_readable may = {
        .lenient = settings->lenient, .trust = settings->trust, .tool_seconds = settings->common.read.time_limit};
    smp_code code = split_settings(&settings->settings, &pairs, err);
    code = code ? code : smp_shipped_list(&shipped, err);
    const smp_surroundings around = {.pipelines = (const char *const *)shipped.names,
                                     .pipeline_count = shipped.count,
                                     .is_option = smp_cli_is_write_option,
                                     .is_command = is_command,
                                     .input = settings->input,
                                     .lines_name = settings->stages_from};
    diags->around = &around;
    code = code ? code : parse_pipe(settings, path, text, &shipped, &may, pairs, diags, out, err);
    if (!code && (code = smp_readable_check(&may, *out, diags, err)) != SMP_OK) {
        smp_program_free(*out);
        *out = NULL;
    }
    diags->around = NULL;
    for (size_t i = 0; pairs && i < settings->settings.count; i++)
        smp_free((void *)(uintptr_t)pairs[i].name);
    smp_free(pairs);
    smp_shipped_free(&shipped);
    smp_readable_free(&may);
    return code;
}

/* An error without a place in a text, as one line of the same kind as smp_diags_json gives. */
static void error_json(smp_error *err)
{
    static const char *const places[] = {"line", "column", "end_line", "end_column"};
    smp_json json;
    smp_json_begin(&json, stderr, true);
    smp_json_object(&json, NULL);
    smp_json_string(&json, "file", err->where[0] ? err->where : NULL);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        smp_json_string(&json, places[i], NULL);
    SMP_JSON(&json, ("severity", "error"), ("message", err->message));
    smp_json_string(&json, "fix", NULL);
    smp_json_string(&json, "note", err->hint[0] ? err->hint : NULL);
    smp_json_end(&json, '}');
    err->message[0] = '\0';
}

void smp_cli_diagnostics(const smp_pipeline_settings *settings, const smp_diags *diags, smp_error *err)
{
    bool as_json = settings->diagnostics == 1;
    if (diags->errors || (diags->warnings && !settings->common.quiet)) {
        char *text =
            as_json ? smp_diags_json(diags) : smp_diags_text(diags, smp_cli_color(&settings->common, STDERR_FILENO));
        if (text)
            fputs(text, stderr);
        if (text && diags->errors && err)
            err->message[0] = '\0';
        smp_free(text);
    }
    if (as_json && err && err->message[0])
        error_json(err);
}

void smp_cli_warn_of_no_stage(const smp_common *common, const char *path, const smp_program *program)
{
    if (path && !program->node_count && !program->save_count && program->kind == SMP_KIND_NONE)
        smp_cli_warning(common, "%s: the pipeline has no stage: what is read is written unchanged", path);
}

smp_code smp_cli_with_program(const smp_pipeline_settings *settings, const char *path, smp_cli_work *work,
                              void *context, smp_error *err)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_code code = smp_cli_parse(settings, path, &diags, &program, err);
    if (!code && program->origin && !settings->makes)
        code = smp_cli_fail_made(program->made_label, err);
    if (!code && (program->file_count || program->save_count)) /* opened beside the input */
        code = smp_worker_more(err);
    code = code ? code : work(context, program, &diags, err);
    smp_cli_diagnostics(settings, &diags, code ? err : NULL);
    smp_program_free(program);
    smp_diags_free(&diags);
    return code;
}
