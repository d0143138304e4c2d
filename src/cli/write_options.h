/* Options about the files that are written: run, batch and convert have the same, from the rows in
 * write_option_list.def. */
#ifndef SMP_CLI_WRITE_OPTIONS_H
#define SMP_CLI_WRITE_OPTIONS_H

#include "cli/cli.h"
#include "cli/options.h"
#include "io/media.h"

typedef struct smp_write_settings {
    bool strip;
    int64_t png_level, png_bits, quality, jpeg_quality, bitrate;
    bool lossless, png_palette;
    int jpeg_sampling, jpeg_progressive; /* indices into the words */
    int64_t tiff_tile;
    int tiff_compression; /* an index into the words */
    int samples, layout;  /* indices into the words */
} smp_write_settings;

extern const char *const smp_cli_tiff_words[];
extern const char *const smp_cli_sampling_words[];
extern const char *const smp_cli_scan_words[];
extern const char *const smp_cli_sample_words[];
extern const char *const smp_cli_layout_words[];

/* --format and --to: an extension of files that can be written, with or without its dot. */
smp_code smp_cli_check_extension(const char *option, const char *extension, smp_error *err);

/* Fails: an option that says a format stands beside a file, whose name does. is_for, instead: in words, what else the
 * option is for, and how that is written. extension: what the option says. */
smp_code smp_cli_refuse_format(const char *option, const char *is_for, const char *instead, const char *out,
                               const char *extension, smp_error *err);

/* Whether --NAME is one of these options. */
bool smp_cli_is_write_option(const char *name);

/* Warns of those that are given and are neither for the output, of a name or as --format and --to say (null: by its
 * name), nor for a file that the pipeline saves. */
void smp_cli_idle_options(const smp_common *common, const smp_write_settings *settings, const char *output,
                          const char *as, const smp_program *program);

/* Takes them over into what writers are asked for. */
void smp_cli_write_options(const smp_write_settings *settings, smp_write_options *options);

#endif
