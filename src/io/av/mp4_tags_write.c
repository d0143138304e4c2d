/* Tags of MP4 files as iTunes writes them: mp4_tags.c reads them. Texts without a name there have one of their own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "io/audio/chapters.h"
#include "io/av/mp4_write.h"

enum { IMPLICIT = 0, TEXT = 1, JPEG = 13, PNG = 14, NUMBER = 21 };

/* Items that are numbers, and their bytes; the others are texts. */
static const struct {
    const char *name;
    int bytes;
} numbers[] = {{"tmpo", 2}, {"cpil", 1}, {"pcst", 1}, {"shwm", 1}, {"\251mvi", 2}, {"\251mvc", 2}, {"tves", 4},
               {"tvsn", 4}, {"rtng", 1}, {"stik", 1}, {"hdvd", 1}, {"plID", 8},    {"atID", 4},    {"cnID", 4},
               {"cmID", 4}, {"sfID", 4}, {"geID", 4}, {"akID", 1}, {"pgap", 1}};

static int bytes_of(const char *name)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!strcmp(numbers[i].name, name))
            return numbers[i].bytes;
    return 0;
}

/* Whether a text is a number without another spelling, below 2 to the `bits`. */
static bool is_number(const char *text, int bits, uint64_t *value)
{
    char again[24];
    *value = strtoull(text, NULL, 10);
    snprintf(again, sizeof again, "%" PRIu64, *value);
    return !strcmp(again, text) && *value >> (bits - 1) >> 1 == 0;
}

static void put_data(smp_bytes *out, int kind, const void *data, size_t size)
{
    const size_t box = smp_mp4_begin(out, "data");
    smp_bytes_be(out, (uint64_t)kind, 4);
    smp_bytes_be(out, 0, 4);
    smp_bytes_add(out, data, size);
    smp_mp4_end(out, box);
}

static void put_named(smp_bytes *out, const char *name, const char *text)
{
    const size_t box = smp_mp4_begin(out, name);
    smp_bytes_be(out, 0, 4);
    smp_bytes_add(out, text, strlen(text));
    smp_mp4_end(out, box);
}

/* The item for a text; null: one of its own name. */
static const char *item_of(const smp_meta *meta, const struct smp_text *text)
{
    const smp_tag_row *row = smp_tag_row_for(meta, text->key);
    const int bytes = row && row->mp4 ? bytes_of(row->mp4) : 0;
    uint64_t value;
    return row && row->mp4 && (!bytes || is_number(text->value, 8 * bytes - 1, &value)) ? row->mp4 : NULL;
}

/* Whether texts a and b go to one item; items: of each text. */
static bool same_item(const smp_meta *meta, const char *const *items, size_t a, size_t b)
{
    const char *one = items[a], *other = items[b];
    return one && other ? !strcmp(one, other) : !one && !other && !strcasecmp(meta->texts[a].key, meta->texts[b].key);
}

/* Puts a number of 16 bits into its place of a pair. False: it is none, or there is one already. */
static bool put_half(uint8_t pair[8], int which, const char *text, size_t length)
{
    char one[24];
    uint64_t value;
    if (length >= sizeof one || smp_get_be(pair + 2 + 2 * which, 2))
        return false;
    memcpy(one, text, length);
    one[length] = '\0';
    if (!is_number(one, 16, &value) || !value)
        return false;
    smp_put_be(pair + 2 + 2 * which, value, 2);
    return true;
}

/* The pair of a number and how many there are (trkn, disk), where both are numbers that fit, and there is one each; or
 * one text has both, "3/9". */
static bool pair_of(const smp_meta *meta, const char *number, const char *total, uint8_t pair[8])
{
    bool fits = true, any = false;
    memset(pair, 0, 8);
    for (size_t i = 0; i < meta->text_count; i++) {
        const char *text = meta->texts[i].value, *slash = strchr(text, '/');
        const smp_tag_row *row = smp_tag_row_for(meta, meta->texts[i].key);
        const int which = row && !strcmp(row->key, number) ? 0 : row && !strcmp(row->key, total) ? 1 : 2;
        if (which == 2)
            continue;
        any = true;
        if (slash && !which)
            fits = put_half(pair, 1, slash + 1, strlen(slash + 1)) && fits;
        fits = put_half(pair, which, text, slash && !which ? (size_t)(slash - text) : strlen(text)) && fits;
    }
    return fits && any;
}

