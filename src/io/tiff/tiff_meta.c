/* Metadata of TIFFs: see tiff_meta.h. EXIF is a TIFF directory of its own, whose entries point into the file: they are
 * copied, with their values, into a block that stands alone. */
#include "io/tiff/tiff_glue.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "io/audio/tags.h"
#include "io/bytes.h"

/* Bytes of an entry, and of all of the first directory: EXIF must fit a marker of a JPEG. */
enum { KEPT_ENTRY = 8192, KEPT_ENTRIES = 4 * KEPT_ENTRY, OF_ENTRY = 12 /* bytes, beside its values */ };

static const struct {
    uint32_t tag;
    const char *key; /* PNG's */
} texts[] = {
    {TIFF_TITLE, "Title"},   {TIFF_DESCRIPTION, "Description"}, {TIFF_SOFTWARE, "Software"},
    {TIFF_ARTIST, "Author"}, {TIFF_COPYRIGHT, "Copyright"},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

typedef uint16_t range[2];

/* Entries of a first directory that say where samples lie and what they mean, or stand for what is kept apart from
 * EXIF; 34377 and 37724 are resources and layers of Photoshop, from 50706 on DNG's. */
static const range of_file[] = {{254, 268},     {273, 274},     {277, 284},     {288, 301},
                                {317, 347},     {512, 532},     {700, 700},     {33723, 33723},
                                {34377, 34377}, {34665, 34665}, {34675, 34675}, {34853, 34853},
                                {37724, 37724}, {50706, 50834}, {50879, 52600}, {59932, 59933}};

/* Those that mean the same in EXIF. Others may hold places in the file, or places on Earth of its pixels. */
static const range of_exif[] = {{1, 32767},     {33432, 33437}, {34850, 34869},
                                {36864, 42111}, {42240, 42240}, {50341, 50341}};

#define IS(tag, ranges) is_in(tag, ranges, sizeof(ranges) / sizeof *(ranges))

static bool is_in(uint32_t tag, const range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tag >= ranges[i][0] && tag <= ranges[i][1])
            return true;
    return false;
}

/* The bytes of an entry, if there is one. False: out of memory. */
static bool keep_blob(const smp_tiff *tiff, uint32_t tag, const char *what, smp_blob *blob, smp_reader *reader)
{
    const smp_tiff_entry *entry = smp_tiff_find(tiff, tag);
    return !entry || smp_meta_read(tiff->source, what, entry->at, entry->size, blob, &reader->notes);
}

static bool keep_text(const smp_tiff *tiff, uint32_t tag, const char *key, smp_reader *reader)
{
    smp_blob text = {0};
    bool done = keep_blob(tiff, tag, key, &text, reader);
    while (text.size && !text.data[text.size - 1])
        text.size--;
    if (text.size)
        done = smp_meta_add_text(&reader->media.meta, key, (const char *)text.data, text.size);
    smp_free(text.data);
    return done;
}

static void keep_resolution(const smp_tiff *tiff, smp_meta *meta)
{
    const double x = smp_tiff_rational(tiff, TIFF_X_RESOLUTION, 0), y = smp_tiff_rational(tiff, TIFF_Y_RESOLUTION, 0);
    uint64_t unit = 2;
    (void)smp_tiff_value(tiff, smp_tiff_find(tiff, TIFF_UNIT), 0, &unit);
    if (!(x > 0) || !(y > 0) || (unit == 1 && x == y))
        return;
    const double scale = unit == 2 ? 1 / 0.0254 : unit == 3 ? 100 : 1;
    meta->x_density = x * scale;
    meta->y_density = y * scale;
    meta->density_is_aspect = unit != 2 && unit != 3;
}

/* "II*\0" and the directories. */
static bool join_exif(smp_tiff_tags *folders, smp_blob *out)
{
    enum { HEADER = 8 };
    const uint64_t size = smp_tiff_folders_link(folders, false);
    if (!size || !(out->data = smp_alloc(HEADER + (size_t)size)))
        return false;
    out->size = HEADER + (size_t)size;
    memcpy(out->data, "II*\0\10\0\0\0", HEADER);
    smp_tiff_folders_put(folders, false, HEADER, size, out->data + HEADER);
    return true;
}

static void leave_out(smp_names *left, uint32_t tag)
{
    char number[12];
    snprintf(number, sizeof number, "%u", tag);
    smp_names_add(left, number);
}

