/* Options about the files that are written: see write_options.h. */
#include "cli/write_options.h"

#include <string.h>

const char *const smp_cli_tiff_words[] = {"deflate", "lzw", "none", "zstd", NULL};      /* as smp_tiff_compression */
const char *const smp_cli_sampling_words[] = {"auto", "4:4:4", "4:2:2", "4:2:0", NULL}; /* as smp_jpeg_sampling */
const char *const smp_cli_scan_words[] = {"auto", "on", "off", NULL};                   /* as smp_jpeg_scans */
const char *const smp_cli_sample_words[] = {"keep",   "8",    "16",    "24",  "32", "float",
                                            "double", "alaw", "mulaw", "f16", NULL};
const char *const smp_cli_layout_words[] = {"hwc", "chw", NULL};

bool smp_cli_is_write_option(const char *name)
{
    static const smp_option rows[] = {
#define WRITE(field) offsetof(smp_write_settings, field)
#include "cli/write_option_list.def"
#undef WRITE
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].name, name))
            return true;
    return false;
}

void smp_cli_write_options(const smp_write_settings *settings, smp_write_options *options)
{
    static const int types[] = {SMP_SOUND_NONE, SMP_SOUND_U8,  SMP_SOUND_S16,  SMP_SOUND_S24,  SMP_SOUND_S32,
                                SMP_SOUND_F32,  SMP_SOUND_F64, SMP_SOUND_ALAW, SMP_SOUND_ULAW, SMP_SOUND_NONE};
    options->strip = settings->strip;
    options->sound_type = types[settings->samples];
    options->half = !strcmp(smp_cli_sample_words[settings->samples], "f16");
    options->planes = settings->layout != 0;
    if (settings->png_level >= 0)
        options->png_level = (int)settings->png_level;
    options->png_bits = (int)settings->png_bits;
    options->png_palette = settings->png_palette;
    options->quality = (int)settings->quality;
    options->bitrate = (int)settings->bitrate;
    options->lossless = settings->lossless;
    options->fit_rate = true;
    options->jpeg_quality = (int)settings->jpeg_quality;
    options->jpeg_sampling = settings->jpeg_sampling;
    options->jpeg_progressive = settings->jpeg_progressive;
    options->tiff_compression = settings->tiff_compression;
    options->tiff_tile = (int)settings->tiff_tile;
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

smp_code smp_cli_refuse_format(const char *option, const char *is_for, const char *instead, const char *out,
                               const char *extension, smp_error *err)
{
    const char *slash = strrchr(out, '/');
    if (strchr(slash ? slash : out, '.')) {
        smp_fail(err, SMP_E_USAGE, "--%s is for %s: the name '%.200s' says its format", option, is_for, out);
        return smp_hint(err, "leave --%s out, or %s", option, instead);
    }
    smp_fail(err, SMP_E_USAGE, "--%s is for %s: a file's name says its format, and '%.200s' has no extension", option,
             is_for, out);
    return smp_hint(err, "write %.200s.%s without --%s, or %s", out, extension + (extension[0] == '.'), option,
                    instead);
}