static bool is_in_pair(const smp_meta *meta, const struct smp_text *text, const bool paired[2])
{
    const smp_tag_row *row = smp_tag_row_for(meta, text->key);
    if (!row)
        return false;
    return (paired[0] && (!strcmp(row->key, "TrackNumber") || !strcmp(row->key, "TRACKTOTAL"))) ||
           (paired[1] && (!strcmp(row->key, "DISCNUMBER") || !strcmp(row->key, "DISCTOTAL")));
}

/* All values of an item, where the first of them is. */
static void put_texts(smp_bytes *out, const smp_meta *meta, const char *const *items, size_t first)
{
    const char *name = items[first];
    const int bytes = name ? bytes_of(name) : 0;
    for (size_t i = 0; i < first; i++)
        if (same_item(meta, items, i, first))
            return;
    const size_t box = smp_mp4_begin(out, name ? name : "----");
    if (!name) {
        put_named(out, "mean", "com.apple.iTunes");
        put_named(out, "name", meta->texts[first].key);
    }
    for (size_t i = first; i < meta->text_count; i++) {
        const char *value = meta->texts[i].value;
        uint8_t number[8];
        uint64_t whole;
        if (!same_item(meta, items, i, first))
            continue;
        if (bytes && is_number(value, 64, &whole)) {
            smp_put_be(number, whole, bytes);
            put_data(out, NUMBER, number, (size_t)bytes);
        } else
            put_data(out, TEXT, value, strlen(value));
    }
    smp_mp4_end(out, box);
}

static void put_picture(smp_bytes *out, const smp_attached *one)
{
    const bool png = !strcmp(one->type, "image/png"), jpeg = !strcmp(one->type, "image/jpeg");
    put_data(out, png ? PNG : jpeg ? JPEG : IMPLICIT, one->data.data, one->data.size);
}

/* The front cover comes first: players show that. */
static void put_pictures(smp_bytes *out, const smp_meta *meta)
{
    const smp_attached *cover = smp_meta_cover(meta);
    if (!cover)
        return;
    const size_t box = smp_mp4_begin(out, "covr");
    put_picture(out, cover);
    for (size_t i = 0; i < meta->attached_count; i++)
        if (&meta->attached[i] != cover && !meta->attached[i].frame[0])
            put_picture(out, &meta->attached[i]);
    smp_mp4_end(out, box);
}

/* An item of its own name. */
static void put_own(smp_bytes *out, const char *name, const char *text)
{
    const size_t box = smp_mp4_begin(out, "----");
    put_named(out, "mean", "com.apple.iTunes");
    put_named(out, "name", name);
    put_data(out, TEXT, text, strlen(text));
    smp_mp4_end(out, box);
}

/* How iTunes says what is not heard, for players that do not know edit lists. */
static void put_gapless(smp_bytes *out, const smp_mp4 *mp4)
{
    char text[160];
    const uint64_t padding = mp4->count * (uint64_t)mp4->packet - (uint64_t)(mp4->priming + mp4->frames);
    snprintf(text, sizeof text,
             " 00000000 %08" PRIX64 " %08" PRIX64 " %016" PRIX64 " 00000000 00000000 00000000 "
             "00000000 00000000 00000000 00000000 00000000",
             (uint64_t)mp4->priming, padding, (uint64_t)mp4->frames);
    put_own(out, "iTunSMPB", text);
}

enum { MOST_CHAPTERS = 255, MOST_TITLE = 255 /* bytes */ };

/* Whether the box of chapters has them all. */
static bool holds_chapters(const smp_chapters *list)
{
    bool held = list->count <= MOST_CHAPTERS;
    for (size_t i = 0; held && i < list->count; i++)
        held = !list->items[i].title || strlen(list->items[i].title) <= MOST_TITLE;
    return held;
}

