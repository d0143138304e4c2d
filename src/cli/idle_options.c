/* Options about files that are written, given where no file is of a format that they are for: each is named in a
 * warning, since who gave it expects something of it. */
#include <stdio.h>
#include <string.h>

#include "cli/write_options.h"

/* Whether a list of names, with commas between them, has this one. */
static bool lists(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

void smp_cli_idle_options(const smp_common *common, const smp_write_settings *s, const char *output, const char *as,
                          const smp_program *program)
{
    enum { MOST_FORMATS = 16 };
    const char *formats[MOST_FORMATS] = {smp_writer_format(output, as ? as + (as[0] == '.') : NULL)};
    size_t count = 1;
    for (size_t i = 0; i < program->save_count && count < MOST_FORMATS; i++)
        if ((formats[count] = smp_writer_format(program->saves[i].path, NULL)))
            count++;
    if (!formats[0]) /* not known before the input is */
        return;
    const char *word = s->samples > 0 ? smp_cli_sample_words[s->samples] : "f16";
    const bool law = strstr(word, "law") != NULL, real = !strcmp(word, "float") || !strcmp(word, "double");
    const struct {
        const char *name;
        bool given;
        const char *formats; /* that it is for, as smp_writer_format calls them */
    } all[] = {
        {"png-level", s->png_level >= 0, "PNG"},
        {"png-bits", s->png_bits > 0, "PNG"},
        {"png-palette", s->png_palette, "PNG"},
        {"quality", s->quality > 0, "JPEG, WebP, AVIF, MP3, OGG"},
        {"bitrate", s->bitrate > 0, "Opus, MP3, OGG"}, /* OGG refuses it */
        {"jpeg-quality", s->jpeg_quality > 0, "JPEG"},
        {"jpeg-subsampling", s->jpeg_sampling > 0, "JPEG"},
        {"jpeg-progressive", s->jpeg_progressive > 0, "JPEG"},
        {"tiff-compression", s->tiff_compression > 0, "TIFF"},
        {"samples alaw and mulaw", law, "WAV, W64, CAF"},
        {"samples float and double", real, "WAV, W64, AIFF, CAF, RAW"},
        {"samples", !law && !real && strcmp(word, "f16") != 0, "WAV, W64, AIFF, CAF, FLAC, RAW"},
    };
    if (s->lossless && s->quality > 0 && !strcmp(formats[0], "WebP"))
        smp_cli_warning(common, "--quality does nothing: a WebP without loss (--lossless) has none");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bool taken = !all[i].given;
        for (size_t k = 0; k < count && !taken; k++)
            taken = lists(all[i].formats, formats[k]);
        if (!taken)
            smp_cli_warning(common, "--%s does nothing: it is for %s, and a %s is written", all[i].name, all[i].formats,
                            formats[0]);
    }
}
