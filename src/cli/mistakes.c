/* Guesses what a mistaken command line was meant as: see mistakes.h. */
#include "cli/mistakes.h"

#include <dirent.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/text/diag.h"
#include "io/media.h"
#include "stages/stage.h"

enum { LINE = 240 /* bytes of a command in a hint */ };

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Whether a word is a file, by its name or because it exists. */
static bool is_file(const char *word)
{
    return !strcmp(word, "-") || is_there(word) || smp_writer_kind(word) != SMP_KIND_NONE;
}

static bool has_argument(const smp_command *command, const char *name)
{
    for (const smp_argument_row *row = command->arguments; row && row->name; row++)
        if (!strcmp(row->name, name))
            return true;
    return false;
}

static bool has_option(const smp_command *command, const char *name)
{
    const smp_option *row;
    for (size_t i = 0; (row = smp_command_option(command, i)); i++)
        if (!strcmp(row->name, name))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------ options */

bool smp_cli_names_file(const smp_command *command, const char *word, const char *usage, smp_error *err)
{
    char name[16];
    word += strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    static const char *const outputs[] = {"o", "out", "output", "outfile", "dest"}, *const inputs[] = {"i", "in",
                                                                                                       "input",
                                                                                                       "infile", "src"};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        if (!strcmp(name, inputs[i])) {
            smp_hint(err, "inputs stand without an option: %s", usage);
            return true;
        }
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (strcmp(name, outputs[i]) != 0 || has_option(command, "output"))
            continue;
        if (has_argument(command, "OUT"))
            smp_hint(err, "the output stands without an option: %s", usage);
        else
            smp_hint(err, "smempipe %s writes to standard output: put > FILE behind the command", command->name);
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------ words too many */

void smp_cli_words(char *text, size_t size, char *const *words, int count)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++) {
        const char *quote = words[i][strcspn(words[i], " \t'\"$&()*?;<>|\\`#")] ? "'" : "";
        int n = snprintf(text + used, size - used, " %s%s%s", quote, words[i], quote);
        used += n > 0 ? (size_t)n : 0;
    }
}

void smp_cli_statement(char *text, size_t size, const char *word, const char *example, char *const *words, int *count)
{
    size_t used = (size_t)snprintf(text, size, "%s", word);
    int taken = 0;
    while (taken < *count && used < size && !is_file(words[taken]) &&
           (words[taken][strcspn(words[taken], "0123456789=")] || !strcmp(words[taken], "auto")))
        used += (size_t)snprintf(text + used, size - used, " %s", words[taken++]);
    if (!taken && !strchr(word, ' ') && example)
        snprintf(text, size, "%s", example);
    *count = taken;
}

const char *smp_cli_stage_named(const char *name, size_t length)
{
    for (size_t i = 0; i < smp_stage_count(); i++) {
        const smp_stage *stage = smp_stage_at(i);
        if (strlen(stage->name) == length && !strncmp(stage->name, name, length))
            return stage->example;
        for (smp_other_name other = smp_other_names(stage); smp_next_name(&other);)
            if (strlen(other.name) == length && !strncmp(other.name, name, length))
                return other.say;
    }
    return NULL;
}

/* Words that are the name of one file, when blanks stand between them. */
static bool in_quotes(const smp_strings *words, smp_error *err)
{
    for (size_t from = 0; from + 1 < words->count; from++) {
        char name[LINE];
        size_t used = (size_t)snprintf(name, sizeof name, "%s", words->items[from]);
        for (size_t to = from + 1; to < words->count && used < sizeof name; to++) {
            used += (size_t)snprintf(name + used, sizeof name - used, " %s", words->items[to]);
            if (used < sizeof name && is_there(name)) {
                smp_hint(err, "a name with blanks stands in quotes: '%s'", name);
                return true;
            }
        }
    }
    return false;
}

