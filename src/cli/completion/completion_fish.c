/* Completion for fish (3 or later): one `complete` command a row. */
#include "cli/completion/completion.h"

/* Lists files of the wanted media first, others behind them. */
static const smp_completion_texts texts = {.words = {" -a '", "'"},
                                           .media = {" -k -a '(__fish_complete_suffix .", " .", ")'"},
                                           .pipe = " -k -a '(__fish_complete_suffix .pipe)'",
                                           .file = " -F",
                                           .folder = " -a '(__fish_complete_directories)'",
                                           .nothing = ""};

static smp_code put_option(FILE *to, const smp_command *command, const smp_option *row, smp_error *err)
{
    smp_completes kind = smp_option_completes(row);
    smp_code code = SMP_OK;
    fprintf(to, "complete -c smempipe -n '__fish_seen_subcommand_from %s' -l %s", command->name, row->name);
    if (row->letter)
        fprintf(to, " -s %c", row->letter);
    if (smp_option_takes_word(row))
        fputs(kind == SMP_COMPLETES_FILE ? " -r" : " -x", to);
    if (row->type != SMP_O_FLAG)
        code = smp_put_values(to, &texts, row, err);
    fputs(" -d '", to);
    smp_put_quoted(to, row->help, "\\");
    fputs("'\n", to);
    return code;
}

/* fish does not count arguments: all of a command's are offered at each. */
static smp_code put_argument(FILE *to, const smp_command *command, const smp_argument_row *row, smp_error *err)
{
    smp_completes kind = smp_argument_completes(row);
    for (const smp_argument_row *before = command->arguments; before != row; before++)
        if (smp_argument_completes(before) == kind && kind != SMP_COMPLETES_WORDS)
            return SMP_OK;
    if (kind == SMP_COMPLETES_NOTHING)
        return SMP_OK;
    fprintf(to, "complete -c smempipe -n '__fish_seen_subcommand_from %s'", command->name);
    SMP_TRY(smp_put_arguments(to, &texts, row, err));
    fputc('\n', to);
    return SMP_OK;
}

smp_code smp_completion_fish(FILE *to, smp_error *err)
{
    fputs("# fish completion for smempipe; made by: smempipe completion fish\n"
          "complete -c smempipe -f\n"
          "complete -c smempipe -n __fish_use_subcommand -s h -l help -d 'commands, topics and stages'\n"
          "complete -c smempipe -n __fish_use_subcommand -l version -d 'show the version'\n",
          to);
    for (size_t i = 0; i < smp_command_count(); i++) {
        fprintf(to, "complete -c smempipe -n __fish_use_subcommand -a %s -d '", smp_command_at(i)->name);
        smp_put_quoted(to, smp_command_at(i)->help, "\\");
        fputs("'\n", to);
    }
    for (size_t i = 0; i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        const smp_option *row;
        for (size_t k = 0; (row = smp_command_option(command, k)); k++)
            SMP_TRY(put_option(to, command, row, err));
        for (const smp_argument_row *argument = command->arguments; argument && argument->name; argument++)
            SMP_TRY(put_argument(to, command, argument, err));
    }
    return SMP_OK;
}
