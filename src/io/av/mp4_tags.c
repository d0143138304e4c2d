/* The tags of MP4 files as iTunes writes them: several values, numbers and pictures, of which FFmpeg gives the first.
 * Sources: Apple, "QuickTime File Format", "Metadata"; mutagen.readthedocs.io, "MP4". */
#include "io/av/mp4_tags.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/audio/tags.h"

enum {
    HEAD = 8,             /* bytes of a box before its body */
    LONG_HEAD = 16,       /* of one that is longer than 4 GB */
    DATA = 16,            /* of a value before it */
    MOST_BOXES = 1 << 16, /* in a box */
    MOST_ITEM = 1 << 26   /* bytes */
};

/* Kinds of values. */
enum { IMPLICIT = 0, TEXT = 1, SIGNED = 21, UNSIGNED = 22 };

bool smp_box_at(const smp_source *source, uint64_t at, uint64_t end, smp_box *b)
{
    uint8_t head[LONG_HEAD];
    if (at > end || end - at < HEAD || !smp_source_look(source, at, head, HEAD))
        return false;
    uint64_t size = smp_get_be(head, 4), begin = HEAD;
    if (size == 1 && smp_source_look(source, at, head, LONG_HEAD)) {
        size = smp_get_bytes(head + HEAD, 8, true);
        begin = LONG_HEAD;
    }
    size = size ? size : end - at;
    if (size < begin || size > end - at)
        return false;
    memcpy(b->name, head + 4, 4);
    b->name[4] = '\0';
    b->at = at + begin;
    b->end = at + size;
    return true;
}

/* Goes into the box of that name. */
static bool enter(const smp_source *source, smp_box *in, const char *name)
{
    smp_box one;
    uint64_t at = in->at;
    for (int i = 0; i < MOST_BOXES && smp_box_at(source, at, in->end, &one); i++) {
        if (strcmp(one.name, name) == 0) {
            *in = one;
            return true;
        }
        at = one.end;
    }
    return false;
}

/* A number, or how many there are. */
static bool add_number(smp_reader *reader, const char *key, uint64_t value)
{
    char text[24];
    const int length = snprintf(text, sizeof text, "%lld", (long long)value);
    return smp_tag_add(reader, key, text, (size_t)length, NULL);
}

static bool add_pair(smp_reader *reader, bool track, const uint8_t *data, size_t size)
{
    const uint32_t number = size >= 4 ? smp_get_be(data + 2, 2) : 0, total = size >= 6 ? smp_get_be(data + 4, 2) : 0;
    return (!number || add_number(reader, track ? "TrackNumber" : "DISCNUMBER", number)) &&
           (!total || add_number(reader, track ? "TRACKTOTAL" : "DISCTOTAL", total));
}

static bool add_picture(smp_reader *reader, const uint8_t *data, size_t size)
{
    const bool first = !smp_meta_cover(&reader->media.meta);
    smp_attached one = {.kind = first ? SMP_FRONT_COVER : 0, .data = {(unsigned char *)data, size}};
    snprintf(one.type, sizeof one.type, "%s", smp_picture_type(data, size));
    return smp_tag_attach(reader, &one);
}

/* One value of an item. key: of a text or a number. */
static bool add_value(smp_reader *reader, const char *name, const char *key, unsigned kind, const uint8_t *data,
                      size_t size, smp_names *lost)
{
    if (!strcmp(name, "trkn") || !strcmp(name, "disk"))
        return add_pair(reader, name[0] == 't', data, size);
    if (!strcmp(name, "covr"))
        return add_picture(reader, data, size);
    if (!strcmp(name, "gnre")) {
        const char *genre = size == 2 ? smp_genre_name(smp_get_be(data, 2) - 1) : NULL;
        if (genre)
            return smp_tag_add(reader, "Genre", genre, strlen(genre), NULL);
    }
    const bool whole =
        kind == SIGNED || kind == UNSIGNED || (kind == IMPLICIT && size <= 8 && strcmp(name, "----") != 0);
    if (kind == TEXT)
        return smp_tag_add(reader, key, (const char *)data, size, NULL);
    if (whole && size && size <= 8) {
        uint64_t value = smp_get_bytes(data, (int)size, true);
        if (kind != UNSIGNED && size < 8 && value >> (8 * size - 1))
            value -= UINT64_C(1) << 8 * size;
        return add_number(reader, key, value);
    }
    smp_names_add(lost, key);
    return true;
}

