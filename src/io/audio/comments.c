/* Vorbis comments, which FLAC and Ogg have, and FLAC's pictures. Sources: Xiph, "Ogg Vorbis I format specification:
 * comment field and header specification"; RFC 9639, 8.6 and 8.8 (comments, pictures). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/chapters.h"
#include "io/audio/ogg_pages.h"
#include "io/audio/tags.h"
#include "io/bytes.h"

static const char picture_name[] = "METADATA_BLOCK_PICTURE";

/* ------------------------------------------------------------------------------------------------ reading */

static bool take_coded_picture(smp_reader *reader, const char *text, size_t length)
{
    uint8_t *block = smp_alloc_raw(length + 1);
    const bool memory = block && smp_sound_take_picture(reader, block, smp_from_base64(block, text, length));
    smp_free(block);
    return memory;
}

/* A mask that does not fit stands for the usual places. */
static void take_speakers(smp_reader *reader, const char *text, size_t length)
{
    char digits[12];
    snprintf(digits, sizeof digits, "%.*s", (int)smp_min_u64(length, sizeof digits), text);
    const unsigned long mask = strtoul(digits, NULL, 16);
    if (mask <= UINT32_MAX && smp_sound_mask_fits((uint32_t)mask, reader->media.shape.channels))
        reader->media.meta.coding.sound.mask = (uint32_t)mask;
}

/* Returns a comment's key. The input's encoder did not encode the output, so its name becomes Software. */
static const char *key_of(const char *name)
{
    return strcasecmp(name, "ENCODER") == 0 ? "Software" : smp_tag_key(SMP_TAG(key), name);
}

bool smp_sound_take_comments(smp_reader *reader, const uint8_t *data, size_t size)
{
    enum { MOST_NAME = 1000 };
    bool memory = true;
    int lost = 0;
    const size_t vendor = size >= 4 ? smp_get_le(data, 4) : SIZE_MAX;
    if (vendor > size || size - vendor < 8)
        return true;
    size_t at = 8 + vendor;
    for (uint32_t left = smp_get_le(data + at - 4, 4); memory && left && size - at >= 4; left--) {
        const size_t length = smp_get_le(data + at, 4);
        const char *text = (const char *)data + at + 4;
        if (length > size - at - 4) {
            smp_tag_damaged(reader, "list of comments");
            break;
        }
        const char *equals = memchr(text, '=', length);
        const size_t name_length = equals ? (size_t)(equals - text) : 0;
        char name[MOST_NAME];
        at += 4 + length;
        if (!name_length || name_length >= MOST_NAME) {
            lost += length > 0;
            continue;
        }
        memcpy(name, text, name_length);
        name[name_length] = '\0';
        const size_t rest = length - name_length - 1;
        if (strcasecmp(name, picture_name) == 0)
            memory = take_coded_picture(reader, equals + 1, rest);
        else if (strcasecmp(name, SMP_FLAC_SPEAKERS) == 0)
            take_speakers(reader, equals + 1, rest);
        else
            memory = smp_tag_add(reader, key_of(name), equals + 1, rest, NULL);
    }
    if (lost)
        smp_note(&reader->notes, "%d of its comments are left out: they have no name, or a very long one", lost);
    return memory;
}

static bool lose_picture(smp_reader *reader)
{
    smp_note(&reader->notes, "a picture of its tags is damaged, and left out");
    return true;
}

/* A number, a text and a text with their lengths, four numbers, the picture with its length. */
bool smp_sound_take_picture(smp_reader *reader, const uint8_t *data, size_t size)
{
    enum { SIZES = 16 /* bytes of width, height, depth, colours */ };
    size_t at = 4, lengths[2] = {0};
    const char *texts[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        if (size < at + 4)
            return lose_picture(reader);
        lengths[i] = smp_get_be(data + at, 4);
        if (lengths[i] > size - at - 4)
            return lose_picture(reader);
        texts[i] = (const char *)data + at + 4;
        at += 4 + lengths[i];
    }
    if (size - at < SIZES + 4)
        return lose_picture(reader);
    const size_t length = smp_get_be(data + at + SIZES, 4);
    if (length > size - at - SIZES - 4)
        return lose_picture(reader);
    smp_attached one = {.kind = (int)smp_min_u64(smp_get_be(data, 4), 255)};
    for (size_t i = 0; i < lengths[0] && i + 1 < sizeof one.type; i++) /* what else there is is damaged */
        one.type[i] = texts[0][i] > 32 && texts[0][i] < 127 ? texts[0][i] : '-';
    one.description = smp_strndup(texts[1], lengths[1]);
    one.data = (smp_blob){(unsigned char *)data + at + SIZES + 4, length};
    const bool memory = one.description && smp_tag_attach(reader, &one);
    smp_free(one.description);
    return memory;
}

