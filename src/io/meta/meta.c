/* Metadata besides samples: ownership, texts in UTF-8, changes for a changed picture, and which profiles fit. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/utf8.h"
#include "io/format.h"

static void free_attached(smp_attached *one)
{
    smp_free_all(one->description, one->data.data);
}

void smp_meta_free(smp_meta *meta)
{
    if (!meta)
        return;
    smp_free_all(meta->icc.data, meta->exif.data, meta->iptc.data);
    for (size_t i = 0; i < meta->attached_count; i++)
        free_attached(&meta->attached[i]);
    smp_free(meta->attached);
    for (size_t i = 0; i < meta->text_count; i++)
        smp_free_all(meta->texts[i].key, meta->texts[i].value);
    smp_free(meta->texts);
    *meta = (smp_meta){.srgb_intent = -1};
}

bool smp_blob_set(smp_blob *blob, const void *data, size_t size)
{
    if (!size)
        return true;
    unsigned char *copy = smp_alloc_raw(size);
    if (!copy)
        return false;
    memcpy(copy, data, size);
    smp_free(blob->data);
    *blob = (smp_blob){copy, size};
    return true;
}

bool smp_meta_read(const smp_source *source, const char *what, uint64_t at, uint64_t size, smp_blob *blob,
                   smp_notes *notes)
{
    enum { MOST = 32 << 20 };
    if (size > MOST)
        smp_note(notes, "%s is left out: it has %llu bytes", what, (unsigned long long)size);
    if (!size || size > MOST)
        return true;
    uint8_t *data = smp_alloc_raw((size_t)size);
    const bool done =
        data && (!smp_source_look(source, at, data, (size_t)size) || smp_blob_set(blob, data, (size_t)size));
    smp_free(data);
    return done;
}

static bool is_utf8(const char *text, size_t length)
{
    uint32_t code = 0;
    for (size_t i = 0; i < length && code != SMP_UTF8_INVALID;)
        i += smp_utf8_decode(text + i, length - i, &code);
    return code != SMP_UTF8_INVALID;
}

static bool is_dropped(uint8_t c)
{
    return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
}

/* Whether there is nothing to convert or to drop, as in most texts; without a branch a byte. */
static bool is_plain(const uint8_t *in, size_t length)
{
    unsigned other = 0;
    for (size_t i = 0; i < length; i++)
        other |= (unsigned)((in[i] < 0x20) & (in[i] != '\t') & (in[i] != '\n')) | (unsigned)(in[i] >= 0x7F);
    return !other;
}

/* A copy, converted to UTF-8. */
static char *clean_text(const char *value, size_t length)
{
    const uint8_t *in = (const uint8_t *)value;
    if (is_plain(in, length))
        return smp_strndup(value, length);
    bool utf8 = is_utf8(value, length);
    char *text = smp_alloc_array(length + 1, utf8 ? 1 : 2);
    if (!text)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (in[i] == '\r' && (i + 1 == length || in[i + 1] != '\n'))
            text[n++] = '\n';
        if (is_dropped(in[i]))
            continue;
        if (utf8)
            text[n++] = value[i];
        else
            n += smp_utf8_encode(text + n, in[i]);
    }
    return text;
}

bool smp_text_says(const void *said, size_t count, const char *value)
{
    char *text = clean_text(said, strnlen(said, count));
    const bool same = text && strcmp(text, value) == 0;
    smp_free(text);
    return same;
}

bool smp_meta_add_text(smp_meta *meta, const char *key, const char *value, size_t length)
{
    if (!smp_grow(&meta->texts, &meta->text_capacity, meta->text_count + 1, sizeof *meta->texts))
        return false;
    struct smp_text text = {clean_text(key, strlen(key)), clean_text(value, length), ""};
    if (!text.key || !text.value) {
        smp_free_all(text.key, text.value);
        return false;
    }
    meta->texts[meta->text_count++] = text;
    return true;
}

bool smp_meta_attach(smp_meta *meta, const smp_attached *one)
{
    if (!smp_grow(&meta->attached, &meta->attached_capacity, meta->attached_count + 1, sizeof *meta->attached))
        return false;
    smp_attached copy = *one;
    copy.data = (smp_blob){0};
    copy.description = one->description && *one->description ? smp_strdup(one->description) : NULL;
    if ((one->description && *one->description && !copy.description) ||
        !smp_blob_set(&copy.data, one->data.data, one->data.size)) {
        free_attached(&copy);
        return false;
    }
    meta->attached[meta->attached_count++] = copy;
    return true;
}

