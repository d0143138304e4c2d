/* Finding the pipelines and lessons that come with the program: see shipped.h. */
#include "cli/shipped.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/order.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/mistakes.h"
#include "io/media.h"
#include "stages/stage.h"

enum { FOLDERS = 3 };

static const char suffix[] = ".pipe";

/* A folder of the sources. A build folder has a file of CMake's that names them. */
static char *source_folder(const char *build, const char *name)
{
    static const char key[] = "CMAKE_HOME_DIRECTORY:INTERNAL=";
    char line[PATH_MAX + sizeof key], *path = smp_asprintf("%s/CMakeCache.txt", build), *found = NULL;
    FILE *cache = path ? fopen(path, "re") : NULL;
    while (cache && !found && fgets(line, sizeof line, cache)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, key, sizeof key - 1))
            found = smp_asprintf("%s/%s", line + sizeof key - 1, name);
    }
    if (cache)
        fclose(cache);
    smp_free(path);
    return found;
}

/* The folders to look in, the nearest first; some may be null. */
static void find_folders(char *folders[FOLDERS])
{
    char own[PATH_MAX];
    smp_program_folder(own);
    folders[0] = own[0] ? smp_asprintf("%s/../share/smempipe/pipelines", own) : NULL;
    folders[1] = own[0] ? source_folder(own, "pipelines") : NULL;
#ifdef SMP_PIPELINES_DIR
    folders[2] = smp_strdup(SMP_PIPELINES_DIR);
#else
    folders[2] = NULL;
#endif
}

static void free_folders(char *folders[FOLDERS])
{
    for (int i = 0; i < FOLDERS; i++)
        smp_free(folders[i]);
}

char *smp_shipped_course(void)
{
    char own[PATH_MAX], *folders[FOLDERS] = {NULL}, *found = NULL;
    smp_program_folder(own);
    if (own[0]) {
        folders[0] = smp_asprintf("%s/../share/smempipe/course", own);
        folders[1] = source_folder(own, "docs/course");
    }
#ifdef SMP_PIPELINES_DIR
    folders[2] = smp_strdup(SMP_PIPELINES_DIR "/../course");
#endif
    for (int i = 0; i < FOLDERS && !found; i++)
        found = folders[i] && smp_is_folder(folders[i]) ? smp_real_path(folders[i]) : NULL;
    free_folders(folders);
    return found;
}

static bool is_pipe_name(const char *name)
{
    size_t length = strlen(name);
    return length >= sizeof suffix && name[0] != '.' && !strcmp(name + length - (sizeof suffix - 1), suffix);
}

char *smp_shipped_find(const char *name)
{
    char *folders[FOLDERS], *found = NULL;
    if (!name[0] || name[0] == '.' || strchr(name, '/'))
        return NULL;
    find_folders(folders);
    for (int i = 0; i < FOLDERS && !found; i++) {
        found = folders[i] ? smp_asprintf("%s/%s%s", folders[i], name, is_pipe_name(name) ? "" : suffix) : NULL;
        if (found && access(found, R_OK) != 0) {
            smp_free(found);
            found = NULL;
        }
    }
    free_folders(folders);
    return found;
}

bool smp_is_shipped(const char *name)
{
    char *path = smp_shipped_find(name);
    bool found = path != NULL;
    smp_free(path);
    return found;
}

/* ------------------------------------------------------------------------------------------------ all of them */

static smp_code add_name(smp_shipped *shipped, const char *file, smp_error *err)
{
    size_t length = strlen(file) - (sizeof suffix - 1);
    for (size_t i = 0; i < shipped->count; i++)
        if (strlen(shipped->names[i]) == length && !strncmp(shipped->names[i], file, length))
            return SMP_OK;
    char *name = smp_strndup(file, length);
    if (!name || !smp_grow(&shipped->names, &shipped->capacity, shipped->count + 1, sizeof *shipped->names)) {
        smp_free(name);
        return smp_fail_memory(err, "names of pipelines", shipped->count * sizeof *shipped->names);
    }
    shipped->names[shipped->count++] = name;
    return SMP_OK;
}

smp_code smp_shipped_list(smp_shipped *shipped, smp_error *err)
{
    char *folders[FOLDERS];
    smp_code code = SMP_OK;
    *shipped = (smp_shipped){0};
    find_folders(folders);
    for (int i = 0; i < FOLDERS; i++) {
        DIR *dir = folders[i] ? opendir(folders[i]) : NULL;
        for (struct dirent *entry; dir && !code && (entry = readdir(dir));)
            if (is_pipe_name(entry->d_name))
                code = add_name(shipped, entry->d_name, err);
        if (dir)
            closedir(dir);
    }
    free_folders(folders);
    if (shipped->count)
        qsort(shipped->names, shipped->count, sizeof *shipped->names, smp_by_text);
    return code;
}

void smp_shipped_free(smp_shipped *shipped)
{
    for (size_t i = 0; i < shipped->count; i++)
        smp_free(shipped->names[i]);
    smp_free(shipped->names);
    *shipped = (smp_shipped){0};
}

/* ------------------------------------------------------------------------------------------------ mistaken for one */

