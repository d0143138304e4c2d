/* Metadata in texts of a PNG: "Raw profile type exif", APP1, iptc, 8bim and xmp hold a name, a size and hexadecimal
 * digits. ImageMagick, exiv2 and exiftool write them so. Source: ImageMagick, coders/png.c. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/png/png_glue.h"

#define RAW      "Raw profile type "
#define JPEG_XMP "http://ns.adobe.com/xap/1.0/" /* with its end: in front of XMP in APP1 */
#define BLANK    " \t\r\n"

static int digit(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char lower = letter >= 'A' && letter <= 'F' ? (char)(letter - 'A' + 'a') : letter;
    const char *at = lower ? strchr(digits, lower) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes the digits in place: what they say is shorter. False: they are damaged, or not as many as is said. */
static bool decode(char *text, uint8_t **data, size_t *size)
{
    char *at = text + strspn(text, BLANK), *end;
    at += strcspn(at, "\r\n"); /* a name may have blanks in it: "IPTC profile" */
    const unsigned long long said = strtoull(at, &end, 10);
    if (end == at)
        return false;
    uint8_t *to = *data = (uint8_t *)text;
    for (at = end + strspn(end, BLANK); *at; at += strspn(at, BLANK)) {
        const int high = digit(at[0]), low = high < 0 ? -1 : digit(at[1]);
        if (low < 0)
            return false;
        *to++ = (uint8_t)(high << 4 | low);
        at += 2;
    }
    *size = (size_t)(to - *data);
    return *size == said;
}

static bool has_xmp(const smp_meta *meta)
{
    for (size_t i = 0; i < meta->text_count; i++)
        if (strcmp(meta->texts[i].key, SMP_XMP_KEY) == 0)
            return true;
    return false;
}

/* Keeps what a text says where no chunk of its own says it. False: out of memory. */
static bool keep(smp_reader *reader, const char *type, uint8_t *data, size_t size)
{
    smp_meta *meta = &reader->media.meta;
    const size_t xmp = sizeof JPEG_XMP;
    smp_source source;
    smp_source_memory(&source, data, size);
    const bool in_jpeg = size > xmp && memcmp(data, JPEG_XMP, xmp) == 0;
    if (in_jpeg || strcasecmp(type, "xmp") == 0)
        return has_xmp(meta) ||
               smp_meta_add_text(meta, SMP_XMP_KEY, (char *)data + (in_jpeg ? xmp : 0), size - (in_jpeg ? xmp : 0));
    if (!strcasecmp(type, "iptc") || !strcasecmp(type, "8bim")) {
        if (size >= 4 && memcmp(data, "8BIM", 4) == 0)
            return smp_meta_take_resources(meta, &source, 0, size, &reader->notes);
        return meta->iptc.size || smp_blob_set(&meta->iptc, data, size);
    }
    const size_t prefix = size > 6 && memcmp(data, "Exif\0", 6) == 0 ? 6 : 0;
    if (meta->exif.size || size <= prefix)
        return true;
    reader->media.orientation = smp_exif_orientation(data + prefix, size - prefix);
    return smp_blob_set(&meta->exif, data + prefix, size - prefix);
}

/* What type of metadata a text holds; null: it is another text. */
static const char *type_of(const char *key)
{
    static const char *const types[] = {"exif", "app1", "iptc", "8bim", "xmp"};
    const size_t begin = sizeof RAW - 1;
    for (size_t i = 0; strncasecmp(key, RAW, begin) == 0 && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(key + begin, types[i]) == 0)
            return types[i];
    return NULL;
}

smp_code smp_png_read_raw(smp_reader *reader, smp_error *err)
{
    smp_meta *meta = &reader->media.meta;
    const size_t count = meta->text_count;
    size_t kept = 0;
    bool done = true;
    for (size_t i = 0; i < count; i++) {
        struct smp_text text = meta->texts[i];
        const char *type = type_of(text.key);
        uint8_t *data;
        size_t size;
        if (!type) {
            meta->texts[i] = meta->texts[kept];
            meta->texts[kept++] = text;
            continue;
        }
        if (!decode(text.value, &data, &size))
            smp_note(&reader->notes, "the text '%.40s' is damaged and is left out", text.key);
        else
            done = done && keep(reader, type, data, size);
    }
    /* These texts lie between the others and XMP that came from them now. */
    for (size_t i = kept; i < count; i++)
        smp_free_all(meta->texts[i].key, meta->texts[i].value);
    if (count > kept)
        memmove(meta->texts + kept, meta->texts + count, (meta->text_count - count) * sizeof *meta->texts);
    meta->text_count -= count - kept;
    if (meta->exif.size) /* ImageMagick says again what it read there, and when: as it was then */
        (void)(smp_meta_drop_texts(meta, "exif:") + smp_meta_drop_texts(meta, "date:"));
    if (meta->icc.size)
        (void)smp_meta_drop_texts(meta, "icc:");
    return done ? SMP_OK : smp_fail_memory(err, "metadata", sizeof *meta);
}