/* Reads `size` bytes and gives them to `take`. */
static smp_code take_bytes(smp_reader *reader, uint64_t at, size_t size,
                           bool (*take)(smp_reader *reader, const uint8_t *data, size_t size), smp_error *err)
{
    uint8_t *data = smp_alloc_raw(size + 1);
    const bool memory = data && (!smp_sound_look(&reader->source, at, data, size) || take(reader, data, size));
    smp_free(data);
    return memory ? SMP_OK : smp_fail_memory(err, "tags", size);
}

/* A CUESHEET: tracks of a disc, which become chapters where comments say none. */
static bool take_cuesheet(smp_reader *reader, const uint8_t *data, size_t size)
{
    enum { HEAD = 396, TRACK = 36, INDEX = 12, LEAD_OUT = 170, LEAD_OUT_FILE = 255 };
    smp_chapters list = {0};
    bool memory = true;
    size_t at = HEAD;
    for (int left = size >= HEAD ? data[HEAD - 1] : 0; memory && left && size - at >= TRACK; left--) {
        const uint8_t *track = data + at;
        const size_t indices = track[TRACK - 1];
        uint64_t start = smp_get_bytes(track, 8, true);
        at += TRACK;
        for (size_t i = 0; i < indices && size - at >= INDEX; i++, at += INDEX)
            start += data[at + 8] == 1 ? smp_get_bytes(data + at, 8, true) : 0;
        if (track[8] != LEAD_OUT && track[8] != LEAD_OUT_FILE)
            memory = smp_chapters_add(&list, (double)start / reader->media.shape.rate, NULL, 0);
    }
    memory = memory && smp_chapters_take(reader, &list);
    smp_chapters_free(&list);
    return memory;
}

smp_code smp_sound_take_flac(smp_reader *reader, smp_error *err)
{
    enum { MARK = 4, MOST_BLOCKS = 1000, APPLICATION = 2, COMMENT = 4, CUESHEET = 5, PICTURE = 6 };
    uint8_t head[4];
    uint64_t at = MARK, cues = 0;
    size_t cue_size = 0;
    for (int i = 0; i < MOST_BLOCKS && smp_sound_look(&reader->source, at, head, 4); i++) {
        const int kind = head[0] & 0x7F;
        const size_t size = smp_get_be(head + 1, 3);
        if (kind == COMMENT)
            SMP_TRY(take_bytes(reader, at + 4, size, smp_sound_take_comments, err));
        else if (kind == PICTURE)
            SMP_TRY(take_bytes(reader, at + 4, size, smp_sound_take_picture, err));
        else if (kind == APPLICATION)
            smp_note(&reader->notes, "its block of kind APPLICATION is left out");
        else if (kind == CUESHEET) {
            smp_note(&reader->notes,
                     "its block of kind CUESHEET becomes chapters: ISRC, CATALOG and more are left out");
            cues = at + 4;
            cue_size = size;
        }
        if (head[0] & 0x80)
            break;
        at += 4 + size;
    }
    return cues ? take_bytes(reader, cues, cue_size, take_cuesheet, err) : SMP_OK;
}

