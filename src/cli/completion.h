/* What shells complete, read off the commands' tables; completion_bash.c, _zsh.c and _fish.c write it down for each. */
#ifndef SMP_CLI_COMPLETION_H
#define SMP_CLI_COMPLETION_H

#include "cli/cli.h"

/* What a value or an argument is, by what help calls it: OPTION --svg FILE, argument P.pipe. */
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

/* Words with blanks between, from smp_alloc; null without memory. For values: choices, stages, devices, variants; for
 * arguments: stages, topics, shells. */
char *smp_option_words(const smp_option *option);
char *smp_argument_words(const smp_argument_row *row);

/* "png jpg jpeg ...": what media files are called. From smp_alloc. */
char *smp_media_extensions(void);

/* Does the option take the next word? (A flag and one with an optional value do not.) */
bool smp_option_takes_word(const smp_option *option);

/* Text for between single quotes of a shell; the characters of `also` get a backslash. */
void smp_put_quoted(FILE *to, const char *text, const char *also);

smp_code smp_completion_bash(FILE *to, smp_error *err);
smp_code smp_completion_zsh(FILE *to, smp_error *err);
smp_code smp_completion_fish(FILE *to, smp_error *err);

#endif
