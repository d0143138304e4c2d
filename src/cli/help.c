/* --help of every command, made from its tables, and `smempipe help`: commands, topics, stages. */
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "cli/cli.h"
#include "cli/shipped.h"
#include "cli/topics.h"
#include "report/text.h"

enum { NAME_COLUMNS = 12, OPTION_COLUMNS = 26, INDENT = 2, REMARK_AT = 40 };

bool smp_help_is_filter(const smp_stage *stage)
{
    bool found = false;
    for (const smp_param *param = stage->params; param && param->name; param++)
        found |= param->choices == smp_edge_names;
    return found && stage->access == SMP_STENCIL && smp_stage_is(stage, SMP_TRAIT_NEIGHBOURHOOD);
}

/* The example of the first listed stage of an access class (of stencils: a filter, not one that moves rows or changes
 * the size); of any stage when there is none. */
static const char *example_of(smp_access access)
{
    const char *any = "";
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        if (smp_stage_is(stage, SMP_TRAIT_INTERNAL) || !stage->example)
            continue;
        if (stage->access == access && (access != SMP_STENCIL || smp_help_is_filter(stage)))
            return stage->example;
        any = any[0] ? any : stage->example;
    }
    return any;
}

void smp_help_expand(FILE *to, const char *text)
{
    static const struct {
        const char *name;
        smp_access access;
    } words[] = {{"{stencil}", SMP_STENCIL}, {"{point}", SMP_POINT}, {"{reduce}", SMP_REDUCE}, {"{whole}", SMP_WHOLE}};
    size_t column = 0;
    while (*text) {
        size_t i = 0, length = 0;
        for (; i < sizeof words / sizeof words[0]; i++) {
            length = strlen(words[i].name);
            if (!strncmp(text, words[i].name, length))
                break;
        }
        if (i < sizeof words / sizeof words[0]) {
            const char *example = example_of(words[i].access);
            fputs(example, to);
            column += strlen(example);
            text += length;
        } else if (*text == '\t') {
            do
                fputc(' ', to);
            while (++column < REMARK_AT);
            text++;
        } else {
            column = *text == '\n' ? 0 : column + 1;
            fputc(*text++, to);
        }
    }
}

static void put_example(FILE *to, const smp_example *example)
{
    fputs("  ", to);
    smp_help_expand(to, example->line);
    fprintf(to, "\n      %s\n", example->what);
}

void smp_help_short(FILE *to)
{
    fputs("smempipe " SMP_VERSION " - chains stages over images and audio from small text files\n\n"
          "usage: smempipe COMMAND [options] ...\n\n",
          to);
    for (size_t i = 0; i < smp_command_count(); i++) {
        const smp_command *command = smp_command_at(i);
        fprintf(to, "  %-*s", NAME_COLUMNS, command->name);
        smp_text_wrap(to, command->help, INDENT + NAME_COLUMNS, INDENT + NAME_COLUMNS);
    }
    fputs("\nsmempipe COMMAND --help tells about one command, smempipe help about everything else.\n", to);
}

/* Prints what a newcomer can type, and what comes next. */
static void put_first_steps(FILE *to)
{
    static const smp_example steps[] = {
        {"smempipe convert in.png out.jpg", "a file to another format"},
        {"smempipe convert photos/ -o web/ --to png --resize 1600", "a folder, no side longer than 1600 pixels"},
        {"smempipe run -e '{stencil}' in.png out.png", "one stage, without a pipe file"},
        {"smempipe explain FILE.pipe in.png", "what a pipe file would do with a picture, before it does it"},
        {"smempipe run -v FILE.pipe in.png out.png", "the picture, and what each stage cost"},
        {"smempipe stages; smempipe help language", "what stages there are, and how they make a pipeline"},
    };
    fputs("\nfirst steps:\n", to);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        put_example(to, &steps[i]);
}

