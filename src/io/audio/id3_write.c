/* Writes ID3v2.4 tags, in UTF-8. Source: id3.org, "ID3 tag version 2.4.0 - Main Structure" and "- Native Frames". */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "io/audio/chapters.h"
#include "io/audio/tags.h"

/* The frame that a text goes to. */
typedef struct place {
    char id[5];
    const char *name; /* of TXXX, WXXX, COMM and USLT, else ""; of TIPL and TMCL what somebody does */
} place;

/* yyyy-MM-ddTHH:mm:ss, from the left as far as it is known. */
static bool is_time(const char *text)
{
    static const char pattern[] = "dddd-dd-ddTdd:dd:dd";
    static const size_t ends[] = {4, 7, 10, 13, 16, 19};
    const size_t length = strlen(text);
    bool whole = false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        whole = whole || length == ends[i];
    for (size_t i = 0; whole && i < length; i++)
        whole = pattern[i] == 'd' ? text[i] >= '0' && text[i] <= '9'
                                  : text[i] == pattern[i] || (pattern[i] == 'T' && text[i] == ' ');
    return whole;
}

/* Whether a frame can say this value, so that readers find the same. */
static bool suits(const char *id, const char *value)
{
    static const char *const times[] = {"TDRC", "TDOR", "TDRL", "TDEN", "TDTG"};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (!strcmp(id, times[i]))
            return is_time(value);
    if (!strcmp(id, "TCON")) /* numbers and brackets mean other genres */
        return value[0] != '(' && strcmp(value, "RX") != 0 && strcmp(value, "CR") != 0 &&
               strspn(value, "0123456789") != strlen(value);
    for (const char *at = value; id[0] == 'W' && *at; at++) /* Latin-1 */
        if ((unsigned char)*at > 127)
            return false;
    return true;
}

static place place_of(const smp_meta *meta, const struct smp_text *text)
{
    static const struct {
        const char *key, *id, *name;
        bool more; /* the rest of the key is the name */
    } others[] = {{"COMMENT:", "COMM", "", true},
                  {"LYRICS:", "USLT", "", true},
                  {"URL:", "WXXX", "", true},
                  {"URL", "WXXX", "", false},
                  {"PERFORMER:", "TMCL", "", true},
                  {"INVOLVED:", "TIPL", "", true},
                  {"ARRANGER", "TIPL", "arranger", false},
                  {"ENGINEER", "TIPL", "engineer", false},
                  {"PRODUCER", "TIPL", "producer", false},
                  {"DJMIXER", "TIPL", "DJ-mix", false},
                  {"MIXER", "TIPL", "mix", false},
                  {"TXXX", "TXXX", "", false}};
    const smp_tag_row *row = smp_tag_row_for(meta, text->key);
    place to = {"TXXX", text->key};
    if (row && row->id3 && suits(row->id3, text->value)) {
        memcpy(to.id, row->id3, 5);
        to.name = "";
        return to;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const size_t length = strlen(others[i].key);
        if (strncasecmp(text->key, others[i].key, length) != 0 || (text->key[length] != '\0') != others[i].more ||
            !suits(others[i].id, text->value))
            continue;
        memcpy(to.id, others[i].id, 5);
        to.name = others[i].more ? text->key + length : others[i].name;
        return to;
    }
    return to;
}

/* Finds the frame for a text. Values after the first of a frame that holds one go to a frame for any text. */
static place free_place(const smp_meta *meta, size_t index, const place *places)
{
    const struct smp_text *text = &meta->texts[index];
    place to = place_of(meta, text);
    const bool one = to.id[0] == 'W' || !strcmp(to.id, "USLT");
    for (size_t i = 0; one && i < index; i++)
        if (!strcmp(places[i].id, to.id) && !strcmp(places[i].name, to.name) &&
            !strcasecmp(meta->texts[i].language, text->language))
            return (place){"TXXX", text->key};
    return to;
}

/* Seven bits a byte. */
static void put_syncsafe(smp_bytes *out, size_t value)
{
    smp_bytes_be(
        out, (value >> 21 & 0x7F) << 24 | (value >> 14 & 0x7F) << 16 | (value >> 7 & 0x7F) << 8 | (value & 0x7F), 4);
}

