/* The pipelines and lessons that come with the program: found by name, wherever it was installed or built. */
#pragma once

#include "base/error.h"
#include "cli/options.h"

/* Their names without ".pipe", sorted, each once; none when no folder of them is found. */
typedef struct smp_shipped {
    char **names;
    size_t count, capacity;
} smp_shipped;

smp_code smp_shipped_list(smp_shipped *shipped, smp_error *err);
void smp_shipped_free(smp_shipped *shipped);

/* The file of the pipeline called `name`, with or without ".pipe"; from smp_alloc, null when there is none (or no
 * memory). Looked for beside the program's folder (../share/smempipe/pipelines), where it was configured to be
 * installed, and, for a program in its build folder, in the sources. */
char *smp_shipped_find(const char *name);

bool smp_is_shipped(const char *name);

/* The folder of the lessons of `smempipe learn`, sought likewise (course; docs/course in the sources); from smp_alloc,
 * null when there is none. */
char *smp_shipped_course(void);

/* Whether the command writes pictures or sounds. */
bool smp_cli_writes_files(const smp_command *command);

/* Returns the argument that is the command's pipeline, by its table; null: none, or it takes none. */
const char *smp_cli_pipe_argument(const smp_command *command, const void *settings);

/* Refuses a picture, a sound or a stage where a pipeline belongs. SMP_OK for everything else, also for files that do
 * not exist. For smp_argument_row.refuse. */
smp_code smp_shipped_refuse(const smp_command *command, const smp_strings *words, size_t at, smp_error *err);