static bool keep_exif(const smp_tiff *tiff, smp_meta *meta, smp_notes *notes)
{
    smp_tiff_tags folders[TIFF_FOLDERS] = {0}, *first = &folders[TIFF_FIRST];
    smp_names left = {.count = 0};
    bool done =
        smp_tiff_folders_take(folders, tiff, TIFF_EXIF, notes) && smp_tiff_folders_take(folders, tiff, TIFF_GPS, notes);
    for (size_t i = 0; i < tiff->count && done; i++) {
        const smp_tiff_entry *entry = &tiff->entries[i];
        bool apart = IS(entry->tag, of_file) || entry->tag == TIFF_TITLE;
        for (int k = 0; k < TEXTS; k++)
            apart |= entry->size > KEPT_ENTRY && entry->tag == texts[k].tag;
        const bool fits =
            entry->size <= KEPT_ENTRY && first->bytes + first->count * OF_ENTRY + entry->size <= KEPT_ENTRIES;
        if (!apart && IS(entry->tag, of_exif) && fits)
            done = smp_tiff_tags_take(first, tiff, entry, notes);
        else if (!apart)
            leave_out(&left, entry->tag);
    }
    if (left.count)
        smp_note(notes, "entries of the TIFF are left out, which are other programs' own or long: %s",
                 smp_names_end(&left));
    if (smp_tiff_find(tiff, TIFF_LAYERS))
        smp_note(notes, "the layers that Photoshop put into the TIFF are left out: its picture is read");
    if (done && (first->count || folders[TIFF_EXIF].count || folders[TIFF_GPS].count))
        done = join_exif(folders, &meta->exif);
    smp_tiff_folders_free(folders);
    return done;
}

/* IPTC has an entry of its own, which libtiff may have turned as words, and ImageMagick writes the beginning of; and
 * may stand among Photoshop's resources. */
static bool keep_iptc(const smp_tiff *tiff, smp_reader *reader)
{
    smp_meta *meta = &reader->media.meta;
    const smp_tiff_entry *more = smp_tiff_find(tiff, TIFF_RESOURCES);
    smp_blob own = {0};
    bool done = keep_blob(tiff, TIFF_IPTC, "IPTC", &own, reader);
    if (own.size > 4 && own.data[0] != SMP_IPTC_MARK && own.data[3] == SMP_IPTC_MARK)
        smp_reverse_words(own.data, own.size, 4);
    if (!smp_iptc_cut(&own))
        done = done && smp_blob_set(&meta->iptc, own.data, own.size);
    if (more && more->at <= tiff->source->size && more->size <= tiff->source->size - more->at)
        done = done && smp_meta_take_resources(meta, tiff->source, more->at, more->at + more->size, &reader->notes);
    done = done && (meta->iptc.size || smp_blob_set(&meta->iptc, own.data, own.size));
    smp_free(own.data);
    return done;
}

smp_code smp_tiff_keep_meta(const smp_tiff *tiff, smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    uint64_t orientation;
    bool done = true;
    if (smp_tiff_value(tiff, smp_tiff_find(tiff, TIFF_ORIENTATION), 0, &orientation) && orientation >= 1 &&
        orientation <= 8)
        media->orientation = (int)orientation;
    keep_resolution(tiff, &media->meta);
    done = keep_blob(tiff, TIFF_ICC, "the ICC profile", &media->meta.icc, reader);
    for (int i = 0; i < TEXTS && done; i++)
        done = keep_text(tiff, texts[i].tag, texts[i].key, reader);
    done = done && keep_text(tiff, TIFF_XMP, SMP_XMP_KEY, reader) && keep_iptc(tiff, reader) &&
           keep_exif(tiff, &media->meta, &reader->notes);
    return done ? SMP_OK : smp_fail_memory(err, "metadata of a TIFF", 0);
}

static bool put_text(smp_tiff_tags *tags, uint32_t tag, uint32_t type, const char *value)
{
    const size_t size = strlen(value);
    return smp_tiff_tags_add(tags, tag, type, size + (type == TYPE_ASCII ? 1 : 0), value);
}