/* The packet begins with a mark of its coding. */
static bool take_packet(smp_reader *reader, const uint8_t *data, size_t size)
{
    static const struct {
        size_t length;
        const char *mark;
    } marks[] = {{7, "\3vorbis"}, {8, "OpusTags"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (size >= marks[i].length && memcmp(data, marks[i].mark, marks[i].length) == 0)
            return smp_sound_take_comments(reader, data + marks[i].length, size - marks[i].length);
    return size < 4 || (data[0] & 0x7F) != 4 || smp_sound_take_comments(reader, data + 4, size - 4); /* FLAC */
}

smp_code smp_sound_take_ogg(smp_reader *reader, uint64_t from, uint64_t to, smp_error *err)
{
    enum { HEAD = SMP_OGG_HEADER, SEGMENTS_AT = SMP_OGG_SEGMENTS_AT, MOST_PAGES = 300, PIECE = 255 * 255 };
    uint8_t head[HEAD + 255];
    smp_bytes packet = {0};
    int packets = 0, headers = 3; /* packets that have ended, and that are no sound */
    uint8_t *piece = smp_alloc_raw(PIECE);
    reader->media.copies = false;
    for (int page = 0; piece && page < MOST_PAGES && packets < headers && from + HEAD <= to; page++) {
        if (!smp_sound_look(&reader->source, from, head, HEAD) || memcmp(head, "OggS", 4) != 0 ||
            !smp_sound_look(&reader->source, from, head, HEAD + (size_t)head[SEGMENTS_AT]))
            break;
        const size_t segments = head[SEGMENTS_AT];
        size_t size = 0, at = 0, i = 0;
        for (size_t k = 0; k < segments; k++)
            size += head[HEAD + k];
        if (!smp_sound_look(&reader->source, from + HEAD + segments, piece, size))
            break;
        if (page == 0 && size > 4 && !memcmp(piece, "Opus", 4))
            headers = 2;
        for (; i < segments && packets < headers; i++) {
            if (packets == 1)
                smp_bytes_add(&packet, piece + at, head[HEAD + i]);
            at += head[HEAD + i];
            packets += head[HEAD + i] < 255;
        }
        reader->media.copies = packets == headers && i == segments; /* sound begins on a page of its own */
        from += HEAD + segments + size;
    }
    const size_t mark = headers == 2 ? 8 : 7;
    reader->media.copies &= packet.size >= mark + 4 && smp_get_le(packet.data + mark, 4) <= packet.size - mark - 4;
    const bool memory = piece && !packet.failed && (packets < 2 || take_packet(reader, packet.data, packet.size));
    smp_free_all(piece, packet.data);
    return memory ? SMP_OK : smp_fail_memory(err, "tags", packet.size);
}

/* ------------------------------------------------------------------------------------------------ writing */

static void put_base64(smp_bytes *out, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i += 3) {
        char four[4];
        smp_to_base64(four, data + i, size - i);
        smp_bytes_add(out, four, 4);
    }
}

/* A name of a Vorbis comment has printable ASCII without '='; a table's key is written in capitals. */
bool smp_comment_holds(const smp_meta *, const struct smp_text *text)
{
    for (const char *at = text->key; *at; at++)
        if (*at < 0x20 || *at > 0x7D || *at == '=')
            return false;
    return text->key[0];
}

static void put_name(smp_bytes *out, const char *key)
{
    bool known = false;
    for (const smp_tag_row *row = smp_tag_rows; row->key; row++)
        known |= strcmp(row->key, key) == 0;
    for (const char *at = key; *at; at++)
        smp_bytes_le(out, (uint64_t)(known && *at >= 'a' && *at <= 'z' ? *at - 32 : *at), 1);
}

static void put_comment(smp_bytes *out, const char *key, const char *value, uint32_t *count)
{
    smp_bytes_le(out, strlen(key) + 1 + strlen(value), 4);
    put_name(out, key);
    smp_bytes_add(out, "=", 1);
    smp_bytes_add(out, value, strlen(value));
    ++*count;
}

/* Chapters that frames say. */
static void put_chapters(smp_bytes *out, const smp_meta *meta, uint32_t *count)
{
    smp_chapters list;
    out->failed |= !smp_chapters_of(meta, &list);
    for (size_t i = 0; i < list.count; i++) {
        const smp_chapter_texts say = smp_chapter_say(&list, i);
        put_comment(out, say.key, say.start, count);
        if (list.items[i].title)
            put_comment(out, say.name, list.items[i].title, count);
    }
    smp_chapters_free(&list);
}

void smp_sound_put_comments(smp_bytes *out, const smp_meta *meta, bool pictures)
{
    uint32_t count = 0;
    smp_bytes list = {0};
    bool said = false; /* chapters, by texts */
    for (size_t i = 0; meta && i < meta->text_count; i++) {
        said = said || smp_chapter_is(meta->texts[i].key);
        if (smp_comment_holds(meta, &meta->texts[i]))
            put_comment(&list, meta->texts[i].key, meta->texts[i].value, &count);
    }
    if (!said)
        put_chapters(&list, meta, &count);
    for (size_t i = 0; pictures && meta && i < meta->attached_count; i++) {
        smp_bytes block = {0};
        if (meta->attached[i].frame[0])
            continue;
        smp_sound_put_picture(&block, &meta->attached[i]);
        smp_bytes_le(&list, sizeof picture_name + (block.size + 2) / 3 * 4, 4);
        smp_bytes_add(&list, picture_name, sizeof picture_name - 1);
        smp_bytes_add(&list, "=", 1);
        if (!block.failed)
            put_base64(&list, block.data, block.size);
        list.failed |= block.failed;
        smp_free(block.data);
        count++;
    }
    smp_bytes_le(out, count, 4);
    smp_bytes_add(out, list.data, list.size);
    out->failed |= list.failed;
    smp_free(list.data);
}

/* Width, height, depth and colours may be 0: unknown. */
void smp_sound_put_picture(smp_bytes *out, const smp_attached *picture)
{
    const char *description = picture->description ? picture->description : "";
    smp_bytes_be(out, (uint64_t)picture->kind, 4);
    smp_bytes_be(out, strlen(picture->type), 4);
    smp_bytes_add(out, picture->type, strlen(picture->type));
    smp_bytes_be(out, strlen(description), 4);
    smp_bytes_add(out, description, strlen(description));
    for (int i = 0; i < 4; i++)
        smp_bytes_be(out, 0, 4);
    smp_bytes_be(out, picture->data.size, 4);
    smp_bytes_add(out, picture->data.data, picture->data.size);
}
