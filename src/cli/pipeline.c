/* Pipelines named on the command line: a file, or -e stages; reading of included files; printing of diagnostics. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/cli.h"
#include "report/json.h"

enum { PIPE_FILE_MAX = 1 << 20 }; /* bytes: a pipeline is written by hand */

static const char *const diagnostics_words[] = {"text", "json", NULL};

const smp_option smp_pipeline_options[] = {
    {"stage", 'e', SMP_O_LIST, offsetof(smp_pipeline_settings, stages), .argument = "STAGE",
     .help = "a statement of the pipeline, instead of a file; may be repeated"},
    {"set", 0, SMP_O_PAIRS, offsetof(smp_pipeline_settings, settings), .argument = "NAME=VALUE",
     .help = "give a parameter of the pipeline another value; may be repeated"},
    {"diagnostics", 0, SMP_O_CHOICE, offsetof(smp_pipeline_settings, diagnostics), .fallback = "text",
     .argument = "HOW", .help = "how mistakes are reported on stderr: text, or json (one object a line, for editors)",
     .choices = diagnostics_words},
    {0},
};

/* The whole of an open file; regular: refuse anything else (an included device or pipe would never end). */
static smp_code read_all(int fd, bool regular, char **out, size_t *length, smp_error *err)
{
    struct stat status;
    char *text = NULL;
    size_t used = 0, capacity = 0;
    smp_code code = SMP_OK;
    if (fstat(fd, &status) != 0)
        return smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(errno));
    if (S_ISDIR(status.st_mode))
        return smp_fail(err, SMP_E_READ, "is a directory, not a pipeline");
    if (regular && !S_ISREG(status.st_mode))
        return smp_fail(err, SMP_E_READ, "is not a regular file");
    for (;;) {
        if (!smp_grow(&text, &capacity, used + 4096, 1)) {
            code = smp_fail_memory(err, "pipeline text", used + 4096);
            break;
        }
        ssize_t n = read(fd, text + used, capacity - used - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            code = smp_fail(err, SMP_E_READ, "cannot read: %s", strerror(errno));
            break;
        }
        if (n == 0)
            break;
        used += (size_t)n;
        if (used > PIPE_FILE_MAX) {
            code = smp_fail(err, SMP_E_LIMIT, "is larger than a pipeline may be (%d bytes)", PIPE_FILE_MAX);
            break;
        }
    }
    if (code) {
        smp_free(text);
        return code;
    }
    text[used] = '\0';
    *out = text;
    *length = used;
    return SMP_OK;
}

static smp_code read_path(const char *path, bool regular, char **out, size_t *length, smp_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular ? O_NONBLOCK : 0));
    if (fd < 0)
        return smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(errno));
    smp_code code = read_all(fd, regular, out, length, err);
    close(fd);
    return code;
}

/* An included path is relative to the folder of the file that includes it. */
static smp_code load_include(void *context, const char *including, const char *path, char **text, size_t *length,
                             smp_error *err)
{
    (void)context;
    *text = NULL;
    *length = 0;
    const char *slash = including ? strrchr(including, '/') : NULL;
    char *full = path[0] == '/' || !slash ? smp_strdup(path)
                                          : smp_asprintf("%.*s%s", (int)(slash + 1 - including), including, path);
    if (!full)
        return smp_fail_memory(err, "path", strlen(path));
    smp_code code = read_path(full, true, text, length, err);
    if (code)
        smp_at(err, "%s", full);
    smp_free(full);
    return code;
}

/* name=value pairs as two texts each; names are copies that the caller frees. */
static smp_code split_settings(const smp_strings *pairs, smp_setting **out, smp_error *err)
{
    smp_setting *settings = smp_alloc_array(pairs->count + 1, sizeof *settings);
    *out = settings;
    if (!settings)
        return smp_fail_memory(err, "settings", pairs->count * sizeof *settings);
    for (size_t i = 0; i < pairs->count; i++) {
        const char *equals = strchr(pairs->items[i], '=');
        settings[i].name = smp_strndup(pairs->items[i], (size_t)(equals - pairs->items[i]));
        settings[i].value = equals + 1;
        if (!settings[i].name)
            return smp_fail_memory(err, "settings", strlen(pairs->items[i]));
    }
    return SMP_OK;
}

smp_code smp_cli_parse(const smp_pipeline_settings *settings, const char *path, smp_diags *diags, smp_program **out,
                       smp_error *err)
{
    *out = NULL;
    smp_setting *pairs = NULL;
    char *text = NULL;
    size_t length = 0, count = settings->settings.count;
    smp_code code = split_settings(&settings->settings, &pairs, err);
    if (code)
        goto end;
    if (!path) {
        code = smp_program_parse_lines(settings->stages.items, settings->stages.count, pairs, count, load_include, NULL,
                                       diags, out, err);
        goto end;
    }
    bool standard = !strcmp(path, "-");
    code = standard ? read_all(STDIN_FILENO, false, &text, &length, err) : read_path(path, false, &text, &length, err);
    if (code) {
        smp_at(err, "%s", standard ? "standard input" : path);
        goto end;
    }
    code = smp_program_parse(path, text, length, pairs, count, load_include, NULL, diags, out, err);
end:
    smp_free(text);
    for (size_t i = 0; pairs && i < count; i++)
        smp_free((void *)(uintptr_t)pairs[i].name);
    smp_free(pairs);
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
    smp_json_string(&json, "severity", "error");
    smp_json_string(&json, "message", err->message);
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

smp_code smp_cli_with_program(const smp_pipeline_settings *settings, const char *path, smp_cli_work *work,
                              void *context, smp_error *err)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_code code = smp_cli_parse(settings, path, &diags, &program, err);
    if (!code)
        code = work(context, program, &diags, err);
    smp_cli_diagnostics(settings, &diags, code ? err : NULL);
    smp_program_free(program);
    smp_diags_free(&diags);
    return code;
}
