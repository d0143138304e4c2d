/* Completion for zsh: specifications for _arguments (zshcompsys(1)). */
#include "cli/completion/completion.h"

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
    smp_code code = SMP_OK;
    fputs("#compdef smempipe\n"
          "# zsh completion for smempipe; made by: smempipe completion zsh\n"
          "\n"
          "_smempipe() {\n"
          "    local curcontext=\"$curcontext\" state line\n"
          "    typeset -A opt_args\n"
          "    local -a commands\n"
          "    commands=(\n",
          to);
    for (size_t i = 0; i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        fprintf(to, "        '%s:", command->name);
        smp_put_quoted(to, command->help, ":\\");
        fputs("'\n", to);
    }
    fputs("    )\n"
          "    _arguments -C '(- *)'{-h,--help}'[commands, topics and stages]' '(- *)--version[show the version]' \\\n"
          "        '1: :->command' '*:: :->rest'\n"
          "    case $state in\n"
          "    command) _describe -t commands 'command' commands ;;\n"
          "    rest)\n"
          "        case $words[1] in\n",
          to);
    for (size_t i = 0; !code && i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        const smp_option *row;
        fprintf(to, "        %s)\n            _arguments -s -S \\\n", command->name);
        for (size_t k = 0; !code && (row = smp_command_option(command, k, NULL)); k++)
            code = put_option(to, row, err);
        for (const smp_argument_row *argument = command->arguments; !code && argument && argument->name; argument++)
            code = put_argument(to, argument, err);
        fputs("                && return 0 ;;\n", to);
    }
    fputs("        esac ;;\n"
          "    esac\n"
          "    return 1\n"
          "}\n"
          "\n"
          "if [ \"$funcstack[1]\" = _smempipe ]; then\n"
          "    _smempipe \"$@\"\n"
          "else\n"
          "    compdef _smempipe smempipe\n"
          "fi\n",
          to);
    return code;
}
