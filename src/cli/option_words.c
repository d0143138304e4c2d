/* Parsing command lines by their tables: see options.h. Nothing here knows a command. */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text/diag.h"
#include "cli/dashes.h"
#include "cli/mistakes.h"
#include "stages/origins/origin.h"

enum { MAX_WORDS = 96 }; /* options or choices that a suggestion is sought among */

const smp_option *smp_option_group_rows(const smp_option_group *group)
{
    return group->rows ? group->rows : group->make(group->at);
}

/* without: flags of those that do not count. */
static const smp_option *option_at(const smp_command *command, size_t index, unsigned without)
{
    for (size_t g = 0; g < SMP_COMMAND_GROUPS && command->groups[g].title; g++)
        for (const smp_option *row = smp_option_group_rows(&command->groups[g]); row->name; row++)
            if (!(row->flags & without) && index-- == 0)
                return row;
    return NULL;
}

const smp_option *smp_command_option(const smp_command *command, size_t index)
{
    return option_at(command, index, command->without);
}

static const smp_option *find_option(const smp_command *command, const char *name, size_t length, char letter)
{
    const smp_option *row;
    for (size_t i = 0; (row = smp_command_option(command, i)); i++)
        if (name ? strlen(row->name) == length && !memcmp(row->name, name, length) : row->letter == letter)
            return row;
    return NULL;
}

bool smp_parse_size(const char *text, uint64_t *out)
{
    if (!isdigit((unsigned char)text[0]))
        return false;
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno)
        return false;
    static const char suffixes[] = "KMGT";
    const char *suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
    for (int i = 0; suffix && i <= suffix - suffixes; i++)
        if (__builtin_mul_overflow(value, 1024, &value))
            return false;
    *out = value;
    return *end == '\0' || (suffix && end[1] == '\0');
}

bool smp_parse_duration(const char *text, double *out)
{
    char *end;
    const double value = strtod(text, &end);
    const double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : *end == 'd' ? 86400 : 1;
    if (end == text || !isdigit((unsigned char)text[0]) || !isfinite(value) || value <= 0 ||
        (*end && (!strchr("smhd", *end) || end[1])))
        return false;
    *out = value * unit;
    return true;
}

void smp_size_text(char *text, size_t size, uint64_t value)
{
    static const char *const suffixes[] = {"", "K", "M", "G", "T"};
    uint64_t scaled = value;
    size_t unit = 0;
    while (scaled && scaled % 1024 == 0 && unit < 4) {
        scaled /= 1024;
        unit++;
    }
    bool plain = scaled >= 10000; /* 2000000000 reads better than 1953125K */
    snprintf(text, size, "%llu%s", (unsigned long long)(plain ? value : scaled), plain ? "" : suffixes[unit]);
}

/* ------------------------------------------------------------------------------------------------ values */

static smp_code add_string(smp_strings *list, const char *text, smp_error *err)
{
    SMP_NEED(smp_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items), "command line",
             (list->count + 1) * sizeof *list->items, err);
    list->items[list->count++] = text;
    return SMP_OK;
}

static smp_code fail_choice(const smp_option *row, const char *text, smp_error *err)
{
    char all[200] = "";
    size_t used = 0, count = 0;
    for (; row->choices[count]; count++) {
        int n = snprintf(all + used, sizeof all - used, "%s%s", count ? ", " : "", row->choices[count]);
        used += n > 0 && (size_t)n < sizeof all - used ? (size_t)n : 0;
    }
    const char *near = smp_nearest(text, strlen(text), row->choices, count);
    smp_fail(err, SMP_E_USAGE, "--%s takes no '%s'", row->name, text);
    return near ? smp_hint(err, "did you mean '%s'? It takes %s", near, all) : smp_hint(err, "it takes %s", all);
}

static smp_code fail_number(const smp_option *row, const char *text, smp_error *err)
{
    const char *kind = row->type == SMP_O_INT ? "a whole number" : "a number";
    smp_fail(err, SMP_E_USAGE, "'%s' is not a valid value for --%s", text, row->name);
    if (row->type == SMP_O_SIZE)
        return smp_hint(err, "it takes a whole number, with K, M, G or T for powers of 1024");
    if (row->min < row->max && isfinite(row->max))
        return smp_hint(err, "it takes %s from %.10g to %.10g", kind, row->min, row->max);
    return row->min < row->max ? smp_hint(err, "it takes %s, at least %.10g", kind, row->min)
                               : smp_hint(err, "it takes %s", kind);
}