static void put_frame(smp_bytes *out, const char *id, const void *body, size_t size)
{
    smp_bytes_add(out, id, 4);
    put_syncsafe(out, size);
    smp_bytes_be(out, 0, 2);
    smp_bytes_add(out, body, size);
}

/* The one text of this key; null: there is none, or several. */
static const char *only(const smp_meta *meta, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < meta->text_count; i++)
        if (!strcasecmp(meta->texts[i].key, key)) {
            if (value)
                return NULL;
            value = meta->texts[i].value;
        }
    return value;
}

/* Returns how many there are, which stands behind the number. Null: it stands elsewhere. */
static const char *total_of(const smp_meta *meta, const char *id)
{
    const bool track = !strcmp(id, "TRCK");
    const char *number = track || !strcmp(id, "TPOS") ? only(meta, track ? "TrackNumber" : "DISCNUMBER") : NULL;
    const char *total = number ? only(meta, track ? "TRACKTOTAL" : "DISCTOTAL") : NULL;
    const bool plain =
        total && *number && *total && !number[strspn(number, "0123456789")] && !total[strspn(total, "0123456789")];
    return plain ? total : NULL;
}

static bool is_total(const smp_meta *meta, const char *key)
{
    return (!strcasecmp(key, "TRACKTOTAL") && total_of(meta, "TRCK")) ||
           (!strcasecmp(key, "DISCTOTAL") && total_of(meta, "TPOS"));
}

/* Texts of one frame; it stands where the first of them is. */
static void put_texts(smp_bytes *out, const smp_meta *meta, size_t first, const place *places)
{
    const place *to = &places[first];
    const bool people = !strcmp(to->id, "TIPL") || !strcmp(to->id, "TMCL"), spoken = strstr("COMM USLT", to->id),
               url = to->id[0] == 'W';
    smp_bytes body = {0};
    if (!url || to->id[1] == 'X')
        smp_bytes_be(&body, 3, 1); /* UTF-8 */
    if (spoken)
        smp_bytes_add(&body, meta->texts[first].language[0] ? meta->texts[first].language : "XXX", 3);
    if (spoken || !strcmp(to->id + 1, "XXX"))
        smp_bytes_add(&body, to->name, strlen(to->name) + 1);
    for (size_t i = 0; i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        const bool same = !strcmp(places[i].id, to->id) && (people || !strcmp(places[i].name, to->name)) &&
                          (!spoken || !strcasecmp(text->language, meta->texts[first].language));
        if (!same || is_total(meta, text->key))
            continue;
        if (i < first) { /* it was written there */
            smp_free(body.data);
            return;
        }
        if (i > first)
            smp_bytes_be(&body, 0, 1);
        if (people)
            smp_bytes_add(&body, places[i].name, strlen(places[i].name) + 1);
        smp_bytes_add(&body, text->value, strlen(text->value));
        const char *total = total_of(meta, to->id);
        if (total) {
            smp_bytes_add(&body, "/", 1);
            smp_bytes_add(&body, total, strlen(total));
        }
    }
    put_frame(out, to->id, body.data, body.size);
    out->failed |= body.failed;
    smp_free(body.data);
}

static void put_attached(smp_bytes *out, const smp_attached *one)
{
    if (one->frame[0]) {
        put_frame(out, one->frame, one->data.data, one->data.size);
        return;
    }
    const char *description = one->description ? one->description : "";
    smp_bytes body = {0};
    smp_bytes_be(&body, *description ? 3 : 0, 1); /* UTF-8; Latin-1 */
    smp_bytes_add(&body, one->type, strlen(one->type) + 1);
    smp_bytes_be(&body, (uint64_t)one->kind, 1);
    smp_bytes_add(&body, description, strlen(description) + 1);
    smp_bytes_add(&body, one->data.data, one->data.size);
    put_frame(out, "APIC", body.data, body.size);
    out->failed |= body.failed;
    smp_free(body.data);
}

static uint64_t milliseconds(double seconds)
{
    return (uint64_t)llround(fmin(fmax(seconds, 0) * 1000, UINT32_MAX));
}

