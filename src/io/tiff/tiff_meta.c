/* Metadata of TIFFs: see tiff_meta.h. EXIF is a TIFF directory of its own, whose entries point into the file: they are
 * copied, with their values, into a block that stands alone. */
#include "io/tiff/tiff_glue.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "io/audio/tags.h"
#include "io/bytes.h"

enum { KEPT_BYTES = 32 << 20, INTEROPERABILITY = 40965 /* a directory below EXIF's */ };

static const struct {
    uint32_t tag;
    const char *key; /* PNG's */
} texts[] = {
    {TIFF_TITLE, "Title"},   {TIFF_DESCRIPTION, "Description"}, {TIFF_SOFTWARE, "Software"},
    {TIFF_ARTIST, "Author"}, {TIFF_COPYRIGHT, "Copyright"},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* Tags of the camera in the first directory of an EXIF block. */
static const uint32_t camera[] = {TIFF_MAKE, TIFF_MODEL, TIFF_DATE};
enum { CAMERA = sizeof camera / sizeof camera[0] };

/* Tags there that a TIFF reads as texts. */
static const uint32_t said[] = {TIFF_DESCRIPTION, TIFF_SOFTWARE, TIFF_ARTIST, TIFF_COPYRIGHT};
enum { SAID = sizeof said / sizeof said[0], SAID_BYTES = 8192 /* of a text: EXIF must fit a marker of a JPEG */ };

/* The bytes of an entry; null where there is none. *failed: out of memory. */
static uint8_t *load(const smp_tiff *tiff, uint32_t tag, size_t *size, smp_notes *notes, bool *failed)
{
    const smp_tiff_entry *entry = smp_tiff_find(tiff, tag);
    if (!entry || !entry->size)
        return NULL;
    if (entry->size > KEPT_BYTES) {
        smp_note(notes, "the entry %u of the TIFF is left out: it has %llu bytes", tag,
                 (unsigned long long)entry->size);
        return NULL;
    }
    *size = (size_t)entry->size;
    uint8_t *data = smp_alloc_raw(*size);
    *failed = *failed || !data;
    if (data && !smp_source_look(tiff->source, entry->at, data, *size)) {
        smp_free(data);
        data = NULL;
    }
    return data;
}

static bool keep_text(const smp_tiff *tiff, uint32_t tag, const char *key, smp_reader *reader)
{
    size_t size = 0;
    bool failed = false;
    uint8_t *data = load(tiff, tag, &size, &reader->notes, &failed);
    while (data && size && !data[size - 1])
        size--;
    if (data && size)
        failed = !smp_meta_add_text(&reader->media.meta, key, (const char *)data, size);
    smp_free(data);
    return !failed;
}

static bool keep_blob(const smp_tiff *tiff, uint32_t tag, smp_blob *blob, smp_notes *notes)
{
    size_t size = 0;
    bool failed = false;
    uint8_t *data = load(tiff, tag, &size, notes, &failed);
    if (data)
        failed = !smp_blob_set(blob, data, size);
    smp_free(data);
    return !failed;
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

/* The entries of a directory that an entry points at; none where there is no such directory. */
static bool take_folder(const smp_tiff *tiff, uint32_t tag, smp_tiff_tags *tags)
{
    uint64_t at;
    smp_tiff inner;
    bool done = true;
    if (!smp_tiff_value(tiff, smp_tiff_find(tiff, tag), 0, &at))
        return true;
    if (smp_tiff_open_folder(&inner, tiff, at))
        for (size_t i = 0; i < inner.count && done; i++)
            if (inner.entries[i].tag != INTEROPERABILITY && inner.entries[i].type <= 12) /* classic TIFF's types */
                done = smp_tiff_tags_take(tags, &inner, &inner.entries[i]);
    smp_tiff_close(&inner);
    return done;
}

/* "II*\0", the first directory, EXIF's, GPS's. */
static bool join_exif(smp_tiff_tags *first, smp_tiff_tags *exif, smp_tiff_tags *gps, smp_blob *out)
{
    enum { HEADER = 8 };
    const uint64_t zero = 0;
    if ((exif->count && !smp_tiff_tags_numbers(first, TIFF_EXIF_FOLDER, TYPE_LONG, 1, &zero)) ||
        (gps->count && !smp_tiff_tags_numbers(first, TIFF_GPS_FOLDER, TYPE_LONG, 1, &zero)))
        return false;
    const uint64_t exif_at = HEADER + smp_tiff_tags_size(first, false);
    const uint64_t gps_at = exif_at + (exif->count ? smp_tiff_tags_size(exif, false) : 0);
    for (size_t i = 0; i < first->count; i++) {
        smp_tiff_tag *item = &first->items[i];
        if (item->tag == TIFF_EXIF_FOLDER || item->tag == TIFF_GPS_FOLDER)
            smp_put_le(item->value.data, item->tag == TIFF_EXIF_FOLDER ? exif_at : gps_at, 4);
    }
    out->size = (size_t)(gps_at + (gps->count ? smp_tiff_tags_size(gps, false) : 0));
    if (!(out->data = smp_alloc(out->size)))
        return false;
    memcpy(out->data, "II*\0\10\0\0\0", HEADER);
    smp_tiff_tags_put(first, false, HEADER, out->data + HEADER);
    if (exif->count)
        smp_tiff_tags_put(exif, false, exif_at, out->data + exif_at);
    if (gps->count)
        smp_tiff_tags_put(gps, false, gps_at, out->data + gps_at);
    return true;
}

static bool keep_exif(const smp_tiff *tiff, smp_meta *meta)
{
    smp_tiff_tags first = {0}, exif = {0}, gps = {0};
    bool done = take_folder(tiff, TIFF_EXIF_FOLDER, &exif) && take_folder(tiff, TIFF_GPS_FOLDER, &gps);
    for (int i = 0; i < CAMERA + SAID && done; i++) {
        const smp_tiff_entry *entry = smp_tiff_find(tiff, i < CAMERA ? camera[i] : said[i - CAMERA]);
        if (entry && entry->type == TYPE_ASCII && entry->size <= SAID_BYTES)
            done = smp_tiff_tags_take(&first, tiff, entry);
    }
    if (done && (first.count || exif.count || gps.count))
        done = join_exif(&first, &exif, &gps, &meta->exif);
    smp_tiff_tags_free(&first);
    smp_tiff_tags_free(&exif);
    smp_tiff_tags_free(&gps);
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
    done = keep_blob(tiff, TIFF_ICC, &media->meta.icc, &reader->notes);
    for (int i = 0; i < TEXTS && done; i++)
        done = keep_text(tiff, texts[i].tag, texts[i].key, reader);
    done = done && keep_text(tiff, TIFF_XMP, SMP_XMP_KEY, reader) &&
           keep_blob(tiff, TIFF_IPTC, &media->meta.iptc, &reader->notes) && keep_exif(tiff, &media->meta);
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

static bool put_resolution(const smp_meta *meta, smp_tiff_tags *tags)
{
    enum { PARTS = 1000 };
    const double scale = meta->density_is_aspect ? 1 : 0.0254, most = (double)UINT32_MAX / PARTS;
    const double x = meta->x_density * scale, y = meta->y_density * scale;
    if (!(x > 0) || !(y > 0) || x > most || y > most)
        return true;
    const uint64_t across = (uint64_t)llrint(x * PARTS) | (uint64_t)PARTS << 32;
    const uint64_t down = (uint64_t)llrint(y * PARTS) | (uint64_t)PARTS << 32, unit = meta->density_is_aspect ? 1 : 2;
    return smp_tiff_tags_numbers(tags, TIFF_X_RESOLUTION, TYPE_RATIONAL, 1, &across) &&
           smp_tiff_tags_numbers(tags, TIFF_Y_RESOLUTION, TYPE_RATIONAL, 1, &down) &&
           smp_tiff_tags_numbers(tags, TIFF_UNIT, TYPE_SHORT, 1, &unit);
}

static bool put_exif(const smp_meta *meta, smp_tiff_tags *tags, smp_tiff_tags *exif, smp_tiff_tags *gps)
{
    smp_source source;
    smp_tiff tiff;
    smp_error err;
    char text[SMP_EXIF_TEXT];
    bool done = true;
    smp_source_memory(&source, meta->exif.data, meta->exif.size);
    if (meta->exif.size >= 8 && smp_tiff_open(&tiff, &source, 1, &err) == SMP_OK) {
        for (int i = 0; i < CAMERA && done; i++) {
            const smp_tiff_entry *entry = smp_tiff_find(&tiff, camera[i]);
            done = !entry || smp_tiff_tags_take(tags, &tiff, entry);
        }
        for (int i = 0; i < SAID && done; i++) {
            const smp_tiff_entry *entry = smp_tiff_find(&tiff, said[i]);
            done = !entry || !smp_exif_text(&meta->exif, said[i], text) || smp_tiff_tags_take(tags, &tiff, entry);
        }
        done = done && take_folder(&tiff, TIFF_EXIF_FOLDER, exif) && take_folder(&tiff, TIFF_GPS_FOLDER, gps);
    }
    if (meta->exif.size >= 8)
        smp_tiff_close(&tiff);
    return done;
}

bool smp_tiff_put_meta(const smp_meta *meta, int colours, smp_tiff_tags *tags, smp_tiff_tags *exif, smp_tiff_tags *gps,
                       smp_notes *notes)
{
    const smp_blob *icc = &meta->icc;
    if (!put_exif(meta, tags, exif, gps) || !put_resolution(meta, tags) || !put_texts(meta, tags, notes))
        return false;
    if (meta->iptc.size && !smp_tiff_tags_add(tags, TIFF_IPTC, TYPE_UNDEFINED, meta->iptc.size, meta->iptc.data))
        return false;
    return !icc->size || !smp_icc_fits(icc, colours) ||
           smp_tiff_tags_add(tags, TIFF_ICC, TYPE_UNDEFINED, icc->size, icc->data);
}