/* "-e, --stage STAGE", "    --report[=FILE]" */
static void option_text(char *text, size_t size, const smp_option *row)
{
    char letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    const char *argument = row->argument ? row->argument : "";
    if (row->flags & SMP_O_OPTIONAL)
        snprintf(text, size, "%s--%s[=%s]", letter, row->name, argument);
    else
        snprintf(text, size, "%s--%s%s%s", letter, row->name, argument[0] ? " " : "", argument);
}

static void put_option(FILE *to, const smp_option *row)
{
    char name[80], fallback[32] = "", help[400];
    option_text(name, sizeof name, row);
    if (row->type == SMP_O_SIZE && row->size)
        smp_size_text(fallback, sizeof fallback, row->size);
    else if (row->fallback && !(row->flags & SMP_O_SILENT))
        snprintf(fallback, sizeof fallback, "%s", row->fallback);
    if (fallback[0])
        snprintf(help, sizeof help, "%s (default %s)", row->help, fallback);
    else
        snprintf(help, sizeof help, "%s", row->help);
    int columns = (int)strlen(name), start = INDENT + OPTION_COLUMNS;
    fprintf(to, "  %-*s", OPTION_COLUMNS, name);
    if (columns >= OPTION_COLUMNS)
        fprintf(to, "\n%*s", start, "");
    smp_text_wrap(to, help, start, start);
}

/* The rows of a group, without the advanced ones. */
static void put_rows(FILE *to, const smp_command *command, const smp_option_group *group)
{
    bool any = false;
    const char *title = group->title;
    for (const smp_option *row = smp_option_group_rows(group); row->name; row++) {
        if (row->flags & (SMP_O_ADVANCED | command->without))
            continue;
        if (!any && title)
            fprintf(to, "\n%s:\n", title);
        any = true;
        put_option(to, row);
    }
}

/* " -e STAGE...", " --offsets LIST" */
static void put_replacement(FILE *to, const smp_option *option)
{
    bool many = option->type == SMP_O_LIST || option->type == SMP_O_PAIRS;
    if (option->letter)
        fprintf(to, " -%c", option->letter);
    else
        fprintf(to, " --%s", option->name);
    if (option->type != SMP_O_FLAG)
        fprintf(to, " %s%s", option->argument, many ? "..." : "");
}

/* The usage line; with: the option that stands for the argument it replaces. */
static void put_usage(FILE *to, const smp_command *command, const smp_option *with, const char *head)
{
    fprintf(to, "%s smempipe %s [options]", head, command->name);
    for (const smp_argument_row *row = command->arguments; row && row->name; row++) {
        if (with && smp_argument_unless(row, with->name))
            put_replacement(to, with);
        else if (row->usage)
            fprintf(to, " %s", row->usage);
        else
            fprintf(to, " %s%s%s%s", row->optional ? "[" : "", row->name, row->many ? "..." : "",
                    row->optional ? "]" : "");
    }
    fputc('\n', to);
}

/* A usage line for each option that replaces the first argument that one can replace. */
static void put_other_usages(FILE *to, const smp_command *command)
{
    const smp_argument_row *row = command->arguments;
    while (row && row->name && !row->unless)
        row++;
    const smp_option *option;
    for (size_t i = 0; row && row->name && (option = smp_command_option(command, i)); i++)
        if (smp_argument_unless(row, option->name))
            put_usage(to, command, option, "      ");
}

/* Name, usage lines, arguments. */
static void put_head(FILE *to, const smp_command *command)
{
    fprintf(to, "smempipe %s - %s\n\n", command->name, command->help);
    put_usage(to, command, NULL, "usage:");
    put_other_usages(to, command);
    if (command->arguments && command->arguments->name)
        fputc('\n', to);
    for (const smp_argument_row *row = command->arguments; row && row->name; row++) {
        fprintf(to, "  %-*s", OPTION_COLUMNS, row->name);
        smp_text_wrap(to, row->help, INDENT + OPTION_COLUMNS, INDENT + OPTION_COLUMNS);
    }
}

static void put_examples(FILE *to, const smp_command *command)
{
    fputs("\nexamples:\n", to);
    for (size_t i = 0; i < SMP_COMMAND_EXAMPLES && command->examples[i].line; i++)
        put_example(to, &command->examples[i]);
}