bool smp_meta_copy(smp_meta *to, const smp_meta *from)
{
    *to = *from;
    to->icc = to->exif = to->iptc = (smp_blob){0};
    to->texts = NULL;
    to->attached = NULL;
    to->attached_count = to->attached_capacity = 0;
    to->text_count = to->text_capacity = 0;
    bool done = smp_blob_set(&to->icc, from->icc.data, from->icc.size) &&
                smp_blob_set(&to->exif, from->exif.data, from->exif.size) &&
                smp_blob_set(&to->iptc, from->iptc.data, from->iptc.size);
    for (size_t i = 0; done && i < from->text_count; i++) {
        done = smp_meta_add_text(to, from->texts[i].key, from->texts[i].value, strlen(from->texts[i].value));
        if (done)
            memcpy(to->texts[i].language, from->texts[i].language, sizeof to->texts[i].language);
    }
    for (size_t i = 0; done && i < from->attached_count; i++)
        done = smp_meta_attach(to, &from->attached[i]);
    if (!done)
        smp_meta_free(to);
    return done;
}

static char *xmp_of(const smp_meta *meta)
{
    for (size_t i = 0; i < meta->text_count; i++)
        if (strcmp(meta->texts[i].key, SMP_XMP_KEY) == 0)
            return meta->texts[i].value;
    return NULL;
}

static void exchange_axes(smp_meta *meta)
{
    double x = meta->x_density;
    meta->x_density = meta->y_density;
    meta->y_density = x;
    smp_exif_exchange_axes(meta->exif.data, meta->exif.size);
    smp_xmp_exchange_axes(xmp_of(meta));
}

void smp_meta_apply_orientation(smp_meta *meta, int orientation)
{
    if (orientation <= 1)
        return;
    smp_exif_reset_orientation(meta->exif.data, meta->exif.size);
    smp_xmp_reset_orientation(xmp_of(meta));
    if (orientation >= 5)
        exchange_axes(meta);
}

void smp_meta_tell_turned(smp_meta *meta, const char *format, smp_notes *notes)
{
    const int orientation = smp_exif_orientation(meta->exif.data, meta->exif.size);
    if (orientation > 1)
        smp_note(notes, "EXIF's orientation (%d) is left out: programs show %s as its pixels lie", orientation, format);
    smp_exif_reset_orientation(meta->exif.data, meta->exif.size);
}

void smp_meta_apply_change(smp_meta *meta, const smp_change *change, smp_notes *notes)
{
    static const double about_srgb = .45455; /* PNG (third edition), 11.3.2.5 */
    if (change->swapped)
        exchange_axes(meta);
    if (change->width > 0)
        smp_exif_set_size(meta->exif.data, meta->exif.size, change->width, change->height);
    if (change->changed) {
        smp_exif_drop_thumbnail(&meta->exif);
        smp_xmp_drop(xmp_of(meta), "http://ns.adobe.com/xap/1.0/", "Thumbnails");
    }
    if (change->dpi > 0) {
        meta->x_density = meta->y_density = change->dpi / 0.0254;
        meta->density_is_aspect = false;
        smp_exif_set_resolution(meta->exif.data, meta->exif.size, (uint32_t)lrint(change->dpi));
    }
    if (change->encoded && meta->has_chrm && !change->srgb) {
        meta->gamma = about_srgb;
    } else if (change->srgb || change->encoded) {
        enum { RELATIVE_COLORIMETRIC = 1 };
        smp_free(meta->icc.data);
        meta->icc = (smp_blob){.data = NULL};
        meta->icc_name[0] = '\0';
        meta->gamma = 0;
        meta->has_chrm = meta->has_cicp = false;
        meta->srgb_intent = RELATIVE_COLORIMETRIC;
    }
    if (change->toned && (meta->has_mdcv || meta->has_clli)) {
        smp_note(notes, "the light levels that the input states (mDCV, cLLI) are left out: stages changed its samples");
        meta->has_mdcv = meta->has_clli = false;
    }
}

const smp_attached *smp_meta_cover(const smp_meta *meta)
{
    enum { FRONT = 3 };
    const smp_attached *first = NULL;
    for (size_t i = 0; i < meta->attached_count; i++) {
        const smp_attached *one = &meta->attached[i];
        if (!one->frame[0] && (!first || (first->kind != FRONT && one->kind == FRONT)))
            first = one;
    }
    return first;
}

bool smp_meta_keep_blocks(const smp_meta *meta, const char *format, smp_blob *exif, smp_blob *xmp, smp_notes *notes)
{
    bool done = true;
    if (meta->exif.size >= 8) {
        done = smp_blob_set(exif, meta->exif.data, meta->exif.size);
        if (done)
            smp_exif_reset_orientation(exif->data, exif->size);
    }
    for (size_t i = 0; i < meta->text_count && done; i++) {
        const char *key = meta->texts[i].key, *value = meta->texts[i].value;
        if (strcmp(key, SMP_XMP_KEY) == 0)
            done = smp_blob_set(xmp, value, strlen(value));
        else if (!smp_exif_says(&meta->exif, key, value))
            smp_note(notes, "the text '%.80s' is left out: %s has no place for it", key, format);
    }
    return done;
}

/* Source: ICC.1:2022, section 7.2: bytes 16..19 name the colour space of the data. */
bool smp_icc_fits(const smp_blob *icc, int colours)
{
    if (icc->size < 128)
        return false;
    return memcmp(icc->data + 16, colours == 1 ? "GRAY" : "RGB ", 4) == 0;
}