bool smp_cli_file_as_stage(const smp_command *command, const smp_strings *stages, const smp_strings *words,
                           smp_error *err)
{
    for (size_t i = 0; i < stages->count; i++) {
        char rest[LINE];
        const char *file = stages->items[i];
        const bool pipe = smp_ends_with(file, ".pipe");
        if (!pipe && smp_writer_kind(file) == SMP_KIND_NONE)
            continue;
        smp_cli_words(rest, sizeof rest, (char *const *)(uintptr_t)words->items, (int)words->count);
        smp_fail(err, SMP_E_USAGE, "-e takes a stage, and '%.100s' is a file's name", file);
        smp_hint(err, "write smempipe %s %s%.100s%s", command->name, pipe ? "" : "-e 'STAGE' ", file, rest);
        return true;
    }
    return false;
}

smp_code smp_cli_fail_made(const char *statement, smp_error *err)
{
    smp_fail(err, SMP_E_USAGE, "'%.*s' makes what is read, and this command reads files",
             (int)strcspn(statement, " \t"), statement);
    return smp_hint(err, "write smempipe run -e '%.100s' FILE first, then name FILE here in place of the stage",
                    statement);
}

/* -e gaussian 2px IN OUT: the values of a stage, or further stages, as words of their own. */
static bool apart_from_stage(const smp_command *command, const smp_strings *words, size_t surplus,
                             const smp_strings *stages, smp_error *err)
{
    char rest[LINE], line[LINE];
    for (size_t i = 0; i < surplus; i++)
        if (is_file(words->items[i]))
            return false;
    const bool other = smp_stage_find(words->items[0], strlen(words->items[0])) != NULL;
    size_t used = (size_t)snprintf(line, sizeof line, "smempipe %s", command->name);
    for (size_t i = 0; i < stages->count && used < sizeof line; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, " -e '%s%s", stages->items[i],
                                 i + 1 < stages->count || other ? "'" : "");
    for (size_t i = 0; i < surplus && used < sizeof line; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", !i && other ? " -e '" : " ", words->items[i]);
    smp_cli_words(rest, sizeof rest, (char *const *)(uintptr_t)(words->items + surplus), (int)(words->count - surplus));
    smp_hint(err, "a stage and its values are one argument: write %s'%s", line, rest);
    return true;
}

/* run P.pipe A B OUT */
static bool several_inputs(const smp_command *command, const smp_strings *words, const smp_strings *stages,
                           smp_error *err)
{
    const size_t first = stages ? 0 : 1, last = words->count - 1;
    if (!has_argument(command, "P.pipe") || !has_argument(command, "OUT") || words->count < first + 3)
        return false;
    for (size_t i = first; i < last; i++)
        if (!is_there(words->items[i]))
            return false;
    char rest[LINE], line[LINE];
    size_t used = (size_t)snprintf(line, sizeof line, "smempipe batch");
    for (size_t i = 0; stages && i < stages->count && used < sizeof line; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, " -e '%s'", stages->items[i]);
    const bool folder = smp_is_folder(words->items[last]) || smp_writer_kind(words->items[last]) == SMP_KIND_NONE;
    smp_cli_words(rest, sizeof rest, (char *const *)(uintptr_t)words->items, (int)last);
    smp_hint(err, "of several files write %s%s -o %.100s", line, rest, folder ? words->items[last] : "DIR");
    return true;
}

smp_code smp_cli_fail_surplus(const smp_command *command, const smp_strings *words, size_t taken,
                              const smp_strings *stages, const char *usage, smp_error *err)
{
    const char *word = words->items[taken];
    const size_t surplus = words->count - taken;
    smp_fail(err, SMP_E_USAGE, "unexpected argument '%s'", word);
    if (in_quotes(words, err) || (stages && apart_from_stage(command, words, surplus, stages, err)) ||
        several_inputs(command, words, stages, err))
        return SMP_E_USAGE;
    if (surplus == 1 && has_option(command, "output") && !is_there(word)) {
        char line[LINE];
        smp_cli_words(line, sizeof line, (char *const *)(uintptr_t)words->items, (int)taken);
        return smp_hint(err, "write smempipe %s%s -o %.100s", command->name, line, word);
    }
    return smp_hint(err, "the command is %s; more: smempipe %s --help", usage, command->name);
}

const char *smp_cli_last_as_output(const smp_strings *inputs)
{
    const char *last = inputs->count > 1 ? inputs->items[inputs->count - 1] : NULL;
    return last && !is_there(last) ? last : NULL;
}

/* ------------------------------------------------------------------------------------------------ missing files */

/* Returns how close another name is to the one that is wanted; 0: too far. */
static int nearness(const char *wanted, const char *name)
{
    enum { SAME_BUT_CASE = 1, OTHER_EXTENSION, TYPING_MISTAKE };
    const size_t stem = smp_stem(wanted);
    if (!strcasecmp(wanted, name))
        return SAME_BUT_CASE;
    if (stem == smp_stem(name) && !strncasecmp(wanted, name, stem) && smp_writer_kind(name) != SMP_KIND_NONE)
        return OTHER_EXTENSION;
    return smp_nearest(wanted, strlen(wanted), &name, 1) ? TYPING_MISTAKE : 0;
}

/* The nearest name in the same folder; of several that are as near the first in order. From smp_alloc; null: none. */
static char *near_file(const char *path)
{
    enum { MOST_LOOKED_AT = 20000 /* names of a folder */ };
    const char *wanted = smp_base_name(path);
    char *folder = smp_folder_part(path), *found = NULL;
    DIR *dir = folder && wanted[0] ? opendir(folder) : NULL;
    int best = 0, looked = 0;
    for (struct dirent *entry; dir && looked < MOST_LOOKED_AT && (entry = readdir(dir)); looked++) {
        const char *name = entry->d_name;
        const int near = name[0] == '.' && wanted[0] != '.' ? 0 : nearness(wanted, name);
        if (!near || (best && (near > best || (near == best && strcmp(name, smp_base_name(found)) > 0))))
            continue;
        char *next = smp_asprintf("%.*s%s", (int)(wanted - path), path, name);
        if (!next)
            break;
        smp_free(found);
        found = next;
        best = near;
    }
    if (dir)
        closedir(dir);
    smp_free(folder);
    return found;
}

static char looked_for[LINE], nearest[LINE]; /* by smp_cli_look_near */

void smp_cli_look_near(const char *path)
{
    looked_for[0] = '\0';
    if (!strcmp(path, "-") || is_there(path) || strlen(path) >= LINE)
        return;
    char *found = near_file(path);
    snprintf(looked_for, sizeof looked_for, "%s", path);
    snprintf(nearest, sizeof nearest, "%s", found && strlen(found) < LINE ? found : "");
    smp_free(found);
}

void smp_cli_suggest_file(smp_error *err)
{
    static const char check[] = "check the "; /* so the hints begin that this one stands in for */
    if (err->code != SMP_E_READ || !err->where[0] || strncmp(err->hint, check, sizeof check - 1) != 0 ||
        is_there(err->where))
        return;
    const char *path = err->where;
    const smp_stage *stage = smp_stage_find(path, strcspn(path, " \t"));
    if (strcmp(path, looked_for) != 0)
        smp_cli_look_near(path);
    char target[LINE];
    const ssize_t length = readlink(path, target, sizeof target);
    if (length > 0)
        smp_hint(err, "it is a link, to '%.*s', which is not there", (int)length, target);
    else if (strpbrk(path, "*?"))
        smp_hint(err, "patterns are for the shell, which has nothing that fits, or sees quotes round this one");
    else if (!strcmp(path, looked_for) && nearest[0])
        smp_hint(err, "did you mean '%s'?", nearest);
    else if (stage && !smp_stage_is(stage, SMP_TRAIT_INTERNAL))
        smp_hint(err, "'%.40s' is a stage: write -e '%.80s'", stage->name,
                 strchr(path, ' ') || !stage->example ? path : stage->example);
}
