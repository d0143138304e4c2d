/* Options of files that are written: see write_option.h. */
#include "io/write_option.h"

#include <stdio.h>
#include <string.h>

#include "io/format.h"

const smp_write_option smp_write_quality = {
    .name = "quality",
    .type = SMP_WRITE_NUMBER,
    .min = 1,
    .max = 100,
    .argument = "N",
    .help = "quality of formats that lose some, 1 to 100; unless said a JPEG made of a JPEG has the input's, others "
            "and JPEG XL have 90, JPEG 2000 has no loss, WebP 80, AVIF 60, MP3 80, M4A 60 and OGG 40",
};

const smp_write_option smp_write_bitrate = {
    .name = "bitrate",
    .type = SMP_WRITE_NUMBER,
    .min = 1,
    .max = 2048,
    .argument = "KBIT",
    .help = "kbit/s of Opus, MP3 and M4A, all channels together; unless said 48 a channel, and others by --quality",
};

const smp_write_option smp_write_lossless = {
    .name = "lossless",
    .type = SMP_WRITE_FLAG,
    .help = "write a WebP, JPEG XL or JPEG 2000 without loss, and an M4A as ALAC",
    .flags = SMP_WRITE_KEPT,
};

const smp_write_option smp_write_delay = {
    .name = "delay",
    .type = SMP_WRITE_NUMBER,
    .min = 1,
    .max = 60000,
    .argument = "MS",
    .help = "milliseconds for which each picture of an animation is shown; unless said as long as in the input, or 100",
    .flags = SMP_WRITE_RARE,
};

const smp_write_option smp_write_loop = {
    .name = "loop",
    .type = SMP_WRITE_NUMBER,
    .min = 0,
    .max = 65535,
    .unset = -1,
    .argument = "N",
    .help = "how often an animation is shown, 0: for ever; unless said as often as the input, or for ever",
    .flags = SMP_WRITE_RARE,
};

static const char *const sample_words[] = {"keep",   "8",    "16",    "24",  "32", "float",
                                           "double", "alaw", "mulaw", "f16", NULL};

const smp_write_option smp_write_samples = {
    .name = "samples",
    .type = SMP_WRITE_CHOICE,
    .choices = sample_words,
    .argument = "KIND",
    .help = "kind of sample in sounds that are written: bits of PCM, float, double, and in WAV, W64 and CAF alaw or "
            "mulaw; f16: of NPY arrays of floats and OpenEXR; keep: as in the input",
    .flags = SMP_WRITE_SAID,
    .must = 1u << SMP_SAMPLES_HALF,
};

int smp_write_value(const smp_write_values *values, const smp_write_option *option)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i].option == option)
            return values->items[i].value;
    return option->unset;
}

void smp_write_set(smp_write_values *values, const smp_write_option *option, int value)
{
    size_t at = 0;
    while (at < values->count && values->items[at].option != option)
        at++;
    if (at == SMP_WRITE_OPTIONS)
        return;
    values->items[at].option = option;
    values->items[at].value = value;
    values->count += at == values->count;
}

static bool takes(const smp_file_format *format, const smp_write_option *option, int value)
{
    for (const smp_write_takes *row = format->write_shape ? format->takes : NULL; row && row->option; row++)
        if (row->option == option)
            return option->type != SMP_WRITE_CHOICE || !row->words || !value || (row->words >> value & 1);
    return false;
}

const smp_write_option *smp_write_option_at(size_t index)
{
    const smp_write_option *seen[SMP_WRITE_OPTIONS];
    size_t count = 0;
    const smp_file_format *format;
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        for (const smp_write_takes *row = format->takes; row && row->option; row++) {
            size_t at = 0;
            while (at < count && seen[at] != row->option)
                at++;
            if (at < count || count == SMP_WRITE_OPTIONS)
                continue;
            if (at == index)
                return row->option;
            seen[count++] = row->option;
        }
    return NULL;
}

smp_kind smp_write_option_kind(const smp_write_option *option)
{
    unsigned kind = SMP_KIND_NONE;
    const smp_file_format *format;
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        for (const smp_write_takes *row = format->takes; row && row->option; row++)
            kind |= row->option == option ? (unsigned)format->kind : 0;
    return (smp_kind)kind;
}

bool smp_write_taken(const char *file_format, const smp_write_option *option, int value)
{
    const smp_file_format *format;
    for (size_t i = 0; (format = smp_format_at(i)); i++)
        if (!strcmp(format->name, file_format) && takes(format, option, value))
            return true;
    return false;
}

bool smp_write_must(const smp_write_option *option, int value)
{
    return option->type == SMP_WRITE_CHOICE && (option->must >> value & 1);
}

void smp_write_takers(const smp_write_option *option, int value, char *text, size_t size)
{
    size_t used = 0;
    const smp_file_format *format;
    text[0] = '\0';
    for (size_t i = 0; (format = smp_format_at(i)) && used < size; i++)
        if (takes(format, option, value)) {
            const int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "", format->name);
            used += n > 0 ? (size_t)n : 0;
        }
}
