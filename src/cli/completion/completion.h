/* Completions of shells, from the commands' tables; completion_bash.c, _zsh.c and _fish.c write the scripts. */
#pragma once

#include "cli/cli.h"

/* Kind of a value or an argument, by its name in help: OPTION --svg FILE, argument P.pipe. */
typedef enum smp_completes {
    SMP_COMPLETES_NOTHING, /* a number, an expression: nothing to offer */
    SMP_COMPLETES_FILE,
    SMP_COMPLETES_FOLDER,
    SMP_COMPLETES_PIPE,  /* *.pipe */
    SMP_COMPLETES_MEDIA, /* files of formats that are read or written, and folders */
    SMP_COMPLETES_WORDS  /* smp_completion_words */
} smp_completes;

smp_completes smp_option_completes(const smp_option *option);
smp_completes smp_argument_completes(const smp_argument_row *row);

/* Syntax of a shell for completions. Words have blanks between them. */
typedef struct smp_completion_texts {
    const char *words[2]; /* before, behind */
    const char *media[3]; /* before the extensions, between two, behind */
    const char *pipe, *file, *folder, *nothing;
} smp_completion_texts;

/* Writes what may be an option's value (choices, stages, devices, variants), or an argument (stages, topics, shells).
 */
smp_code smp_put_values(FILE *to, const smp_completion_texts *texts, const smp_option *option, smp_error *err);
smp_code smp_put_arguments(FILE *to, const smp_completion_texts *texts, const smp_argument_row *row, smp_error *err);

/* Does the option take the next word? (A flag and one with an optional value do not.) */
bool smp_option_takes_word(const smp_option *option);

/* Text for between single quotes of a shell; the characters of `also` get a backslash. */
void smp_put_quoted(FILE *to, const char *text, const char *also);

smp_code smp_completion_bash(FILE *to, smp_error *err);
smp_code smp_completion_zsh(FILE *to, smp_error *err);
smp_code smp_completion_fish(FILE *to, smp_error *err);
