/* Manual pages in man(7): see man.h. What help lays out itself (topics) is shown as it is, in a constant-width font. */
#include "cli/topics.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/version.h"
#include "cli/cli.h"

/* Date of the last change to the text of these pages; a date of the build would make every build different. */
static const char page_date[] = "2026-11-29";

/* ------------------------------------------------------------------------------------------------ text */

/* Text with roff's special characters escaped. bol: at the beginning of a line, where . and ' are requests. */
static void put_text(FILE *to, const char *text, bool bol)
{
    for (; *text; text++) {
        if (bol && (*text == '.' || *text == '\''))
            fputs("\\&", to);
        bol = *text == '\n';
        if (*text == '\\')
            fputs("\\e", to);
        else if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\'')
            fputs("\\(aq", to);
        else if (*text == '`')
            fputs("\\(ga", to);
        else if (*text == '^')
            fputs("\\(ha", to);
        else if (*text == '~')
            fputs("\\(ti", to);
        else
            fputc(*text, to);
    }
}

/* Text that the reader's formatter fills, a paragraph's end included; broken at blanks, so that lines stay short. */
static void put_filled(FILE *to, const char *text)
{
    enum { WIDTH = 70 };
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        char word[200];
        if (length > sizeof word - 1)
            length = sizeof word - 1;
        memcpy(word, text, length);
        word[length] = '\0';
        bool wrap = column && column + length + 1 > WIDTH;
        if (column)
            fputc(wrap ? '\n' : ' ', to);
        column = wrap || !column ? 0 : column + 1;
        put_text(to, word, column == 0);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

/* Text laid out by its author. */
static void put_example(FILE *to, const char *text)
{
    fputs(".EX\n", to);
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        char *copy = smp_strndup(line, length);
        if (copy && copy[0])
            put_text(to, copy, true);
        else
            fputs("\\&", to); /* an empty line, which some readers would warn of */
        fputc('\n', to);
        smp_free(copy);
        line += length + (line[length] == '\n');
    }
    fputs(".EE\n", to);
}

/* Paragraphs; lines that begin with a blank are laid out by their author. */
static void put_paragraphs(FILE *to, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (text[0] == ' ') { /* all such lines together */
            size_t end = 0;
            while (text[end] == ' ') {
                end += strcspn(text + end, "\n");
                end += text[end] == '\n';
            }
            char *block = smp_strndup(text, end);
            fputs(".PP\n", to);
            put_example(to, block ? block : "");
            smp_free(block);
            text += end;
            continue;
        }
        if (length) {
            char *line = smp_strndup(text, length);
            fputs(".PP\n", to);
            put_filled(to, line ? line : "");
            smp_free(line);
        }
        text += length + (text[length] == '\n');
    }
}

/* Prints a topic without empty lines at its ends. */
static smp_code put_topic(FILE *to, const char *name, smp_error *err)
{
    const smp_topic *topic;
    char *text = NULL;
    size_t size = 0;
    for (size_t i = 0; (topic = smp_topic_at(i)); i++)
        if (!strcmp(topic->name, name))
            break;
    FILE *memory = topic ? open_memstream(&text, &size) : NULL;
    SMP_NEED(memory, "manual page", 1 << 14, err);
    smp_topic_print(topic, memory);
    fclose(memory);
    while (size && text[size - 1] == '\n')
        text[--size] = '\0';
    put_example(to, text);
    free(text); /* open_memstream's */
    return SMP_OK;
}

static void put_header(FILE *to, const char *name, const char *section, const char *manual)
{
    fprintf(to,
            ".\\\" Made by smempipe help --man from the program's own tables.\n.TH %s %s %s \"smempipe %s\" \"%s\"\n",
            name, section, page_date, SMP_VERSION, manual);
}

/* ------------------------------------------------------------------------------------------------ commands */