void smp_help_usage(FILE *to, const smp_command *command)
{
    put_head(to, command);
    put_examples(to, command);
    fprintf(to, "\nsmempipe %s --help tells the options.\n", command->name);
}

/* An option's help up to the first stop, without what is in brackets: one thought, whole. */
static void put_brief_option(FILE *to, const smp_option *row)
{
    char name[80], help[400];
    size_t size = 0;
    option_text(name, sizeof name, row);
    for (const char *at = row->help; *at && size + 1 < sizeof help; at++) {
        const char *close = strncmp(at, " (", 2) == 0 ? strchr(at, ')') : NULL;
        if (strncmp(at, "; ", 2) == 0 || strncmp(at, ". ", 2) == 0)
            break;
        if (close)
            at = close;
        else
            help[size++] = *at;
    }
    help[size] = '\0';
    fprintf(to, "  %-*s", OPTION_COLUMNS, name);
    if ((int)strlen(name) >= OPTION_COLUMNS)
        fprintf(to, "\n%*s", INDENT + OPTION_COLUMNS, "");
    smp_text_wrap(to, help, INDENT + OPTION_COLUMNS, INDENT + OPTION_COLUMNS);
}

static void put_brief(FILE *to, const smp_command *command)
{
    bool titled = false;
    for (size_t i = 0; i < SMP_COMMAND_GROUPS && command->groups[i].title; i++) {
        if (command->groups[i].rows == smp_common_options || command->groups[i].rows == smp_plan_options)
            continue;
        for (const smp_option *row = smp_option_group_rows(&command->groups[i]); row->name; row++) {
            if (row->flags & (SMP_O_ADVANCED | command->without))
                continue;
            if (!titled)
                fputs("\noptions:\n", to);
            titled = true;
            put_brief_option(to, row);
        }
    }
    fprintf(to, "\nsmempipe %s --help tells all of it, with the common options and examples.\n", command->name);
}

void smp_help_command(FILE *to, const smp_command *command, bool brief)
{
    put_head(to, command);
    if (brief) {
        put_brief(to, command);
        return;
    }
    if (command->about) {
        fputc('\n', to);
        smp_text_wrap(to, command->about, 0, 0);
    }
    for (size_t i = 0; i < SMP_COMMAND_GROUPS && command->groups[i].title; i++)
        put_rows(to, command, &command->groups[i]);
    bool titled = false;
    const smp_option *row;
    for (size_t i = 0; (row = smp_command_option(command, i)); i++)
        if (row->flags & SMP_O_ADVANCED) {
            if (!titled)
                fputs("\nadvanced options:\n", to);
            titled = true;
            put_option(to, row);
        }
    put_examples(to, command);
}

/* ------------------------------------------------------------------------------------------------ help [TOPIC] */

typedef struct help_settings {
    smp_common common;
    const char *topic;
    int page; /* index into pages */
} help_settings;

static const char *const pages[] = {"none", "smempipe", "smempipe-pipe", NULL};

static const smp_option help_options[] = {
    {"man", 0, SMP_O_CHOICE, offsetof(help_settings, page), .fallback = "none", .argument = "PAGE", .choices = pages,
     .flags = SMP_O_ADVANCED | SMP_O_SILENT, .help = "write a manual page: smempipe (section 1) or smempipe-pipe (5)"},
    {0},
};

void smp_help_overview(FILE *to)
{
    smp_help_short(to);
    put_first_steps(to);
    fputs("\ntopics (smempipe help TOPIC):\n", to);
    const smp_topic *topic;
    for (size_t i = 0; (topic = smp_topic_at(i)); i++)
        fprintf(to, "  %-*s  %s\n", NAME_COLUMNS, topic->name, topic->help);
    fprintf(to, "  %-*s  %s\n\nstages:\n ", NAME_COLUMNS, "a stage", "its parameters, variants and an example");
    int column = INDENT - 1;
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        if (smp_stage_is(stage, SMP_TRAIT_INTERNAL))
            continue;
        int width = (int)strlen(stage->name) + 2;
        if (column + width > SMP_TEXT_WIDTH) {
            fputs("\n ", to);
            column = INDENT - 1;
        }
        fprintf(to, "%s%s", column < INDENT ? " " : "  ", stage->name);
        column += width;
    }
    fputc('\n', to);
}