/* A chapter ends where the next one begins, and the last one with the sound. */
static void put_chapters(smp_bytes *out, const smp_chapters *list, double seconds, smp_notes *notes)
{
    enum { MOST = 255 /* that a table of contents has */ };
    if (list->count > MOST)
        smp_note(notes, "some players find its first %d chapters alone: a table of contents has no more", MOST);
    smp_bytes body = {0};
    char name[16];
    smp_bytes_add(&body, "toc\0\3", 5); /* at the top, in this order */
    smp_bytes_be(&body, list->count < MOST ? list->count : MOST, 1);
    for (size_t i = 0; i < list->count && i < MOST; i++)
        smp_bytes_add(&body, name, (size_t)snprintf(name, sizeof name, "ch%03zu", i + 1) + 1);
    put_frame(out, "CTOC", body.data, body.size);
    for (size_t i = 0; i < list->count; i++) {
        const smp_chapter *one = &list->items[i];
        const double end = i + 1 < list->count ? list->items[i + 1].start : fmax(seconds, one->start);
        smp_bytes text = {0};
        body.size = 0;
        smp_bytes_add(&body, name, (size_t)snprintf(name, sizeof name, "ch%03zu", i + 1) + 1);
        smp_bytes_be(&body, milliseconds(one->start), 4);
        smp_bytes_be(&body, milliseconds(end), 4);
        smp_bytes_be(&body, UINT64_MAX, 8); /* no places in the file */
        smp_bytes_be(&text, 3, 1);          /* UTF-8 */
        if (one->title) {
            smp_bytes_add(&text, one->title, strlen(one->title));
            put_frame(&body, "TIT2", text.data, text.size);
        }
        put_frame(out, "CHAP", body.data, body.size);
        out->failed |= body.failed || text.failed;
        smp_free(text.data);
    }
    smp_free(body.data);
}

void smp_id3_put(smp_bytes *out, const smp_meta *meta, double seconds, smp_notes *notes)
{
    enum { HEADER = 10 /* bytes of a frame's */ };
    smp_bytes frames = {0};
    smp_chapters chapters;
    place *places = smp_alloc_array(meta->text_count + 1, sizeof *places);
    const bool memory = smp_chapters_of(meta, &chapters);
    bool said = seconds < 0 && !chapters.more; /* by texts, or elsewhere: frames of the input go */
    for (size_t i = 0; i < meta->text_count; i++)
        said = said || smp_chapter_is(meta->texts[i].key);
    for (size_t i = 0; places && i < meta->text_count; i++)
        places[i] = free_place(meta, i, places);
    for (size_t i = 0; places && i < meta->text_count; i++)
        if (!is_total(meta, meta->texts[i].key) && !smp_chapter_is(meta->texts[i].key))
            put_texts(&frames, meta, i, places);
    for (size_t i = 0; i < meta->attached_count; i++)
        if (!said || !smp_chapter_is_frame(&meta->attached[i]))
            put_attached(&frames, &meta->attached[i]);
    if (said && chapters.count && seconds >= 0)
        put_chapters(&frames, &chapters, seconds, notes);
    smp_bytes_add(&frames, (uint8_t[HEADER]){0}, HEADER); /* exiftool calls a long frame without it damaged */
    smp_bytes_add(out, "ID3\4\0\0", 6);
    put_syncsafe(out, frames.size);
    smp_bytes_add(out, frames.data, frames.size);
    out->failed |= frames.failed || !places || !memory;
    smp_chapters_free(&chapters);
    smp_free_all(frames.data, places);
}

void smp_id3_put_chunk(smp_bytes *out, const char *name, smp_writer *writer, const smp_meta *meta, bool big)
{
    smp_bytes tag = {0};
    smp_id3_put(&tag, meta, big ? smp_sound_seconds(writer) : -1, &writer->notes);
    smp_bytes_chunk(out, name, tag.size, 4, big);
    smp_bytes_add(out, tag.data, tag.size);
    smp_bytes_le(out, 0, (int)(tag.size & 1));
    out->failed |= tag.failed;
    smp_free(tag.data);
}
