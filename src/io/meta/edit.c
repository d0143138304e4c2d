/* Changes of a file's tags that were asked for: --tag, --untag, --cover, --chapters. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/audio/chapters.h"
#include "io/audio/tags.h"
#include "io/format.h"

enum { NAMES = 7, EXIF_TAGS = 3, SETS = 2, PEOPLES = 4 /* rows of what people are named in, or write */ };

/* Where else a tag may stand: names in XMP, EXIF's and Windows' tags, data sets of IPTC's record 2. */
static const struct {
    const char *key, *xmp[NAMES];
    uint16_t exif[EXIF_TAGS];
    uint8_t iptc[SETS];
} rows[] = {
    {"Title", {"dc:title", "tiff:DocumentName"}, {0x010D, 0x9C9B}, {5}},
    {"Comment", {"dc:description", "tiff:ImageDescription"}, {0x010E, 0x9C9C, 0x9286}, {120}},
    {"Artist", {"dc:creator", "tiff:Artist"}, {0x013B, 0x9C9D}, {80}},
    {"Copyright", {"dc:rights", "tiff:Copyright"}, {0x8298}, {116}},
    {"Keywords", {"dc:subject", "lr:hierarchicalSubject", "pdf:Keywords"}, {0x9C9E}, {25}},
    {"Subject", {"dc:subject", "lr:hierarchicalSubject"}, {0x9C9F}, {25}}, /* of Dublin Core: the same words */
    {"Date",
     {"dc:date", "photoshop:DateCreated", "xmp:CreateDate", "xmp:ModifyDate", "exif:DateTimeOriginal",
      "exif:DateTimeDigitized", "tiff:DateTime"},
     {SMP_EXIF_TAKEN, SMP_EXIF_CHANGED, 0x9004},
     {55, 60}},
    {"Software", {"xmp:CreatorTool", "tiff:Software"}, {0x0131}, {65}},
    {"Make", {"tiff:Make"}, {0x010F}, {0}},
    {"Model", {"tiff:Model"}, {0x0110}, {0}},
    {"Rating", {"xmp:Rating", "MicrosoftPhoto:Rating"}, {0x4746, 0x4749}, {0}}, /* the latter in % */
    {"Publisher", {"dc:publisher"}, {0}, {0}},
    {"Location", {"core:Location"}, {0}, {92}},
    {"City", {"photoshop:City"}, {0}, {90}},
    {"State", {"photoshop:State"}, {0}, {95}},
    {"Country", {"photoshop:Country"}, {0}, {101}},
    {"Headline", {"photoshop:Headline"}, {0}, {105}},
    {"Credit", {"photoshop:Credit"}, {0}, {110}},
    {"Source", {"photoshop:Source", "dc:source"}, {0}, {115}},
    {"Instructions", {"photoshop:Instructions"}, {0}, {40}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *const spaces[][2] = {{"dc:", "http://purl.org/dc/elements/1.1/"},
                                        {"tiff:", "http://ns.adobe.com/tiff/1.0/"},
                                        {"exif:", "http://ns.adobe.com/exif/1.0/"},
                                        {"xmp:", "http://ns.adobe.com/xap/1.0/"},
                                        {"pdf:", "http://ns.adobe.com/pdf/1.3/"},
                                        {"photoshop:", "http://ns.adobe.com/photoshop/1.0/"},
                                        {"lr:", "http://ns.adobe.com/lightroom/1.0/"},
                                        {"core:", "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"},
                                        {"MicrosoftPhoto:", "http://ns.microsoft.com/photo/1.0/"}};

static bool drop_xmp(char *xmp, const char *name)
{
    bool any = false;
    for (size_t i = 0; name && i < sizeof spaces / sizeof *spaces; i++)
        if (strncmp(name, spaces[i][0], strlen(spaces[i][0])) == 0)
            any = smp_xmp_drop(xmp, spaces[i][1], name + strlen(spaces[i][0]));
    return any;
}

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

size_t smp_meta_drop_texts(smp_meta *meta, const char *begin)
{
    return drop_texts(meta, begins_so, begin);
}

size_t smp_meta_drop_levels(smp_meta *meta)
{
    static const char *const keys[] = {"replaygain_", "r128_", "mp3gain_", "itunnorm", "comment:itunnorm"};
    size_t dropped = drop_attached(meta, FRAMES, "RVA2 RVAD RGAD");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        dropped += smp_meta_drop_texts(meta, keys[k]);
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
    size_t row = 0;
    while (row < ROWS && strcasecmp(rows[row].key, smp_tag_any_key(key)) != 0)
        row++;
    if (row == ROWS)
        return;
    bool xmp = false, exif = false, iptc = false;
    for (size_t i = 0; i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        for (int k = 0; k < NAMES && strcmp(text->key, SMP_XMP_KEY) == 0; k++)
            xmp = drop_xmp(text->value, rows[row].xmp[k]) || xmp;
    }
    for (int k = 0; k < EXIF_TAGS && rows[row].exif[k]; k++)
        exif = smp_exif_drop_text(&meta->exif, rows[row].exif[k]) || exif;
    for (int k = 0; k < SETS && rows[row].iptc[k]; k++)
        iptc = smp_iptc_drop(&meta->iptc, rows[row].iptc[k]) || iptc;
    char from[24];
    snprintf(from, sizeof from, "%s%s%s", xmp ? ", XMP" : "", exif ? ", EXIF" : "", iptc ? ", IPTC" : "");
    if (from[0])
        smp_note(notes, "what its %s said of %s is dropped, since --tag says it", from + 2, key);
}

bool smp_meta_exif_says(const smp_meta *meta, const char *key, char *text, size_t room)
{
    text[0] = '\0';
    for (size_t i = 0; i < ROWS; i++)
        for (int k = 0; k < EXIF_TAGS && !strcasecmp(rows[i].key, key); k++)
            if (rows[i].exif[k] && smp_exif_text(&meta->exif, rows[i].exif[k], text, room))
                return true;
    return false;
}

void smp_meta_tell_kept(const smp_meta *meta, smp_notes *notes)
{
    enum { PLACE = 0x8825 };
    char what[60] = "", text[SMP_EXIF_TEXT];
    uint32_t at;
    for (size_t i = 0; i < PEOPLES; i++)
        if (smp_meta_exif_says(meta, rows[i].key, text, sizeof text))
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