static void put_option(FILE *to, const smp_option *row)
{
    char fallback[32] = "", help[400];
    bool optional = (row->flags & SMP_O_OPTIONAL) != 0;
    fputs(".TP\n", to);
    if (row->letter)
        fprintf(to, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", to);
    put_text(to, row->name, false);
    fputs("\\fR", to);
    if (row->argument && row->type != SMP_O_FLAG) {
        fputs(optional ? "[=\\fI" : " \\fI", to);
        put_text(to, row->argument, false);
        fputs(optional ? "\\fR]" : "\\fR", to);
    }
    fputc('\n', to);
    if (row->type == SMP_O_SIZE && row->size)
        smp_size_text(fallback, sizeof fallback, row->size);
    else if (row->fallback && !(row->flags & SMP_O_SILENT))
        snprintf(fallback, sizeof fallback, "%s", row->fallback);
    snprintf(help, sizeof help, fallback[0] ? "%s (default %s)" : "%s", row->help, fallback);
    put_filled(to, help);
}

static void put_synopsis(FILE *to, const smp_command *command)
{
    fputs("\\fBsmempipe ", to);
    put_text(to, command->name, false);
    fputs("\\fR [options]", to);
    for (const smp_argument_row *row = command->arguments; row && row->name; row++) {
        fputs(row->optional ? " [\\fI" : " \\fI", to);
        put_text(to, row->name, false);
        fprintf(to, "\\fR%s%s", row->many ? "..." : "", row->optional ? "]" : "");
    }
    fputc('\n', to);
}

static smp_code put_examples(FILE *to, const smp_command *command, smp_error *err)
{
    for (size_t i = 0; i < SMP_COMMAND_EXAMPLES && command->examples[i].line; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *memory = open_memstream(&text, &size);
        SMP_NEED(memory, "manual page", 4096, err);
        smp_help_expand(memory, command->examples[i].line);
        fclose(memory);
        fputs(".TP\n\\fB", to);
        put_text(to, text, false);
        fputs("\\fR\n", to);
        put_filled(to, command->examples[i].what);
        free(text); /* open_memstream's */
    }
    return SMP_OK;
}

static smp_code put_command(FILE *to, const smp_command *command, smp_error *err)
{
    fputs(".SS ", to);
    put_text(to, command->name, true);
    fputc('\n', to);
    put_synopsis(to, command);
    fputs(".PP\n", to);
    char *help = smp_asprintf(
        "%c%s.", command->help[0] >= 'a' && command->help[0] <= 'z' ? command->help[0] - 32 : command->help[0],
        command->help + 1);
    SMP_NEED(help, "manual page", 256, err);
    if (strlen(help) > 1 && strchr("?.", help[strlen(help) - 2]))
        help[strlen(help) - 1] = '\0'; /* a question has its own end */
    put_filled(to, help);
    smp_free(help);
    if (command->about)
        put_paragraphs(to, command->about);
    for (const smp_argument_row *row = command->arguments; row && row->name; row++) {
        fputs(".TP\n\\fI", to);
        put_text(to, row->name, false);
        fputs("\\fR\n", to);
        put_filled(to, row->help);
    }
    for (size_t g = 0; g < SMP_COMMAND_GROUPS && command->groups[g].title; g++)
        for (const smp_option *row = smp_option_group_rows(&command->groups[g]); row->name; row++)
            if (command->groups[g].rows != smp_common_options)
                put_option(to, row);
    fputs(".PP\nExamples:\n", to);
    return put_examples(to, command, err);
}

smp_code smp_man_commands(FILE *to, smp_error *err)
{
    put_header(to, "SMEMPIPE", "1", "User Commands");
    fputs(".SH NAME\nsmempipe \\- chains stages over images and audio from small text files\n"
          ".SH SYNOPSIS\n\\fBsmempipe\\fR \\fICOMMAND\\fR [options] ...\n"
          ".SH DESCRIPTION\n"
          "A pipeline is a text file with a stage on each line; its language is told in\n.BR smempipe\\-pipe (5).\n"
          "Every stage gives the same bytes on every device, with any number of threads.\n"
          "Options may stand before and after arguments; \\fB\\-\\-\\fR ends them.\n"
          "Standard output carries data, standard error everything else.\n"
          ".SH COMMANDS\n",
          to);
    for (size_t i = 0; i < smp_command_count(); i++)
        SMP_TRY(put_command(to, smp_command_at(i), err));
    fputs(".SH OPTIONS OF EVERY COMMAND\n", to);
    for (const smp_option *row = smp_common_options; row->name; row++)
        put_option(to, row);
    fputs(".SH FILES\n", to);
    SMP_TRY(put_topic(to, "formats", err));
    fputs(".SH SHARED MEMORY BANKS\n", to);
    SMP_TRY(put_topic(to, "banks", err));
    fputs(".SH EXIT STATUS\n", to);
    SMP_TRY(put_topic(to, "exit-codes", err));
    fputs(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nno colour unless \\fB\\-\\-color always\\fR asks for it\n"
          ".SH SEE ALSO\n.BR smempipe\\-pipe (5)\n",
          to);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ language */

static void put_stage(FILE *to, const smp_stage *stage)
{
    fputs(".SS ", to);
    put_text(to, stage->name, true);
    fputc('\n', to);
    put_filled(to, stage->help ? stage->help : "");
    if (stage->about)
        put_paragraphs(to, stage->about);
    for (const smp_param *param = stage->params; param && param->name; param++) {
        char accepts[400], line[1000];
        smp_param_domain(param, accepts, sizeof accepts);
        fputs(".TP\n\\fB", to);
        put_text(to, param->name, false);
        fputs("\\fR", to);
        if (param->flags & SMP_P_MAIN)
            fputs(" (the name may be left out)", to);
        fputc('\n', to);
        bool required = (param->flags & SMP_P_REQUIRED) != 0;
        snprintf(line, sizeof line, "%s; %s; %s%s", param->help ? param->help : "", accepts, required ? "" : "default ",
                 required          ? "required"
                 : param->fallback ? param->fallback
                                   : "none");
        put_filled(to, line);
    }
    if (stage->example) {
        fputs(".PP\nExample: \\fB", to);
        put_text(to, stage->example, false);
        fputs("\\fR\n", to);
    }
}

smp_code smp_man_language(FILE *to, smp_error *err)
{
    put_header(to, "SMEMPIPE\\-PIPE", "5", "File Formats");
    fputs(".SH NAME\nsmempipe\\-pipe \\- the language of smempipe\\(aqs pipe files\n.SH DESCRIPTION\n", to);
    SMP_TRY(put_topic(to, "language", err));
    fputs(".SH BORDERS\n", to);
    SMP_TRY(put_topic(to, "edge", err));
    fputs(".SH STAGES\n", to);
    for (size_t i = 0; i < smp_stage_count(); i++)
        if (!smp_stage_is(smp_stage_at(i), SMP_TRAIT_INTERNAL))
            put_stage(to, smp_stage_at(i));
    fputs(".SH SEE ALSO\n.BR smempipe (1)\n", to);
    return SMP_OK;
}
