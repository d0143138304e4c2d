/* Options of the commands that write pictures and sounds: what is in the files besides the samples, and how they are
 * packed. */
#include <stdio.h>
#include <string.h>

#include "cli/outputs.h"

static const char *const sample_words[] = {"keep", "8", "16", "24", "32", "float", "double", NULL};

#define FIELD(name) offsetof(smp_plan_settings, write.name)
const smp_option smp_write_option_rows[] = {
    {"strip", 0, SMP_O_FLAG, FIELD(strip), .help = "write no metadata"},
    {"png-level", 0, SMP_O_INT, FIELD(png_level), .fallback = "-1", .argument = "N", .min = 0, .max = 9,
     .help = "PNG compression: 0 is fast, 9 small and slow; 1 unless said", .flags = SMP_O_SILENT},
    {"jpeg-quality", 0, SMP_O_INT, FIELD(jpeg_quality), .fallback = "0", .argument = "N", .min = 1, .max = 100,
     .help = "JPEG quality, 1 to 100", .flags = SMP_O_SILENT},
    {"samples", 0, SMP_O_CHOICE, FIELD(samples), .fallback = "keep", .argument = "KIND", .choices = sample_words,
     .help = "kind of sample in sounds that are written: bits of PCM, float or double; keep: as in the input"},
    {0},
};
#undef FIELD

void smp_cli_write_options(const smp_plan_settings *settings, smp_write_options *options)
{
    static const int types[] = {SMP_SOUND_NONE, SMP_SOUND_U8,  SMP_SOUND_S16, SMP_SOUND_S24,
                                SMP_SOUND_S32,  SMP_SOUND_F32, SMP_SOUND_F64};
    const smp_write_settings *from = &settings->write;
    options->force = settings->base.common.force;
    options->strip = from->strip;
    options->sound_type = types[from->samples];
    if (from->png_level >= 0)
        options->png_level = (int)from->png_level;
    if (from->jpeg_quality > 0)
        options->jpeg_quality = (int)from->jpeg_quality;
    if (from->format)
        options->format = from->format + (from->format[0] == '.');
}

smp_code smp_cli_check_extension(const char *option, const char *extension, smp_error *err)
{
    smp_error why = {.code = SMP_OK};
    const char *bare = extension + (extension[0] == '.');
    if (smp_writer_extension(bare, NULL, &why) == SMP_OK)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "--%s takes an extension of files that can be written, not '%.40s'", option, extension);
    return smp_hint(err, "%s", why.hint);
}
