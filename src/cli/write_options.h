/* Options about the files that are written: run, batch, convert and others have the same, made from the rows of the
 * formats (io/write_option.h). */
#pragma once

#include "cli/cli.h"
#include "cli/options.h"
#include "io/media.h"

typedef struct smp_write_settings {
    bool strip, untag;
    smp_strings tags; /* --tag key=value */
    const char *cover, *chapters;
    char **pairs;           /* of chapters: all tags, those of argv first; null: there are none */
    smp_meta_change change; /* what these ask for: smp_cli_take_tags */
    union smp_write_field {
        bool flag;
        int64_t number;
        int choice;
    } fields[SMP_WRITE_OPTIONS]; /* in the order of smp_write_option_at */
} smp_write_settings;

/* Rows for smp_write_settings that begin at this place of a command's settings. */
const smp_option *smp_cli_write_rows(size_t at);

/* For smp_command.groups: the options of the smp_write_settings that is this field of the settings. */
#define SMP_WRITE_GROUP(type, field)                                                                                   \
    {                                                                                                                  \
        .title = "options for the files that are written", .make = smp_cli_write_rows, .at = offsetof(type, field)     \
    }

/* --format and --to: an extension of files that can be written, with or without its dot. */
smp_code smp_cli_check_extension(const char *option, const char *extension, smp_error *err);

/* Fails: an option that says a format stands beside a file, whose name does. is_for, instead: in words, what else the
 * option is for, and how that is written. extension: what the option says. */
smp_code smp_cli_refuse_format(const char *option, const char *is_for, const char *instead, const char *out,
                               const char *extension, smp_error *err);

/* Whether --NAME is one of these options. */
bool smp_cli_is_write_option(const char *name);

/* Warns of those that are given and are neither for the output, of a name or as --format and --to say (null: by its
 * name), nor for a file that the pipeline (may be null) saves. */
void smp_cli_idle_options(const smp_common *common, const smp_write_settings *settings, const char *output,
                          const char *as, const smp_program *program);

/* Reads what --tag, --untag, --cover and --chapters ask for, for every command that has them, before it runs; and
 * frees it. */
smp_code smp_cli_take_tags(const smp_command *command, void *settings, smp_error *err);
void smp_cli_free_tags(const smp_command *command, void *settings);

/* Takes them over into what writers are asked for. */
void smp_cli_write_options(const smp_write_settings *settings, smp_write_options *options);