void smp_mp4_note_chapters(smp_writer *writer, const smp_meta *meta)
{
    smp_chapters list;
    if (smp_chapters_of(meta, &list) && !holds_chapters(&list))
        smp_note(&writer->notes, "most players find %d chapters at most, and %d bytes of a title", MOST_CHAPTERS,
                 MOST_TITLE);
    smp_chapters_free(&list);
}

/* Items of their own, as Ogg says chapters. */
static void put_all_chapters(smp_bytes *out, const smp_chapters *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const smp_chapter_texts say = smp_chapter_say(list, i);
        put_own(out, say.key, say.start);
        if (list->items[i].title)
            put_own(out, say.name, list->items[i].title);
    }
}

/* Chapters as Nero has them, in units of 100 ns, which FFmpeg and players read. */
static void put_chapters(smp_bytes *out, const smp_chapters *list)
{
    enum { UNITS = 10000000 };
    const size_t count = list->count < MOST_CHAPTERS ? list->count : MOST_CHAPTERS, box = smp_mp4_begin(out, "chpl");
    smp_bytes_be(out, 1ULL << 56, 8); /* version 1 */
    smp_bytes_be(out, count, 1);
    for (size_t i = 0; i < count; i++) {
        const char *title = list->items[i].title ? list->items[i].title : "";
        size_t length = strnlen(title, MOST_TITLE + 1);
        for (length -= length > MOST_TITLE; length && ((uint8_t)title[length] & 0xC0) == 0x80;) /* whole characters */
            length--;
        smp_bytes_be(out, (uint64_t)(list->items[i].start * UNITS + 0.5), 8);
        smp_bytes_be(out, length, 1);
        smp_bytes_add(out, title, length);
    }
    smp_mp4_end(out, box);
}

void smp_mp4_put_tags(smp_bytes *out, const smp_mp4 *mp4, const smp_meta *meta)
{
    smp_chapters chapters;
    if (mp4->alac && !smp_sound_tagged(meta))
        return;
    out->failed |= !smp_chapters_of(meta, &chapters);
    const size_t user = smp_mp4_begin(out, "udta"), box = smp_mp4_begin(out, "meta");
    smp_bytes_be(out, 0, 4);
    const size_t kind = smp_mp4_begin(out, "hdlr");
    smp_bytes_add(out, "\0\0\0\0\0\0\0\0mdirappl\0\0\0\0\0\0\0\0\0", 25);
    smp_mp4_end(out, kind);
    const size_t list = smp_mp4_begin(out, "ilst");
    if (smp_sound_tagged(meta)) {
        uint8_t track[8], disc[8];
        const bool paired[] = {pair_of(meta, "TrackNumber", "TRACKTOTAL", track),
                               pair_of(meta, "DISCNUMBER", "DISCTOTAL", disc)};
        const char **items = smp_alloc_array(meta->text_count + 1, sizeof *items);
        out->failed |= !items;
        for (size_t i = 0; items && i < meta->text_count; i++)
            items[i] = item_of(meta, &meta->texts[i]);
        for (size_t i = 0; items && i < meta->text_count; i++)
            if (!is_in_pair(meta, &meta->texts[i], paired) && !smp_chapter_is(meta->texts[i].key))
                put_texts(out, meta, items, i);
        smp_free(items);
        if (!holds_chapters(&chapters))
            put_all_chapters(out, &chapters);
        for (int i = 0; i < 2; i++) {
            const size_t item = paired[i] ? smp_mp4_begin(out, i ? "disk" : "trkn") : 0;
            if (paired[i]) {
                put_data(out, IMPLICIT, i ? disc : track, i ? 6 : 8);
                smp_mp4_end(out, item);
            }
        }
        put_pictures(out, meta);
    }
    if (!mp4->alac)
        put_gapless(out, mp4);
    smp_mp4_end(out, list);
    smp_mp4_end(out, box);
    if (chapters.count)
        put_chapters(out, &chapters);
    smp_chapters_free(&chapters);
    smp_mp4_end(out, user);
}