/* Returns smempipe's name of what other tools call `name`; null: none. */
static const char *alias_of(const char *name)
{
    for (size_t i = 0; i < smp_stage_count(); i++)
        for (smp_other_name other = smp_other_names(smp_stage_at(i)); smp_next_name(&other);)
            if (!strcmp(other.name, name))
                return other.say;
    return NULL;
}

smp_code smp_help_topic(const smp_common *common, const char *name, smp_error *err)
{
    enum { MAX_NAMES = 256 };
    const char *names[MAX_NAMES];
    size_t count = 0;
    const smp_topic *topic;
    const smp_command *command = smp_command_find(name);
    const smp_stage *stage = smp_stage_find(name, strlen(name));
    for (size_t i = 0; (topic = smp_topic_at(i)); i++) {
        if (!strcmp(topic->name, name)) {
            smp_topic_print(topic, stdout);
            return SMP_OK;
        }
        names[count++] = topic->name;
    }
    if (command) {
        smp_help_command(stdout, command, false);
        return SMP_OK;
    }
    if (stage) {
        smp_stage_reference(stdout, stage, smp_cli_color(common, STDOUT_FILENO));
        return SMP_OK;
    }
    if (smp_is_statement(name)) {
        for (size_t i = 0; (topic = smp_topic_at(i)); i++)
            if (!strcmp(topic->name, "language"))
                smp_topic_print(topic, stdout);
        return SMP_OK;
    }
    for (size_t i = 0; i < smp_command_count() && count < MAX_NAMES; i++)
        names[count++] = smp_command_at(i)->name;
    for (size_t i = 0; i < smp_stage_count() && count < MAX_NAMES; i++)
        names[count++] = smp_stage_at(i)->name;
    const size_t length = strlen(name), least = 3; /* letters: two are near too many words */
    const char *near = length < least ? NULL : smp_nearest(name, length, names, count), *say = alias_of(name);
    const bool shipped = smp_is_shipped(name);
    smp_fail(err, SMP_E_USAGE, "no help on '%s'", name);
    if (shipped)
        return smp_hint(err, "it is a pipeline: smempipe pipelines %s%s%s", name,
                        say ? "; as a stage smempipe calls it: " : "", say ? say : "");
    if (say)
        return smp_hint(err, "smempipe calls this: %s; try smempipe help %.*s", say, (int)strcspn(say, " "), say);
    return near ? smp_hint(err, "did you mean '%s'?", near) : smp_hint(err, "smempipe help lists the topics");
}

static smp_code help(void *settings, smp_error *err)
{
    help_settings *set = settings;
    if (set->page)
        return set->page == 1 ? smp_man_commands(stdout, err) : smp_man_language(stdout, err);
    if (set->topic)
        return smp_help_topic(&set->common, set->topic, err);
    smp_help_overview(stdout);
    return SMP_OK;
}

static const smp_argument_row arguments[] = {
    {"TOPIC", offsetof(help_settings, topic), .optional = true,
     .help = "a command, a stage, or one of the topics that 'smempipe help' lists"},
    {0},
};

const smp_command smp_command_help = {
    .name = "help",
    .help = "commands, topics and stages explained",
    .settings_size = sizeof(help_settings),
    .without = SMP_O_OUTPUTS | SMP_O_DEVICE | SMP_O_THREADS | SMP_O_INPUTS | SMP_O_VERBOSE,
    .groups = {SMP_COMMON_GROUP, {"options", help_options}},
    .arguments = arguments,
    .examples = {{"smempipe help language", "the language of pipe files"},
                 {"smempipe help run", "the same as smempipe run --help"}},
    .run = help,
};