/* Texts whose key is none of those become a line of the description. */
static bool put_texts(const smp_meta *meta, smp_tiff_tags *tags, smp_notes *notes)
{
    bool done = true;
    for (size_t i = 0; i < meta->text_count && done; i++) {
        const char *key = meta->texts[i].key, *value = meta->texts[i].value;
        uint32_t tag = strcmp(key, SMP_XMP_KEY) == 0 ? TIFF_XMP : 0;
        for (int k = 0; k < TEXTS; k++) /* a comment is a description, an artist an author */
            tag = strcasecmp(smp_tag_any_key(key), smp_tag_any_key(texts[k].key)) == 0 ? texts[k].tag : tag;
        if (tag && smp_tiff_tags_say(tags, tag, value))
            continue;
        if (!tag || smp_tiff_tags_has(tags, tag))
            smp_note(notes, "the text '%.80s' is left out: a TIFF has no place for it", key);
        else
            done = put_text(tags, tag, tag == TIFF_XMP ? TYPE_BYTE : TYPE_ASCII, value);
    }
    return done;
}

static uint64_t rational(double number)
{
    const uint64_t parts = number < 1 ? 1000000000 : 1000;
    return (uint64_t)llrint(number * (double)parts) | parts << 32;
}

static bool put_resolution(const smp_meta *meta, smp_tiff_tags *tags)
{
    const double scale = meta->density_is_aspect ? 1 : 0.0254, most = UINT32_MAX / 1e3;
    const double x = meta->x_density * scale, y = meta->y_density * scale;
    if (!(x > 0) || !(y > 0) || x > most || y > most)
        return true;
    const uint64_t across = rational(x), down = rational(y), unit = meta->density_is_aspect ? 1 : 2;
    return smp_tiff_tags_numbers(tags, TIFF_X_RESOLUTION, TYPE_RATIONAL, 1, &across) &&
           smp_tiff_tags_numbers(tags, TIFF_Y_RESOLUTION, TYPE_RATIONAL, 1, &down) &&
           smp_tiff_tags_numbers(tags, TIFF_UNIT, TYPE_SHORT, 1, &unit);
}

/* Whether it is a text that is empty, as smp_exif_drop_text leaves it. */
static bool is_empty(const smp_blob *exif, const smp_tiff_entry *entry)
{
    if ((entry->type != TYPE_ASCII && entry->type != TYPE_UTF8) || !entry->size || entry->size > KEPT_ENTRIES ||
        entry->at >= exif->size || entry->size > exif->size - entry->at)
        return false;
    const uint8_t *text = exif->data + entry->at;
    return !text[0] && !memcmp(text, text + 1, (size_t)entry->size - 1);
}

static bool put_exif(const smp_meta *meta, smp_tiff_tags *folders, smp_notes *notes)
{
    smp_source source;
    smp_tiff tiff;
    smp_error err;
    smp_names left = {.count = 0};
    bool done = true;
    if (meta->exif.size < 8)
        return true;
    smp_source_memory(&source, meta->exif.data, meta->exif.size);
    if (smp_tiff_open(&tiff, &source, 1, &err) == SMP_OK) {
        for (size_t i = 0; i < tiff.count && done; i++) {
            const smp_tiff_entry *entry = &tiff.entries[i];
            const uint32_t tag = entry->tag;
            const bool resolution = tag == TIFF_X_RESOLUTION || tag == TIFF_Y_RESOLUTION || tag == TIFF_UNIT;
            if (resolution ? meta->x_density > 0 : IS(tag, of_file) || is_empty(&meta->exif, entry))
                continue;
            if (IS(tag, of_exif))
                done = smp_tiff_tags_take(folders, &tiff, entry, notes);
            else
                leave_out(&left, tag);
        }
        if (left.count)
            smp_note(notes, "entries of EXIF are left out, which in a TIFF may say how samples lie: %s",
                     smp_names_end(&left));
        done = done && smp_tiff_folders_take(folders, &tiff, TIFF_EXIF, notes) &&
               smp_tiff_folders_take(folders, &tiff, TIFF_GPS, notes);
    } else
        smp_note(notes, "EXIF is left out: it is damaged");
    smp_tiff_close(&tiff);
    return done;
}

bool smp_tiff_put_meta(const smp_meta *meta, int colours, smp_tiff_tags *folders, smp_notes *notes)
{
    smp_tiff_tags *tags = &folders[TIFF_FIRST];
    const smp_blob *icc = &meta->icc;
    if (!put_exif(meta, folders, notes) || !put_resolution(meta, tags) || !put_texts(meta, tags, notes))
        return false;
    if (meta->iptc.size && !smp_tiff_tags_add(tags, TIFF_IPTC, TYPE_UNDEFINED, meta->iptc.size, meta->iptc.data))
        return false;
    return !icc->size || !smp_icc_fits(icc, colours) ||
           smp_tiff_tags_add(tags, TIFF_ICC, TYPE_UNDEFINED, icc->size, icc->data);
}
