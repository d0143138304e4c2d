/* Tags at the end of a file: APEv2, ID3v1, ID3v2.4 with a footer; Lyrics3 is told. Sources: id3.org (ID3v1; "ID3 tag
 * version 2.4.0 - Main Structure", 3.4; Lyrics3 v2.00); wiki.hydrogenaud.io, "APEv2 specification". */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text/utf8.h"
#include "io/audio/tags.h"

enum {
    ID3V1 = 128, /* bytes of tags of one size */
    APE = 32,    /* of a header, and of a footer */
    FOOTER = 10, /* of ID3v2.4 */
    LYRICS = 9,  /* bytes that Lyrics3 ends with */
    MOST = 8,    /* tags */
    MOST_APE = 1 << 26
};

/* Latin-1 up to a zero, without blanks at the end. */
static bool add_old(smp_reader *reader, const char *key, const uint8_t *text, size_t most)
{
    char value[2 * 30 + 1];
    size_t length = strnlen((const char *)text, most), n = 0;
    while (length && text[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < length; i++)
        n += smp_utf8_encode(value + n, text[i]);
    return !n || smp_tag_add(reader, key, value, n, NULL);
}

static bool take_id3v1(smp_reader *reader, const uint8_t *tag)
{
    enum { TITLE = 3, ARTIST = 33, ALBUM = 63, YEAR = 93, COMMENT = 97, TRACK = 126, GENRE = 127, WIDE = 30 };
    const bool numbered = tag[TRACK - 1] == 0 && tag[TRACK] > 0; /* ID3v1.1 */
    const char *genre = smp_genre_name(tag[GENRE]);
    char track[4] = "";
    if (numbered)
        snprintf(track, sizeof track, "%d", tag[TRACK]);
    return add_old(reader, "Title", tag + TITLE, WIDE) && add_old(reader, "Artist", tag + ARTIST, WIDE) &&
           add_old(reader, "Album", tag + ALBUM, WIDE) && add_old(reader, "Date", tag + YEAR, COMMENT - YEAR) &&
           add_old(reader, "Comment", tag + COMMENT, numbered ? TRACK - 1 - COMMENT : WIDE) &&
           add_old(reader, "TrackNumber", (const uint8_t *)track, sizeof track) &&
           (!genre || smp_tag_add(reader, "Genre", genre, strlen(genre), NULL));
}

/* "Cover Art (Front)": the name of a file, and the picture behind a zero. */
static bool take_ape_picture(smp_reader *reader, const char *name, const uint8_t *data, size_t size)
{
    static const char *const kinds[] = {"Other",
                                        "Png Icon",
                                        "Icon",
                                        "Front",
                                        "Back",
                                        "Leaflet",
                                        "Media",
                                        "Lead Artist",
                                        "Artist",
                                        "Conductor",
                                        "Band",
                                        "Composer",
                                        "Lyricist",
                                        "Recording Location",
                                        "During Recording",
                                        "During Performance",
                                        "Video Capture",
                                        "Fish",
                                        "Illustration",
                                        "Band Logotype",
                                        "Publisher Logotype"};
    const char *begin = strchr(name, '(');
    const size_t length = strnlen((const char *)data, size);
    if (length + 1 >= size)
        return true;
    smp_attached one = {.data = {(unsigned char *)data + length + 1, size - length - 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncasecmp(begin + 1, kinds[i], strlen(kinds[i])) == 0 && begin[1 + strlen(kinds[i])] == ')')
            one.kind = (int)i;
    snprintf(one.type, sizeof one.type, "%s", smp_picture_type(one.data.data, one.data.size));
    one.description = smp_strndup((const char *)data, length);
    const bool ok = one.description && smp_tag_attach(reader, &one);
    smp_free(one.description);
    return ok;
}

/* Texts with zeros between them. */
static bool take_ape_texts(smp_reader *reader, const char *name, const char *text, size_t size)
{
    const char *key = smp_tag_key(SMP_TAG(ape), name);
    bool ok = true;
    key = key == name ? smp_tag_key(SMP_TAG(key), name) : key;
    const bool number = !strcmp(key, "TrackNumber") || !strcmp(key, "DISCNUMBER");
    for (size_t at = 0; ok && at < size;) {
        const size_t length = strnlen(text + at, size - at);
        if (length)
            ok = number ? smp_tag_add_number(reader, key, text + at, length)
                        : smp_tag_add(reader, key, text + at, length, NULL);
        at += length + 1;
    }
    return ok;
}

/* Items: a size, flags, a name with its end, a value. */
static bool take_ape(smp_reader *reader, const uint8_t *data, size_t size)
{
    enum { HEAD = 8, KIND = 6, BINARY = 2, MOST_NAME = 256 };
    smp_names lost = {.count = 0};
    bool ok = true;
    for (size_t at = 0; ok && size - at > HEAD;) {
        const size_t length = smp_get_le(data + at, 4);
        const unsigned flags = smp_get_le(data + at + 4, 4);
        const char *name = (const char *)data + at + HEAD;
        const size_t named = strnlen(name, size - at - HEAD);
        at += HEAD + named + 1;
        if (!named || named >= MOST_NAME || at > size || length > size - at) {
            smp_tag_damaged(reader, "APE tag");
            break;
        }
        if ((flags & KIND) != BINARY)
            ok = take_ape_texts(reader, name, name + named + 1, length);
        else if (strncasecmp(name, "Cover Art (", 11) == 0 && memchr(data + at, 0, length))
            ok = take_ape_picture(reader, name, data + at, length);
        else
            smp_names_add(&lost, name);
        at += length;
    }
    if (lost.count)
        smp_note(&reader->notes, "items of its APE tag are left out, which are not text: %s", smp_names_end(&lost));
    return ok;
}

/* The tag's size without a header; 0: it does not fit. */
static uint64_t ape_size(const uint8_t *footer, uint64_t end)
{
    const uint64_t size = smp_get_le(footer + 12, 4);
    return size >= APE && size <= end ? size : 0;
}

typedef struct tails {
    uint64_t ape, ape_end, id3, id3v1; /* where they begin; 0: there is none */
    uint64_t begin;                    /* of the first */
    bool lyrics, unfit;                /* unfit: the APE tag reaches beyond the file's beginning */
} tails;

/* Finds them from the end on, in whatever order; of two of a kind the last. */
static void find(const smp_source *source, tails *t)
{
    uint64_t end = source->size;
    uint8_t b[APE];
    for (int i = 0; i < MOST; i++) {
        uint64_t size = 0;
        if (end > ID3V1 && smp_source_look(source, end - ID3V1, b, 3) && !memcmp(b, "TAG", 3)) {
            size = ID3V1;
            t->id3v1 = t->id3v1 ? t->id3v1 : end - size;
        } else if (end > APE && smp_source_look(source, end - APE, b, APE) && !memcmp(b, "APETAGEX", 8)) {
            size = ape_size(b, end);
            t->unfit = !size && !t->ape;
            t->ape_end = t->ape ? t->ape_end : end - APE;
            t->ape = t->ape || !size ? t->ape : end - size;
            size += size && smp_get_le(b + 20, 4) >> 31 ? APE : 0;
        } else if (end > FOOTER && smp_source_look(source, end - FOOTER, b, FOOTER) && !memcmp(b, "3DI", 3)) {
            size = 2 * FOOTER + (uint64_t)smp_get_syncsafe(b + 6);
            t->id3 = t->id3 || size >= end ? t->id3 : end - size;
        } else
            t->lyrics = end > LYRICS && smp_source_look(source, end - LYRICS, b, LYRICS) &&
                        (!memcmp(b, "LYRICS200", LYRICS) || !memcmp(b, "LYRICSEND", LYRICS));
        if (!size || size >= end)
            break;
        end -= size;
    }
    t->begin = end;
}

uint64_t smp_tail_tags_begin(const smp_source *source)
{
    tails t = {0};
    find(source, &t);
    return t.begin;
}

smp_code smp_tail_tags_take(smp_reader *reader, smp_error *err)
{
    tails t = {0};
    bool memory = true;
    find(&reader->source, &t);
    if (t.lyrics)
        smp_note(&reader->notes, "its Lyrics3 tag is left out");
    const uint64_t size = t.ape ? t.ape_end - t.ape : 0;
    if (t.unfit)
        smp_note(&reader->notes, "its APE tag is damaged: it is left out");
    else if (size > MOST_APE)
        smp_note(&reader->notes, "its APE tag of %llu bytes is left out", (unsigned long long)size);
    else if (size) {
        uint8_t *data = smp_alloc_raw((size_t)size);
        memory = data &&
                 (!smp_source_look(&reader->source, t.ape, data, (size_t)size) || take_ape(reader, data, (size_t)size));
        smp_free(data);
    }
    SMP_NEED(memory, "tags", (size_t)size, err);
    return t.id3 ? smp_id3_take(reader, t.id3, "APE tag", err) : SMP_OK;
}

smp_code smp_id3v1_take(smp_reader *reader, smp_error *err)
{
    tails t = {0};
    smp_meta best, old, *meta = &reader->media.meta;
    uint8_t tag[ID3V1];
    find(&reader->source, &t);
    if (!t.id3v1 || !smp_source_look(&reader->source, t.id3v1, tag, ID3V1))
        return SMP_OK;
    smp_tag_set_aside(reader, &best);
    const bool memory = take_id3v1(reader, tag);
    smp_tag_set_aside(reader, &old);
    meta->texts = best.texts;
    meta->text_count = best.text_count;
    meta->text_capacity = best.text_capacity;
    meta->attached = best.attached;
    meta->attached_count = best.attached_count;
    meta->attached_capacity = best.attached_capacity;
    return smp_tag_merge(reader, &old, NULL) && memory ? SMP_OK : smp_fail_memory(err, "tags", ID3V1);
}
