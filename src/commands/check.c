/* smempipe check: are these pipelines right? Opens no picture. */
#include "cli/cli.h"
#include "report/text.h"

typedef struct check_settings {
    smp_pipeline_settings base;
    smp_strings files;
} check_settings;

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(check_settings, files), .many = true, .unless = "stage",
     .help = "pipelines; - is standard input"},
    {0},
};

static void put_ok(const smp_common *common, const char *name, const smp_program *program)
{
    if (common->quiet)
        return;
    smp_text_clean(stdout, name);
    fputs(program->node_count ? ": ok\n" : ": ok, but without a stage: it would leave everything as it is\n", stdout);
    if (!common->verbose)
        return;
    fprintf(stdout, "  %zu stage%s\n", program->node_count, program->node_count == 1 ? "" : "s");
    for (size_t i = 0; i < program->param_count; i++) {
        const smp_public_param *param = &program->params[i];
        fputs("  --set ", stdout);
        smp_text_clean(stdout, param->name);
        fputc('=', stdout);
        smp_text_clean(stdout, param->text ? param->text : "");
        if (param->help && param->help[0]) {
            fputs("  ", stdout);
            smp_text_clean(stdout, param->help);
        }
        fputc('\n', stdout);
    }
}

static smp_code check_one(const check_settings *settings, const char *path, smp_error *err)
{
    smp_diags diags = {0};
    smp_program *program = NULL;
    smp_code code = smp_cli_parse(&settings->base, path, &diags, &program, err);
    smp_cli_diagnostics(&settings->base, &diags, code ? err : NULL);
    if (!code)
        put_ok(&settings->base.common, path ? path : "-e", program);
    smp_program_free(program);
    smp_diags_free(&diags);
    return code;
}

static smp_code check(void *given, smp_error *err)
{
    check_settings *settings = given;
    settings->base.lenient = true;
    if (settings->base.stages.count)
        return check_one(settings, NULL, err);
    smp_code first = SMP_OK;
    for (size_t i = 0; i < settings->files.count; i++) {
        smp_code code = check_one(settings, settings->files.items[i], err);
        if (code)
            smp_cli_error(&settings->base.common, err);
        first = first ? first : code;
    }
    return first;
}

const smp_command smp_command_check = {
    .name = "check",
    .help = "validate pipelines without opening a picture",
    .about =
        "Prints every mistake with its place, and 'ok' for each pipeline without one. Kernels of files are compiled "
        "where a compiler is. With -v also the parameters that --set changes.",
    .settings_size = sizeof(check_settings),
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS,
    .groups = {SMP_PIPELINE_GROUP, SMP_COMMON_GROUP},
    .arguments = arguments,
    .examples = {{"smempipe check *.pipe", "all pipelines of this folder"},
                 {"smempipe check --diagnostics=json - < draft.pipe",
                  "for an editor: mistakes as JSON lines on stderr"}},
    .run = check,
};
