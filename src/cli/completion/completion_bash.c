/* Completion for bash. Needs nothing but bash itself (4 or later). */
#include "cli/completion/completion.h"
#include "report/text.h"

extern const unsigned char smp_template_bash[]; /* smempipe.bash, by CMakeLists.txt */

/* Options of a command, each followed by a blank. */
static void put_names(FILE *to, const smp_command *command, bool (*wanted)(const smp_option *option))
{
    const smp_option *row;
    for (size_t i = 0; (row = smp_command_option(command, i)); i++) {
        if (wanted && !wanted(row))
            continue;
        fprintf(to, "--%s ", row->name);
        if (row->letter)
            fprintf(to, "-%c ", row->letter);
    }
}

static bool replaces_argument(const smp_command *command, const smp_option *option)
{
    for (const smp_argument_row *row = command->arguments; row && row->name; row++)
        if (smp_argument_unless(row, option->name))
            return true;
    return false;
}

static const smp_completion_texts texts = {.words = {"_smempipe_words '", "'"},
                                           .media = {"_smempipe_files '", " ", "'"},
                                           .pipe = "_smempipe_files pipe",
                                           .file = "_smempipe_files ''",
                                           .folder = "_smempipe_folders",
                                           .nothing = ":"};

/* One arm for each option with a value, and for each place of an argument. */
static smp_code put_values(FILE *to, const smp_command *command, smp_error *err)
{
    const smp_option *row;
    smp_code code = SMP_OK;
    for (size_t i = 0; !code && (row = smp_command_option(command, i)); i++) {
        if (row->type == SMP_O_FLAG)
            continue;
        fprintf(to, "        '%s --%s'", command->name, row->name);
        if (row->letter)
            fprintf(to, "|'%s -%c'", command->name, row->letter);
        fputs(") ", to);
        code = smp_put_values(to, &texts, row, err);
        fputs("; return ;;\n", to);
    }
    return code;
}

static smp_code put_places(FILE *to, const smp_command *command, smp_error *err)
{
    int place = 0;
    smp_code code = SMP_OK;
    for (const smp_argument_row *row = command->arguments; !code && row && row->name; row++, place++) {
        fprintf(to, "        '%s '%s) ", command->name, row->many ? "*" : place == 0 ? "0" : place == 1 ? "1" : "2");
        code = smp_put_arguments(to, &texts, row, err);
        fputs(" ;;\n", to);
    }
    return code;
}

smp_code smp_completion_bash(FILE *to, smp_error *err)
{
    smp_text_between(to, smp_template_bash, NULL, "@COMMANDS@");
    for (size_t i = 0; i < smp_command_count(); i++)
        fprintf(to, "%s ", smp_command_at(i)->name);
    smp_text_between(to, smp_template_bash, "@COMMANDS@", "@OPTIONS@\n");
    for (size_t i = 0; i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        fprintf(to, "        %s)\n            options='", command->name);
        put_names(to, command, NULL);
        fputs("'\n            takes=' ", to);
        put_names(to, command, smp_option_takes_word);
        fputs("'\n            replaces=' ", to);
        const smp_option *row;
        for (size_t k = 0; (row = smp_command_option(command, k)); k++)
            if (replaces_argument(command, row)) {
                fprintf(to, "--%s ", row->name);
                if (row->letter)
                    fprintf(to, "-%c ", row->letter);
            }
        fputs("' ;;\n", to);
    }
    smp_text_between(to, smp_template_bash, "@OPTIONS@\n", "@VALUES@\n");
    for (size_t i = 0; i < smp_command_count(); i++)
        SMP_TRY(put_values(to, smp_command_at(i), err));
    smp_text_between(to, smp_template_bash, "@VALUES@\n", "@PLACES@\n");
    for (size_t i = 0; i < smp_command_count(); i++)
        SMP_TRY(put_places(to, smp_command_at(i), err));
    smp_text_between(to, smp_template_bash, "@PLACES@\n", NULL);
    return SMP_OK;
}
