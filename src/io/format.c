/* The registry of formats: which one a file is in, by its first bytes. */
#include "io/format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/bytes.h"

static const smp_file_format *const formats[] = {
#define F(symbol) &symbol,
#include "io/format_list.def"
#undef F
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* Formats that users often try and that are not read, so that the message can name them. */
static const struct {
    size_t offset, length;
    const char *magic, *name;
} foreign[] = {
    {0, 4, "GIF8", "a GIF"},
    {8, 4, "WEBP", "a WebP picture"},
    {0, 4, "II*\0", "a TIFF (or a camera's raw file)"},
    {0, 4, "MM\0*", "a TIFF"},
    {4, 8, "ftypheic", "a HEIC"},
    {4, 8, "ftypavif", "an AVIF"},
    {4, 7, "ftypM4A", "an M4A sound"},
    {4, 4, "ftyp", "a video or HEIF"},
    {0, 4, "PK\3\4", "a zip archive (or .npz)"},
    {0, 4, "OggS", "an Ogg file without sound that is known here"},
    {0, 2, "\xFF\xF1", "an AAC sound"},
    {0, 2, "\xFF\xF9", "an AAC sound"},
    {0, 2, "\x1F\x8B", "a gzip file"},
};

const smp_file_format *smp_format_at(size_t index)
{
    return index < FORMATS ? formats[index] : NULL;
}

const char *smp_format_extension(const smp_file_format *format, const char *extension)
{
    for (const char *const *e = format->extensions; *e; e++)
        if (!strcasecmp(extension, *e))
            return *e;
    return NULL;
}

const smp_file_format *smp_format_sniff(const uint8_t *head, size_t size)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->sniff && formats[i]->sniff(head, size < SMP_SNIFF ? size : SMP_SNIFF))
            return formats[i];
    return NULL;
}

const smp_file_format *smp_format_of(const smp_source *source, const uint8_t *head, size_t size)
{
    const smp_file_format *format = smp_format_sniff(head, size),
                          *other = format && format->instead ? format->instead(source) : NULL;
    return other ? other : format;
}

uint64_t smp_id3_size(const uint8_t *head, size_t size)
{
    enum { HEADER = 10, FOOTER = 10, HAS_FOOTER = 0x10 };
    if (size < HEADER || memcmp(head, "ID3", 3) != 0 || ((head[6] | head[7] | head[8] | head[9]) & 0x80))
        return 0;
    return HEADER + (uint64_t)smp_get_syncsafe(head + 6) + (head[5] & HAS_FOOTER ? FOOTER : 0);
}

static const smp_file_format *format_with_id3(void)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->id3)
            return formats[i];
    return NULL;
}

static const smp_file_format *format_further_on(smp_source *source)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->find && formats[i]->find(source))
            return formats[i];
    return NULL;
}

/* Null: it begins like none of them. */
static const char *foreign_name(smp_source *source)
{
    const uint8_t *head;
    const size_t size = smp_source_peek(source, &head, SMP_SNIFF);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (size >= foreign[i].offset + foreign[i].length &&
            memcmp(head + foreign[i].offset, foreign[i].magic, foreign[i].length) == 0)
            return foreign[i].name;
    return NULL;
}

smp_code smp_format_find(smp_source *source, const smp_file_format **format, uint64_t *id3, smp_error *err)
{
    const uint8_t *head;
    *id3 = 0;
    *format = NULL;
    for (int i = 0; i <= SMP_MOST_ID3; i++) {
        size_t size = smp_source_peek(source, &head, SMP_SNIFF);
        if (!size || source->failed || source->over_limit)
            return *id3 && !source->failed && !source->over_limit ? SMP_OK : smp_source_ended(source, err);
        *format = smp_format_of(source, head, size);
        if (*format && *id3 && (*format)->kind != SMP_AUDIO)
            *format = NULL;
        const uint64_t tag = *format ? 0 : smp_id3_size(head, size);
        if (!tag)
            break;
        SMP_TRY(smp_source_spool(source, err)); /* so that a format can go back to the tags */
        if (!smp_source_begin(source, tag))
            break;
        *id3 += tag;
    }
    if (*id3 && !*format)
        *format = format_with_id3();
    if (!*format && !foreign_name(source))
        *format = format_further_on(source);
    if (*id3 && *format && (*format)->id3 && !smp_source_begin_earlier(source, *id3))
        return smp_fail(err, SMP_E_READ, "cannot go back to the beginning");
    return SMP_OK;
}

smp_code smp_format_unknown(smp_source *source, smp_error *err)
{
    const char *what = foreign_name(source);
    if (what)
        smp_fail(err, SMP_E_DECODE, "the file is %s, which is not supported", what);
    else
        smp_fail(err, SMP_E_DECODE, "the file is in no known format");
    return smp_hint(err, "'smempipe help formats' has all formats read, whatever its name; --raw s16lex2:44100 reads "
                         "samples without a header");
}
