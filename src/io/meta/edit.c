/* Changes of a file's tags that were asked for: --tag, --untag, --cover, --chapters. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/audio/chapters.h"
#include "io/audio/tags.h"
#include "io/format.h"

enum { EXIF_TAGS = 3, ROWS = 4 };

/* Where else a tag may stand: names of Dublin Core and of TIFF in XMP, EXIF's and Windows' tags, IPTC's record 2. */
static const struct {
    const char *key, *xmp[2];
    uint32_t exif[EXIF_TAGS];
    uint8_t iptc;
} rows[ROWS] = {{"Title", {"title", "DocumentName"}, {0x010D, 0x9C9B}, 5},
                {"Comment", {"description", "ImageDescription"}, {0x010E, 0x9C9C, 0x9286}, 120},
                {"Artist", {"creator", "Artist"}, {0x013B, 0x9C9D}, 80},
                {"Copyright", {"rights", "Copyright"}, {0x8298}, 116}};

/* Null: any. */
static bool has_key(const char *text, const char *key)
{
    return !key || strcasecmp(smp_tag_any_key(text), key) == 0;
}

static bool begins_so(const char *text, const char *begin)
{
    return strncasecmp(text, begin, strlen(begin)) == 0;
}

/* Takes out the texts whose key is such; how many. */
static size_t drop_texts(smp_meta *meta, bool (*is)(const char *text, const char *key), const char *key)
{
    size_t kept = 0;
    for (size_t i = 0; i < meta->text_count; i++) {
        struct smp_text text = meta->texts[i];
        if (is(text.key, key))
            smp_free_all(text.key, text.value);
        else
            meta->texts[kept++] = text;
    }
    const size_t dropped = meta->text_count - kept;
    meta->text_count = kept;
    return dropped;
}

enum { FRAMES = -1 };

/* Takes out the frames that are named, "CHAP CTOC", or the pictures of a kind; names null: all. How many. */
static size_t drop_attached(smp_meta *meta, int kind, const char *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < meta->attached_count; i++) {
        smp_attached one = meta->attached[i];
        if (names && (one.frame[0] ? kind != FRAMES || !strstr(names, one.frame) : one.kind != kind))
            meta->attached[kept++] = one;
        else
            smp_free_all(one.description, one.data.data);
    }
    const size_t dropped = meta->attached_count - kept;
    meta->attached_count = kept;
    return dropped;
}

size_t smp_meta_drop_levels(smp_meta *meta)
{
    static const char *const keys[] = {"replaygain_", "r128_", "mp3gain_", "itunnorm", "comment:itunnorm"};
    size_t dropped = drop_attached(meta, FRAMES, "RVA2 RVAD RGAD");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        dropped += drop_texts(meta, begins_so, keys[k]);
    return dropped;
}

static bool is_chapter(const char *text, const char *)
{
    return smp_chapter_is(text);
}

size_t smp_meta_drop_times(smp_meta *meta)
{
    return drop_attached(meta, FRAMES, "CHAP CTOC SYLT ETCO MLLT SYTC ASPI POSS TLEN") +
           drop_texts(meta, is_chapter, NULL);
}

bool smp_meta_edit(smp_meta *meta, const smp_meta_change *change)
{
    bool done = true;
    if (change->untag) {
        drop_texts(meta, has_key, NULL);
        meta->iptc.size = 0;
        drop_attached(meta, 0, NULL);
    }
    for (size_t i = 0; i < change->tag_count; i++) { /* all first, since a key may have several values */
        char key[SMP_TAG_KEY];
        smp_meta_change_key(change->tags[i], key);
        drop_texts(meta, has_key, smp_tag_any_key(key));
        if (!strcasecmp(key, SMP_CHAPTERS_KEY)) {
            drop_texts(meta, is_chapter, NULL);
            drop_attached(meta, FRAMES, "CHAP CTOC");
        }
    }
    for (size_t i = 0; done && i < change->tag_count; i++) {
        char key[SMP_TAG_KEY];
        const char *value = smp_meta_change_key(change->tags[i], key);
        done = !value[0] || smp_meta_add_text(meta, smp_tag_any_key(key), value, strlen(value));
    }
    if (done && change->cover.size) {
        smp_attached cover = {.kind = SMP_FRONT_COVER, .data = change->cover};
        snprintf(cover.type, sizeof cover.type, "%s", smp_picture_type(change->cover.data, change->cover.size));
        drop_attached(meta, SMP_FRONT_COVER, "");
        done = smp_meta_attach(meta, &cover);
    }
    return done;
}

void smp_meta_drop_said(smp_meta *meta, const char *key, smp_notes *notes)
{
    static const char *const spaces[2] = {"http://purl.org/dc/elements/1.1/", "http://ns.adobe.com/tiff/1.0/"};
    size_t row = 0;
    while (row < ROWS && strcasecmp(rows[row].key, smp_tag_any_key(key)) != 0)
        row++;
    if (row == ROWS)
        return;
    bool xmp = false, exif = false;
    for (size_t i = 0; i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        for (int k = 0; k < 2 && strcmp(text->key, SMP_XMP_KEY) == 0; k++)
            xmp = smp_xmp_drop(text->value, spaces[k], rows[row].xmp[k]) || xmp;
    }
    for (int k = 0; k < EXIF_TAGS; k++)
        exif = smp_exif_drop_text(&meta->exif, rows[row].exif[k]) || exif;
    const bool iptc = smp_iptc_drop(&meta->iptc, rows[row].iptc);
    char from[24];
    snprintf(from, sizeof from, "%s%s%s", xmp ? ", XMP" : "", exif ? ", EXIF" : "", iptc ? ", IPTC" : "");
    if (from[0])
        smp_note(notes, "what its %s said of %s is dropped, since --tag says it", from + 2, key);
}

bool smp_meta_exif_says(const smp_meta *meta, const char *key, char text[SMP_EXIF_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < ROWS; i++)
        for (int k = 0; k < EXIF_TAGS && !strcasecmp(rows[i].key, key); k++)
            if (rows[i].exif[k] && smp_exif_text(&meta->exif, rows[i].exif[k], text))
                return true;
    return false;
}

void smp_meta_tell_kept(const smp_meta *meta, smp_notes *notes)
{
    enum { PLACE = 0x8825 };
    char what[60] = "", text[SMP_EXIF_TEXT];
    uint32_t at;
    for (size_t i = 0; i < ROWS; i++)
        if (smp_meta_exif_says(meta, rows[i].key, text))
            snprintf(what + strlen(what), sizeof what - strlen(what), ", %s", rows[i].key);
    if (smp_tiff_number(meta->exif.data, meta->exif.size, PLACE, &at))
        strcat(what, ", GPS");
    if (what[0])
        smp_note(notes, "EXIF stays, with %s: --strip drops it", what + 2);
}

const char *smp_meta_change_key(const char *pair, char key[SMP_TAG_KEY])
{
    const size_t length = strcspn(pair, "=");
    snprintf(key, SMP_TAG_KEY, "%.*s", (int)length, pair);
    return pair + length + (pair[length] == '=');
}