/* Returns the length of a unit behind a number, which pipelines write and options may. */
static size_t unit_length(const smp_option *row, const char *end)
{
    static const struct {
        const char *argument, *unit;
    } units[] = {{"DBFS", "dBFS"}, {"DBFS", "dB"}, {"SECONDS", "s"}, {"KBIT", "k"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (row->argument && !strcmp(row->argument, units[i].argument) && !strcmp(end, units[i].unit))
            return strlen(end);
    return 0;
}

/* The index of a word among an option's choices; -1: it is none of them. */
static int choice_of(const smp_option *row, const char *text)
{
    for (int i = 0; row->choices[i]; i++)
        if (!strcmp(row->choices[i], text))
            return i;
    return -1;
}

/* checked: a value by the user; a table's default may lie outside the range that users have. */
static smp_code store(const smp_option *row, const char *text, void *settings, bool checked, smp_error *err)
{
    void *field = (char *)settings + row->offset;
    bool bounded = checked && row->min < row->max, good = true;
    char *end = NULL;
    errno = 0;
    switch (row->type) {
    case SMP_O_FLAG:
        *(bool *)field = true;
        break;
    case SMP_O_INT: {
        long long value = strtoll(text, &end, 10);
        end += end != text ? unit_length(row, end) : 0;
        good = end != text && !*end && !errno && !isspace((unsigned char)text[0]);
        good = good && !(bounded && ((double)value < row->min || (double)value > row->max));
        if (good)
            *(int64_t *)field = value;
        break;
    }
    case SMP_O_NUMBER: {
        double value = strtod(text, &end);
        end += end != text ? unit_length(row, end) : 0;
        good = end != text && !*end && isfinite(value) && !isspace((unsigned char)text[0]);
        good = good && !(bounded && (value < row->min || value > row->max));
        if (good)
            *(double *)field = value;
        break;
    }
    case SMP_O_SIZE: {
        uint64_t value;
        good = smp_parse_size(text, &value);
        if (good)
            *(uint64_t *)field = value;
        break;
    }
    case SMP_O_STRING:
        *(const char **)field = text;
        break;
    case SMP_O_CHOICE:
        if (choice_of(row, text) < 0)
            return fail_choice(row, text, err);
        *(int *)field = choice_of(row, text);
        return SMP_OK;
    case SMP_O_PAIRS:
        if (text[0] == '=' || !strchr(text, '='))
            return smp_fail(err, SMP_E_USAGE, "--%s takes name=value, not '%s'", row->name, text),
                   smp_hint(err, "write --%s %s=VALUE", row->name, text[0] && text[0] != '=' ? text : "name");
        return add_string(field, text, err);
    case SMP_O_LIST:
        return add_string(field, text, err);
    }
    return good ? SMP_OK : fail_number(row, text, err);
}

static bool given(const smp_option *row, const void *settings)
{
    const void *field = (const char *)settings + row->offset;
    switch (row->type) {
    case SMP_O_FLAG:
        return *(const bool *)field;
    case SMP_O_STRING:
        return *(const char *const *)field != NULL;
    case SMP_O_LIST:
    case SMP_O_PAIRS:
        return ((const smp_strings *)field)->count > 0;
    default:
        return false;
    }
}

static smp_code set_defaults(const smp_command *command, void *settings, smp_error *err)
{
    const smp_option *row;
    memset(settings, 0, command->settings_size);
    for (size_t i = 0; (row = option_at(command, i, 0)); i++) {
        if (row->type == SMP_O_SIZE)
            *(uint64_t *)(void *)((char *)settings + row->offset) = row->size;
        else if (row->fallback)
            SMP_TRY(store(row, row->fallback, settings, false, err));
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ usage */

bool smp_argument_unless(const smp_argument_row *row, const char *option)
{
    const size_t length = strlen(option);
    for (const char *name = row->unless; name; name = strchr(name, ',')) {
        name += *name == ',';
        if (!strncmp(name, option, length) && (!name[length] || name[length] == ','))
            return true;
    }
    return false;
}

static bool replaced(const smp_command *command, const smp_argument_row *row, const void *settings)
{
    const smp_option *option;
    for (size_t i = 0; row->unless && (option = smp_command_option(command, i)); i++)
        if (smp_argument_unless(row, option->name) && given(option, settings))
            return true;
    return false;
}

/* Adds to a text, as far as it holds. */
static void add_text(char *text, size_t size, const char *gap, const char *word, const char *quote)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s%s%s", gap, quote, word, quote);
}

/* The command line as it would be with all arguments: those that are there, the options that take the place of one,
 * and the names of those that miss. */
static void complete(const smp_command *command, const smp_strings *words, const void *settings, char *text,
                     size_t size)
{
    static const char special[] = " \t'\"$&()*?;<>|\\`#";
    size_t next = 0;
    const smp_option *option;
    snprintf(text, size, "smempipe %s", command->name);
    for (const smp_argument_row *row = command->arguments; row && row->name; row++) {
        bool taken = false;
        for (size_t i = 0; row->unless && !taken && (option = smp_command_option(command, i)); i++)
            if (smp_argument_unless(row, option->name) && given(option, settings)) {
                const bool list = option->type == SMP_O_LIST;
                const smp_strings *items = (const void *)((const char *)settings + option->offset);
                const char letter[3] = {'-', option->letter};
                for (size_t k = 0; k < (list ? items->count : 1); k++) {
                    add_text(text, size, " ", option->letter ? letter : "--", "");
                    add_text(text, size, "", option->letter ? "" : option->name, "");
                    if (list || option->argument)
                        add_text(text, size, " ", list ? items->items[k] : option->argument, list ? "'" : "");
                }
                taken = true;
            }
        const char *word = next < words->count ? words->items[next] : row->usage ? row->usage : row->name;
        if (!taken && (next < words->count || !row->optional))
            add_text(text, size, " ", word, next < words->count && word[strcspn(word, special)] ? "'" : "");
        next += !taken;
    }
}

/* ------------------------------------------------------------------------------------------------ options */

/* Returns the statement for a stage of this name; null: there is none, or the command takes none. */
static const char *statement_named(const smp_command *command, const char *name, size_t length)
{
    return find_option(command, "stage", 5, 'e') ? smp_cli_stage_named(name, length) : NULL;
}

static smp_code hint_statement(const char *statement, smp_error *err)
{
    enum { MOST = 40 }; /* of a stage's name */
    const size_t name = strcspn(statement, " ");
    if (!strncmp(statement, "nothing: ", 9))
        return smp_hint(err, "write %s", statement);
    return smp_hint(err, "a stage is written -e '%s' (smempipe stages %.*s)", statement,
                    (int)(name < MOST ? name : MOST), statement);
}

/* Returns this command's option that sox and ffmpeg call so; null: none. */
static const char *option_elsewhere(const smp_command *command, const char *word)
{
    static const smp_alias others[] = {
        {"-c -ac", "channels"}, {"-ar", "rate"}, {"-b --bits", "samples"}, {"-C -ab", "bitrate"}, {0}};
    const char *name = smp_alias_of(others, word, strlen(word));
    return name && find_option(command, name, strlen(name), 0) ? name : NULL;
}

/* full: what was given, of which word may be a part. */
static smp_code fail_unknown(const smp_command *command, const void *settings, const char *word, const char *full,
                             const char *name, size_t length, smp_error *err)
{
    const char *names[MAX_WORDS];
    size_t count = 0;
    const smp_option *row;
    for (; count < MAX_WORDS && (row = smp_command_option(command, count)); count++)
        names[count] = row->name;
    const char *near = name ? smp_nearest(name, length, names, count) : NULL;
    const char *statement = name ? statement_named(command, name, length) : NULL;
    const char *meant = name ? smp_alias_of(command->meant, name, length) : NULL;
    char usage[200];
    complete(command, &(smp_strings){0}, settings, usage, sizeof usage);
    smp_fail(err, SMP_E_USAGE, "unknown option '%s'", word);
    if (access(full, F_OK) == 0)
        return smp_hint(err, "a file whose name begins with '-': write ./%s", full);
    if (meant)
        return smp_hint(err, "write %s", meant);
    const char *other = option_elsewhere(command, word);
    other = other ? other : option_elsewhere(command, full);
    if (other)
        return smp_hint(err, "did you mean '--%s'?", other);
    if (statement && !(near && strlen(near) == length))
        return hint_statement(statement, err);
    if (smp_cli_names_file(command, full, usage, err))
        return SMP_E_USAGE;
    if (near)
        return smp_hint(err, "did you mean '--%s'?", near);
    return smp_hint(err, "smempipe %s --help lists the options", command->name);
}

static smp_code fail_no_value(const smp_option *row, smp_error *err)
{
    smp_fail(err, SMP_E_USAGE, "--%s takes a value", row->name);
    return smp_hint(err, "write --%s %s", row->name, row->argument ? row->argument : "VALUE");
}

typedef struct parse {
    const smp_command *command;
    int argc, at;
    char *const *argv;
    void *settings;
    bool leaves;
} parse;

/* The value of an option whose text ended: the next word. */
static smp_code take_value(parse *p, const smp_option *row, smp_error *err)
{
    const bool optional = (row->flags & SMP_O_OPTIONAL) != 0;
    if (row->type == SMP_O_CHOICE && optional) {
        const bool named = p->at < p->argc && choice_of(row, p->argv[p->at]) >= 0;
        return store(row, named ? p->argv[p->at++] : row->choices[1], p->settings, true, err);
    }
    if (row->type == SMP_O_FLAG || optional)
        return store(row, "", p->settings, false, err);
    if (p->at >= p->argc)
        return fail_no_value(row, err);
    return store(row, p->argv[p->at++], p->settings, true, err);
}

static smp_code parse_long(parse *p, const char *word, smp_error *err)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const smp_option *row = find_option(p->command, name, length, 0);
    if (!row) {
        char text[80];
        snprintf(text, sizeof text, "--%.*s", length < sizeof text ? (int)length : (int)sizeof text, name);
        return fail_unknown(p->command, p->settings, text, word, name, length, err);
    }
    p->leaves |= (row->flags & SMP_O_LEAVES) != 0;
    if (!equals)
        return take_value(p, row, err);
    if (row->type == SMP_O_FLAG)
        return smp_fail(err, SMP_E_USAGE, "--%s takes no value", row->name),
               smp_hint(err, "write --%s alone", row->name);
    return store(row, equals + 1, p->settings, true, err);
}

/* Letters that are an option's or a stage's whole name, as other tools write it behind one dash: fails and says so. */
static bool fail_whole(const smp_command *command, const char *word, smp_error *err)
{
    const size_t length = strlen(word + 1);
    const smp_option *row = length > 1 ? find_option(command, word + 1, length, 0) : NULL;
    const char *meant = length > 1 && !row ? smp_alias_of(command->meant, word + 1, length) : NULL;
    const char *statement = length > 1 && !row && !meant ? statement_named(command, word + 1, length) : NULL;
    if (!row && !meant && !statement)
        return false;
    smp_fail(err, SMP_E_USAGE, "unknown option '%s'", word);
    if (row)
        smp_hint(err, "did you mean '--%s'?", row->name);
    else if (meant)
        smp_hint(err, "write %s", meant);
    else
        hint_statement(statement, err);
    return true;
}

/* -qv, -f, -e STAGE, -eSTAGE. */
static smp_code parse_letters(parse *p, const char *word, smp_error *err)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const smp_option *row = find_option(p->command, NULL, 0, *letter);
        if (!row) {
            enum { WORD = 5 }; /* bytes of what is a word, and no letters of options: -fuzz */
            const bool all = !(*letter & 0x80) && (letter == word + 1 || strlen(word) >= WORD);
            char text[80];
            if (fail_whole(p->command, word, err))
                return SMP_E_USAGE;
            snprintf(text, sizeof text, "-%.*s",
                     all                ? (int)sizeof text - 2
                     : (*letter & 0x80) ? 4
                                        : 1,
                     all ? word + 1 : letter);
            return fail_unknown(p->command, p->settings, text, word, NULL, 0, err);
        }
        p->leaves |= (row->flags & SMP_O_LEAVES) != 0;
        if (row->type != SMP_O_FLAG && letter[1])
            return fail_whole(p->command, word, err) ? SMP_E_USAGE : store(row, letter + 1, p->settings, true, err);
        SMP_TRY(take_value(p, row, err));
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ arguments */

/* The statements given by -e; null: none. */
static const smp_strings *stages_of(const smp_command *command, const void *settings)
{
    const smp_option *row = find_option(command, "stage", 5, 0);
    const smp_strings *stages = row ? (const void *)((const char *)settings + row->offset) : NULL;
    return stages && stages->count ? stages : NULL;
}

static smp_code fail_missing(const smp_command *command, const smp_argument_row *row, const smp_strings *words,
                             const void *settings, smp_error *err)
{
    char line[200];
    const smp_strings *stages = stages_of(command, settings);
    if (stages && smp_cli_file_as_stage(command, stages, words, err))
        return err->code;
    if (stages && !strcmp(row->name, "IN") && smp_origin_begins(stages->items[0]) &&
        !smp_stage_find(stages->items[0], strcspn(stages->items[0], " \t"))) /* noise is both */
        return smp_cli_fail_made(stages->items[0], err);
    complete(command, words, settings, line, sizeof line);
    smp_fail(err, SMP_E_USAGE, "%s is missing", row->name);
    return smp_hint(err, "write %s; %s %s %s", line, row->name, row->many ? "are" : "is", row->help);
}

static smp_code place_arguments(const smp_command *command, const smp_strings *words, void *settings, smp_error *err)
{
    size_t next = 0;
    for (const smp_argument_row *row = command->arguments; row && row->name; row++) {
        void *field = (char *)settings + row->offset;
        if (replaced(command, row, settings) || (row->spared && next + 1 == words->count && row->spared(settings)))
            continue;
        if (next == words->count) {
            if (row->optional)
                continue;
            return fail_missing(command, row, words, settings, err);
        }
        if (row->refuse && row->refuse(command, words, next, err))
            return err->code;
        if (!words->items[next][0])
            return smp_fail(err, SMP_E_USAGE, "%s is empty", row->name),
                   smp_hint(err, "a variable of the shell that is not set? %s %s %s", row->name,
                            row->many ? "are" : "is", row->help);
        if (!row->many) {
            *(const char **)field = words->items[next++];
            continue;
        }
        for (; next < words->count; next++)
            SMP_TRY(add_string(field, words->items[next], err));
    }
    if (next < words->count) {
        char line[200];
        complete(command, &(smp_strings){0}, settings, line, sizeof line);
        return smp_cli_fail_surplus(command, words, next, stages_of(command, settings), line, err);
    }
    return SMP_OK;
}

static size_t before_dashes;

size_t smp_options_before_dashes(void)
{
    return before_dashes;
}

smp_code smp_options_parse(const smp_command *command, int argc, char *const *argv, void *settings, bool *leaves,
                           smp_error *err)
{
    if (leaves)
        *leaves = false;
    parse p = {.command = command, .argc = argc, .argv = argv, .settings = settings};
    smp_strings words = {0};
    smp_code code = set_defaults(command, settings, err);
    bool ended = false;
    before_dashes = 0;
    while (!code && p.at < argc) {
        const char *word = argv[p.at++];
        if (!ended && !strcmp(word, "--"))
            ended = true;
        else if (!ended && word[0] == '-' && word[1] == '-')
            code = parse_long(&p, word, err);
        else if (!ended && word[0] == '-' && word[1])
            code = parse_letters(&p, word, err);
        else
            code = add_string(&words, word, err);
        before_dashes = ended ? before_dashes : words.count;
    }
    if (!code && p.leaves) { /* as far as there are any: --help tells about a pipeline that is given */
        smp_error missing;
        place_arguments(command, &words, settings, &missing);
    } else if (!code)
        code = place_arguments(command, &words, settings, err);
    if (!code && leaves)
        *leaves = p.leaves;
    smp_free(words.items);
    return code;
}

static void free_strings(void *field)
{
    smp_strings *list = field;
    smp_free(list->items);
    *list = (smp_strings){0};
}

void smp_options_free(const smp_command *command, void *settings)
{
    const smp_option *row;
    for (size_t i = 0; (row = smp_command_option(command, i)); i++)
        if (row->type == SMP_O_LIST || row->type == SMP_O_PAIRS)
            free_strings((char *)settings + row->offset);
    for (const smp_argument_row *argument = command->arguments; argument && argument->name; argument++)
        if (argument->many)
            free_strings((char *)settings + argument->offset);
}
