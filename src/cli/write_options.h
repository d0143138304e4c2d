/* Options about the files that are written: run, batch and convert have the same. Settings of a command with these rows
 * have a field `write` of this type. */
#ifndef SMP_CLI_WRITE_OPTIONS_H
#define SMP_CLI_WRITE_OPTIONS_H

#include "cli/options.h"
#include "io/media.h"

typedef struct smp_write_settings {
    bool strip;
    int64_t png_level, quality, jpeg_quality;
    bool lossless;
    int tiff_compression; /* an index into the words */
    int samples;
} smp_write_settings;

extern const char *const smp_cli_tiff_words[];
extern const char *const smp_cli_sample_words[];

#define SMP_WRITE_ROWS(settings)                                                                                       \
    {"strip", 0, SMP_O_FLAG, offsetof(settings, write.strip), .help = "write no metadata"},                            \
        {"png-level",                                                                                                  \
         0,                                                                                                            \
         SMP_O_INT,                                                                                                    \
         offsetof(settings, write.png_level),                                                                          \
         .fallback = "-1",                                                                                             \
         .argument = "N",                                                                                              \
         .min = 0,                                                                                                     \
         .max = 9,                                                                                                     \
         .help = "PNG compression: 0 is fast, 9 small and slow; 1 unless said",                                        \
         .flags = SMP_O_SILENT},                                                                                       \
        {"quality",                                                                                                    \
         0,                                                                                                            \
         SMP_O_INT,                                                                                                    \
         offsetof(settings, write.quality),                                                                            \
         .fallback = "0",                                                                                              \
         .argument = "N",                                                                                              \
         .min = 1,                                                                                                     \
         .max = 100,                                                                                                   \
         .help = "quality of formats that lose some, 1 to 100",                                                        \
         .flags = SMP_O_SILENT},                                                                                       \
        {"lossless", 0, SMP_O_FLAG, offsetof(settings, write.lossless), .help = "write a WebP without loss"},          \
        {"jpeg-quality",  0,        SMP_O_INT,  offsetof(settings, write.jpeg_quality), .fallback = "0",               \
         .argument = "N", .min = 1, .max = 100, .help = "the same for JPEG alone",      .flags = SMP_O_SILENT},        \
        {"tiff-compression",                                                                                           \
         0,                                                                                                            \
         SMP_O_CHOICE,                                                                                                 \
         offsetof(settings, write.tiff_compression),                                                                   \
         .fallback = "deflate",                                                                                        \
         .argument = "KIND",                                                                                           \
         .choices = smp_cli_tiff_words,                                                                                \
         .help = "compression of TIFFs: deflate, lzw or none"},                                                        \
    {                                                                                                                  \
        "samples", 0, SMP_O_CHOICE, offsetof(settings, write.samples),                                                 \
            .fallback = "keep", .argument = "KIND", .choices = smp_cli_sample_words,                                   \
            .help = "kind of sample in sounds that are written: bits of PCM, float or double; keep: as in the input"   \
    }

/* --format and --to: an extension of files that can be written, with or without its dot. */
smp_code smp_cli_check_extension(const char *option, const char *extension, smp_error *err);

/* Takes them over into what writers are asked for. */
void smp_cli_write_options(const smp_write_settings *settings, smp_write_options *options);

#endif
