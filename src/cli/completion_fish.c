/* Completion for fish (3 or later): one `complete` command a row. */
#include <string.h>

#include "base/alloc.h"
#include "cli/completion.h"

/* -x -a 'words', -r -F: what an option's value or an argument is. */
static smp_code put_action(FILE *to, smp_completes kind, char *words, smp_error *err)
{
    char *extensions = NULL;
    switch (kind) {
    case SMP_COMPLETES_WORDS:
        if (!words)
            return smp_fail_memory(err, "completion", 1024);
        fprintf(to, " -a '%s'", words);
        break;
    case SMP_COMPLETES_MEDIA: /* those files first, others behind them */
        extensions = smp_media_extensions();
        fputs(" -k -a '(__fish_complete_suffix", to);
        for (const char *p = extensions; p && *p;) {
            size_t length = strcspn(p, " ");
            fprintf(to, " .%.*s", (int)length, p);
            p += length + (p[length] == ' ');
        }
        fputs(")'", to);
        break;
    case SMP_COMPLETES_PIPE:
        fputs(" -k -a '(__fish_complete_suffix .pipe)'", to);
        break;
    case SMP_COMPLETES_FILE:
        fputs(" -F", to);
        break;
    case SMP_COMPLETES_FOLDER:
        fputs(" -a '(__fish_complete_directories)'", to);
        break;
    case SMP_COMPLETES_NOTHING:
        break;
    }
    smp_free(extensions);
    smp_free(words);
    return SMP_OK;
}

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
        code = put_action(to, kind, kind == SMP_COMPLETES_WORDS ? smp_option_words(row) : NULL, err);
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
    smp_code code = put_action(to, kind, kind == SMP_COMPLETES_WORDS ? smp_argument_words(row) : NULL, err);
    fputc('\n', to);
    return code;
}

smp_code smp_completion_fish(FILE *to, smp_error *err)
{
    smp_code code = SMP_OK;
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
    for (size_t i = 0; !code && i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        const smp_option *row;
        for (size_t k = 0; !code && (row = smp_command_option(command, k, NULL)); k++)
            code = put_option(to, command, row, err);
        for (const smp_argument_row *argument = command->arguments; !code && argument && argument->name; argument++)
            code = put_argument(to, command, argument, err);
    }
    return code;
}
