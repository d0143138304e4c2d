/* smempipe pipelines: the pipelines that come with the program, and what one takes. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text/diag.h"
#include "cli/cli.h"
#include "cli/shipped.h"
#include "report/text.h"

typedef struct pipelines_settings {
    smp_common common;
    const char *name;
} pipelines_settings;

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(pipelines_settings, name), .optional = true,
     .help = "one of them, or a pipe file: what it does and its parameters"},
    {0},
};

/* The comment that a text begins with, from its line `first` on (0 is the first), each without its '#'. */
static void put_comment(FILE *to, const char *text, int first, int lines)
{
    for (int line = 0; *text == '#'; line++) {
        size_t length = strcspn(text, "\n");
        if (line >= first && line < first + lines) {
            char *shown = smp_strndup(text + 1, length - 1);
            if (shown)
                smp_text_clean(to, shown[0] == ' ' ? shown + 1 : shown);
            smp_free(shown);
            fputc('\n', to);
        }
        text += length + (text[length] == '\n');
    }
}

/* "blur.pipe - soften a picture: ..." without the name that it repeats. */
static const char *summary(const char *text, const char *name)
{
    size_t length = strlen(name);
    if (*text != '#')
        return "";
    text += 1 + strspn(text + 1, " ");
    if (!strncmp(text, name, length) && !strncmp(text + length, ".pipe - ", 8))
        text += length + 8;
    return text;
}

static void put_parameters(FILE *to, const smp_program *program)
{
    enum { NAME_COLUMNS = 26 };
    fputs(program->param_count ? "\nparameters (--set NAME=VALUE):\n" : "\nIt has no parameters.\n", to);
    for (size_t i = 0; i < program->param_count; i++) {
        const smp_public_param *param = &program->params[i];
        char *head = smp_asprintf("%s=%s", param->name, param->text ? param->text : "");
        fputs("  ", to);
        smp_text_column(to, head ? head : param->name, NAME_COLUMNS);
        smp_free(head);
        if (param->help && param->help[0]) {
            fputs("  ", to);
            smp_text_clean(to, param->help);
        }
        fputc('\n', to);
    }
}

smp_code smp_cli_show_pipeline(const smp_common *common, const char *name, smp_error *err)
{
    enum { MOST_LINES = 1000 };
    smp_pipeline_settings settings = {.common = *common};
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_code code = smp_cli_parse(&settings, name, &diags, &program, err);
    smp_cli_diagnostics(&settings, &diags, code ? err : NULL);
    if (!code) {
        const smp_diag_source *source = &diags.sources[0];
        smp_text_clean(stdout, source->name);
        fputs("\n\n", stdout);
        put_comment(stdout, source->text, 0, MOST_LINES);
        put_parameters(stdout, program);
    }
    smp_program_free(program);
    smp_diags_free(&diags);
    return code;
}

static smp_code list(const smp_common *common, smp_error *err)
{
    enum { NAME_COLUMNS = 18 };
    smp_shipped shipped;
    smp_paint paint = smp_paint_for(smp_cli_color(common, STDOUT_FILENO));
    smp_code code = smp_shipped_list(&shipped, err);
    if (!code && !shipped.count) {
        code = smp_fail(err, SMP_E_READ, "no pipelines are installed beside this program");
        smp_hint(err, "cmake --install puts them into share/smempipe/pipelines");
    }
    for (size_t i = 0; !code && i < shipped.count; i++) {
        const char *name = shipped.names[i];
        char *path = smp_shipped_find(name), line[400] = "";
        FILE *file = path ? fopen(path, "re") : NULL;
        if (file && fgets(line, sizeof line, file))
            line[strcspn(line, "\n")] = '\0';
        if (file)
            fclose(file);
        smp_free(path);
        printf("%s", paint.bold);
        smp_text_column(stdout, name, NAME_COLUMNS);
        printf("%s", paint.off);
        smp_text_wrap(stdout, summary(line, name), NAME_COLUMNS, NAME_COLUMNS);
    }
    if (!code && !common->quiet)
        puts("\nsmempipe run NAME IN OUT runs one, smempipe pipelines NAME tells its parameters.");
    smp_shipped_free(&shipped);
    return code;
}

static smp_code pipelines(void *given, smp_error *err)
{
    pipelines_settings *settings = given;
    return settings->name ? smp_cli_show_pipeline(&settings->common, settings->name, err)
                          : list(&settings->common, err);
}

const smp_command smp_command_pipelines = {
    .name = "pipelines",
    .help = "list the pipelines that are installed, or explain one",
    .about = "Wherever a command takes a pipe file, it takes the name of one of these too; a file of that name in the "
             "folder at hand comes first.",
    .settings_size = sizeof(pipelines_settings),
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS | SMP_O_VERBOSE,
    .groups = {SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe pipelines", "all of them, a line each"},
                 {"smempipe pipelines scan-clean", "what it is for, and what --set changes"}},
    .run = pipelines,
};