/* An example of a stage for files of this kind: the first that is a filter, or else any. */
/* measures: of a stage that finds something. */
static const char *example_for(smp_kind kind, bool measures)
{
    const char *any = "STAGE";
    for (size_t i = smp_stage_count(); i-- > 0;) {
        const smp_stage *stage = smp_stage_at(i);
        if (!smp_stage_is(stage, SMP_TRAIT_INTERNAL) && stage->example && (stage->domain & kind) &&
            (measures            ? stage->access == SMP_REDUCE && stage->domain == SMP_BOTH
             : kind == SMP_AUDIO ? stage->domain == SMP_AUDIO
                                 : smp_help_is_filter(stage)))
            any = stage->example;
    }
    return any;
}

const char *smp_cli_pipe_argument(const smp_command *command, const void *settings)
{
    for (const smp_argument_row *row = command->arguments; row && row->name; row++)
        if (!strcmp(row->name, "P.pipe") && !row->many)
            return *(const char *const *)(const void *)((const char *)settings + row->offset);
    return NULL;
}

bool smp_cli_writes_files(const smp_command *command)
{
    const smp_option *row;
    for (size_t i = 0; (row = smp_command_option(command, i)); i++)
        if (!strcmp(row->name, "strip"))
            return true;
    return false;
}

/* Reports a missing pipeline; perhaps none is wanted. alone: `rest` is one word. */
static smp_code fail_no_pipeline(const smp_command *command, const char *rest, bool alone, smp_kind kind,
                                 smp_error *err)
{
    const char *output = command->one_input ? "" : " -o DIR"; /* of commands that write */
    if (smp_cli_writes_files(command)) {
        if (command->one_input && alone)
            output = " OUT";
        return smp_hint(err, "write smempipe convert%s%s, or with a stage smempipe %s -e '%s'%s%s", rest, output,
                        command->name, example_for(kind, false), rest, output);
    }
    return smp_hint(err, "write smempipe %s P.pipe%s, or smempipe %s -e '%s'%s", command->name, rest, command->name,
                    example_for(kind, command->shares), rest); /* that is measure */
}

static const char *kind_words(bool folder, smp_kind kind)
{
    return folder ? "folder" : kind == SMP_AUDIO ? "sound by its name" : "picture by its name";
}

/* The number of a pipeline behind the word that stands in its place; 0: there is none. */
static size_t pipe_behind(const smp_strings *words, size_t at)
{
    for (size_t i = at + 1; i < words->count; i++)
        if (is_pipe_name(words->items[i]) || (smp_is_shipped(words->items[i]) && access(words->items[i], F_OK) != 0))
            return i;
    return 0;
}

/* Whether `compare` is given two files, and no pipeline. */
static bool is_comparison(const smp_command *command, const smp_strings *words, size_t at)
{
    return !strcmp(command->name, "compare") && words->count - at == 2 &&
           smp_name_kind(words->items[at]) != SMP_KIND_NONE && smp_name_kind(words->items[at + 1]) != SMP_KIND_NONE;
}

smp_code smp_shipped_refuse(const smp_command *command, const smp_strings *words, size_t at, smp_error *err)
{
    const char *word = words->items[at];
    const bool folder = smp_is_folder(word) && !smp_is_shipped(word);
    smp_kind kind = folder ? SMP_IMAGE : strcmp(word, "-") ? smp_writer_kind(word) : SMP_KIND_NONE;
    const smp_stage *stage = smp_stage_find(word, strcspn(word, " \t"));
    char rest[200];
    if (kind != SMP_KIND_NONE) {
        const size_t pipe = pipe_behind(words, at);
        if (pipe) {
            smp_cli_words(rest, sizeof rest, (char *const *)(uintptr_t)(words->items + at), (int)(pipe - at));
            const size_t used = strlen(rest);
            smp_cli_words(rest + used, sizeof rest - used, (char *const *)(uintptr_t)(words->items + pipe + 1),
                          (int)(words->count - pipe - 1));
            smp_fail(err, SMP_E_USAGE, "the pipeline comes first, and '%.200s' is a %s", word,
                     kind_words(folder, kind));
            return smp_hint(err, "write smempipe %s %s%s%s", command->name, words->items[pipe], rest,
                            command->one_input || !smp_cli_writes_files(command) ? "" : " -o DIR");
        }
        smp_cli_words(rest, sizeof rest, (char *const *)(uintptr_t)(words->items + at), (int)(words->count - at));
        smp_fail(err, SMP_E_USAGE, "the pipeline is missing: '%s' is a %s", word, kind_words(folder, kind));
        if (is_comparison(command, words, at)) /* of two files, as other programs have it */
            return smp_hint(err, "to compare two files: smempipe diff%s; %s times the kernels of a pipeline", rest,
                            command->name);
        return fail_no_pipeline(command, rest, words->count - at == 1, kind, err);
    }
    if (!stage || smp_stage_is(stage, SMP_TRAIT_INTERNAL) || access(word, F_OK) == 0 || smp_is_shipped(word))
        return SMP_OK;
    char statement[200];
    int values = (int)(words->count - at - 1);
    char *const *behind = (char *const *)(uintptr_t)(words->items + at + 1);
    smp_cli_statement(statement, sizeof statement, word, stage->example, behind, &values);
    smp_cli_words(rest, sizeof rest, behind + values, (int)(words->count - at - 1) - values);
    smp_fail(err, SMP_E_USAGE, "'%s' is a stage, not a pipeline", word);
    return smp_hint(err, "write smempipe %s -e '%s'%s", command->name, statement, rest);
}