/* The key of an item; "": it is about the coded sound, and says nothing of the samples. */
static void name_item(const char *name, const char *own, char *key, size_t size)
{
    static const char *const coding[] = {"iTunSMPB", "iTunPGAP"};
    const char *known = smp_tag_key(own[0] ? SMP_TAG(key) : SMP_TAG(mp4), own[0] ? own : name);
    if (known == name)
        snprintf(key, size, "MP4:%.4s", name + ((uint8_t)name[0] == 0xA9));
    else
        snprintf(key, size, "%s", known);
    for (size_t i = 0; i < sizeof coding / sizeof coding[0]; i++)
        if (!strcmp(known, coding[i]))
            key[0] = '\0';
}

static bool take_item(smp_reader *reader, const char *name, const uint8_t *data, size_t size, smp_names *lost)
{
    char own[256] = "", key[256];
    bool ok = true;
    for (size_t at = 0; ok && size - at >= HEAD;) {
        const size_t length = smp_get_be(data + at, 4);
        if (length < HEAD || length > size - at)
            break;
        const uint8_t *part = data + at;
        if (!memcmp(part + 4, "name", 4) && length > HEAD + 4)
            snprintf(own, sizeof own, "%.*s", (int)(length - HEAD - 4), (const char *)part + HEAD + 4);
        name_item(name, own, key, sizeof key);
        if (!memcmp(part + 4, "data", 4) && length >= DATA && key[0])
            ok = add_value(reader, name, key, smp_get_be(part + HEAD, 4) & 0xFFFFFF, part + DATA, length - DATA, lost);
        at += length;
    }
    return ok;
}

bool smp_mp4_take_tags(smp_reader *reader, bool *found)
{
    enum { VERSION = 4 };
    const smp_source *source = &reader->source;
    smp_box b = {.end = source->size}, item;
    smp_names lost = {.count = 0};
    bool ok = true;
    *found = false;
    if (!enter(source, &b, "moov") || !enter(source, &b, "udta") || !enter(source, &b, "meta"))
        return true;
    b.at += VERSION;
    if (!enter(source, &b, "ilst"))
        return true;
    uint64_t at = b.at;
    for (int i = 0; ok && i < MOST_BOXES && smp_box_at(source, at, b.end, &item) && item.name[0]; i++) {
        const uint64_t size = item.end - item.at;
        uint8_t *data = size <= MOST_ITEM ? smp_alloc_raw((size_t)size + 1) : NULL;
        if (data && smp_source_look(source, item.at, data, (size_t)size))
            ok = take_item(reader, item.name, data, (size_t)size, &lost);
        else if (size > MOST_ITEM)
            smp_names_add(&lost, item.name);
        ok = ok && (data || size > MOST_ITEM);
        smp_free(data);
        *found = true;
        at = item.end;
    }
    if (lost.count)
        smp_note(&reader->notes, "items of its tags are left out, which are neither texts nor numbers: %s",
                 smp_names_end(&lost));
    return ok;
}

/* Goes into a box's box, and that one's: names of four letters, one behind the other. */
static bool enter_all(const smp_source *source, smp_box *in, const char *names)
{
    bool found = true;
    for (char name[5] = ""; found && *names; names += 4) {
        memcpy(name, names, 4);
        found = enter(source, in, name);
    }
    return found;
}

int64_t smp_mp4_heard(const smp_source *source, int rate)
{
    enum { FULL = 4, COUNT = 4, KIND = 8, BODY = 32 };
    uint8_t head[BODY] = {0}, edit[BODY] = {0}, kind[KIND + 4] = {0};
    smp_box track = {.end = source->size};
    if (!enter_all(source, &track, "moovtrak"))
        return 0;
    smp_box edits = track, times = track, handler = track;
    if (!enter_all(source, &edits, "edtselst") || !enter_all(source, &times, "mdiamdhd") ||
        !enter_all(source, &handler, "mdiahdlr") || !smp_source_look(source, handler.at, kind, sizeof kind) ||
        memcmp(kind + KIND, "soun", 4) != 0 || edits.end - edits.at < FULL + COUNT + 12 ||
        !smp_source_look(source, edits.at, edit, FULL + COUNT + 12) || smp_get_be(edit + FULL, COUNT) != 1 ||
        times.end - times.at < FULL + 16 || !smp_source_look(source, times.at, head, FULL + 16) || edit[0] || head[0])
        return 0;
    const int64_t skipped = (int32_t)smp_get_be(edit + FULL + COUNT + 4, 4), all = smp_get_be(head + FULL + 12, 4);
    return smp_get_be(head + FULL + 8, 4) == (uint32_t)rate && skipped >= 0 && all > skipped ? all - skipped : 0;
}
