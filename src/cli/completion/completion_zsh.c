/* Completion for zsh: specifications for _arguments (zshcompsys(1)). */
#include "cli/completion/completion.h"
#include "report/text.h"

extern const unsigned char smp_template_zsh[]; /* smempipe.zsh, by CMakeLists.txt */

/* Actions of _arguments. */
static const smp_completion_texts texts = {.words = {"(", ")"},
                                           .media = {"_files -g \"(#i)*.(", "|", ")\""},
                                           .pipe = "_files -g \"*.pipe\"",
                                           .file = "_files",
                                           .folder = "_files -/",
                                           .nothing = " "};

/* '(-q --quiet)'{-q,--quiet}'[say nothing but errors]', '*--set=[...]:NAME=VALUE: ' */
static smp_code put_option(FILE *to, const smp_option *row, smp_error *err)
{
    bool many = row->type == SMP_O_LIST || row->type == SMP_O_PAIRS, flag = row->type == SMP_O_FLAG;
    bool optional = (row->flags & SMP_O_OPTIONAL) != 0;
    const char *equals = flag ? "" : optional ? "=-" : "=";
    fputs("                ", to);
    if (many)
        fputs("'*'", to);
    else if (row->letter)
        fprintf(to, "'(-%c --%s)'", row->letter, row->name);
    if (row->letter)
        fprintf(to, "{-%c%s,--%s%s}", row->letter, flag ? "" : "+", row->name, equals);
    else
        fprintf(to, "'--%s%s'", row->name, equals);
    fputs("'[", to);
    smp_put_quoted(to, row->help, "[]:\\");
    fputc(']', to);
    smp_code code = SMP_OK;
    if (!flag) {
        fputs(optional ? "::" : ":", to);
        smp_put_quoted(to, row->argument ? row->argument : "VALUE", ":\\");
        fputc(':', to);
        code = smp_put_values(to, &texts, row, err);
    }
    fputs("' \\\n", to);
    return code;
}

/* An argument that an option may replace leaves its place open to the next one. */
static smp_code put_argument(FILE *to, const smp_argument_row *row, smp_error *err)
{
    fprintf(to, "                '%s", row->many ? "*:" : row->optional ? "::" : ":");
    smp_put_quoted(to, row->name, ":\\");
    fputc(':', to);
    SMP_TRY(smp_put_arguments(to, &texts, row, err));
    fputs("' \\\n", to);
    return SMP_OK;
}

smp_code smp_completion_zsh(FILE *to, smp_error *err)
{
    smp_text_between(to, smp_template_zsh, NULL, "@COMMANDS@\n");
    for (size_t i = 0; i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        fprintf(to, "        '%s:", command->name);
        smp_put_quoted(to, command->help, ":\\");
        fputs("'\n", to);
    }
    smp_text_between(to, smp_template_zsh, "@COMMANDS@\n", "@ARGUMENTS@\n");
    for (size_t i = 0; i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        const smp_option *row;
        fprintf(to, "        %s)\n            _arguments -s -S \\\n", command->name);
        for (size_t k = 0; (row = smp_command_option(command, k)); k++)
            SMP_TRY(put_option(to, row, err));
        for (const smp_argument_row *argument = command->arguments; argument && argument->name; argument++)
            SMP_TRY(put_argument(to, argument, err));
        fputs("                && return 0 ;;\n", to);
    }
    smp_text_between(to, smp_template_zsh, "@ARGUMENTS@\n", NULL);
    return SMP_OK;
}
