/* Tags and covers: see tags.h. */
#include "io/audio/tags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/ogg_pages.h"

enum { FRONT = 3 /* the kind of picture that is a front cover */ };
static const char picture_name[] = "METADATA_BLOCK_PICTURE";

bool smp_sound_tagged(const smp_meta *meta)
{
    return meta && (meta->text_count || meta->cover.size);
}

bool smp_sound_add_cover(smp_reader *reader, const char *type, size_t type_length, const void *data, size_t size,
                         bool front)
{
    smp_meta *meta = &reader->media.meta;
    if (!size)
        return true;
    if (meta->cover.size)
        smp_note(&reader->notes, "of several pictures in its tags one is kept");
    if (meta->cover.size && !front)
        return true;
    if (size > SMP_MOST_COVER) {
        smp_note(&reader->notes, "a picture of more than %d MiB in its tags is left out", SMP_MOST_COVER >> 20);
        return true;
    }
    type_length = type_length < sizeof meta->cover_type ? type_length : sizeof meta->cover_type - 1;
    memset(meta->cover_type, 0, sizeof meta->cover_type);
    for (size_t i = 0; i < type_length; i++) /* what else there is is damaged */
        meta->cover_type[i] = type[i] > 32 && type[i] < 127 ? type[i] : '-';
    return smp_blob_set(&meta->cover, data, size);
}

/* ------------------------------------------------------------------------------------------------ reading */

const char *smp_sound_key_of(const char *name)
{
    static const char *const others[][2] = {
        {"DESCRIPTION", "Comment"}, {"ENCODER", "Software"}, {"YEAR", "Date"}, {"TRACK", "TrackNumber"}};
    for (const smp_sound_tag *tag = smp_sound_tags; tag->key; tag++)
        if (strcasecmp(tag->key, name) == 0)
            return tag->key;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcasecmp(others[i][0], name) == 0)
            return others[i][1];
    return name;
}

/* Bytes of base64; what is no letter of it ends it. Returns how many. */
static size_t from_base64(uint8_t *to, const char *text, size_t length)
{
    size_t count = 0;
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                          : c >= 'a' && c <= 'z' ? c - 'a' + 26
                          : c >= '0' && c <= '9' ? c - '0' + 52
                          : c == '+'             ? 62
                          : c == '/'             ? 63
                                                 : -1;
        if (value < 0)
            break;
        bits = bits << 6 | (uint32_t)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            to[count++] = (uint8_t)(bits >> have);
        }
    }
    return count;
}

static bool take_coded_picture(smp_reader *reader, const char *text, size_t length)
{
    uint8_t *block = smp_alloc_raw(length + 1);
    const bool memory = block && smp_sound_take_picture(reader, block, from_base64(block, text, length));
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
        reader->media.meta.sound.mask = (uint32_t)mask;
}

bool smp_sound_take_comments(smp_reader *reader, const uint8_t *data, size_t size)
{
    bool memory = true;
    const size_t vendor = size >= 4 ? smp_get_le(data, 4) : SIZE_MAX;
    if (vendor > size || size - vendor < 8)
        return true;
    size_t at = 8 + vendor;
    for (uint32_t left = smp_get_le(data + at - 4, 4); memory && left && size - at >= 4; left--) {
        enum { MOST_NAME = 100 };
        const size_t length = smp_get_le(data + at, 4);
        const char *text = (const char *)data + at + 4;
        if (length > size - at - 4)
            break;
        const char *equals = memchr(text, '=', length);
        const size_t name_length = equals ? (size_t)(equals - text) : 0;
        char name[MOST_NAME];
        at += 4 + length;
        if (!name_length || name_length >= MOST_NAME)
            continue;
        memcpy(name, text, name_length);
        name[name_length] = '\0';
        const size_t rest = length - name_length - 1;
        if (strcasecmp(name, picture_name) == 0)
            memory = take_coded_picture(reader, equals + 1, rest);
        else if (strcasecmp(name, SMP_FLAC_SPEAKERS) == 0)
            take_speakers(reader, equals + 1, rest);
        else if (rest)
            memory = smp_sound_add_tag(reader, smp_sound_key_of(name), equals + 1, rest);
    }
    return memory;
}

/* A number, a text and a text with their lengths, four numbers, the picture with its length. */
bool smp_sound_take_picture(smp_reader *reader, const uint8_t *data, size_t size)
{
    enum { SIZES = 16 /* bytes of width, height, depth, colours */ };
    size_t at = 4;
    const char *type = NULL;
    size_t type_length = 0;
    for (int i = 0; i < 2; i++) {
        if (size < at + 4)
            return true;
        const size_t length = smp_get_be(data + at, 4);
        if (length > size - at - 4)
            return true;
        if (i == 0)
            type = (const char *)data + at + 4, type_length = length;
        at += 4 + length;
    }
    if (size - at < SIZES + 4)
        return true;
    const size_t length = smp_get_be(data + at + SIZES, 4);
    if (length > size - at - SIZES - 4)
        return true;
    return smp_sound_add_cover(reader, type, type_length, data + at + SIZES + 4, length, smp_get_be(data, 4) == FRONT);
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

smp_code smp_sound_take_flac(smp_reader *reader, smp_error *err)
{
    enum { MARK = 4, MOST_BLOCKS = 1000, COMMENT = 4, PICTURE = 6 };
    uint8_t head[4];
    uint64_t at = MARK;
    for (int i = 0; i < MOST_BLOCKS && smp_sound_look(&reader->source, at, head, 4); i++) {
        const int kind = head[0] & 0x7F;
        const size_t size = smp_get_be(head + 1, 3);
        smp_code code = SMP_OK;
        if (kind == COMMENT)
            code = take_bytes(reader, at + 4, size, smp_sound_take_comments, err);
        else if (kind == PICTURE)
            code = take_bytes(reader, at + 4, size, smp_sound_take_picture, err);
        if (code != SMP_OK || head[0] & 0x80)
            return code;
        at += 4 + size;
    }
    return SMP_OK;
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
    int packets = 0; /* that have ended */
    uint8_t *piece = smp_alloc_raw(PIECE);
    for (int page = 0; piece && page < MOST_PAGES && packets < 2 && from + HEAD <= to; page++) {
        if (!smp_sound_look(&reader->source, from, head, HEAD) || memcmp(head, "OggS", 4) != 0 ||
            !smp_sound_look(&reader->source, from, head, HEAD + (size_t)head[SEGMENTS_AT]))
            break;
        const size_t segments = head[SEGMENTS_AT];
        size_t size = 0, at = 0;
        for (size_t i = 0; i < segments; i++)
            size += head[HEAD + i];
        if (!smp_sound_look(&reader->source, from + HEAD + segments, piece, size))
            break;
        for (size_t i = 0; i < segments && packets < 2; i++) {
            if (packets == 1)
                smp_bytes_add(&packet, piece + at, head[HEAD + i]);
            at += head[HEAD + i];
            packets += head[HEAD + i] < 255;
        }
        from += HEAD + segments + size;
    }
    const bool memory = piece && !packet.failed && (packets < 2 || take_packet(reader, packet.data, packet.size));
    smp_free(piece);
    smp_free(packet.data);
    return memory ? SMP_OK : smp_fail_memory(err, "tags", packet.size);
}

/* ------------------------------------------------------------------------------------------------ writing */

static void put_base64(smp_bytes *out, const uint8_t *data, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        char four[4] = {'=', '=', '=', '='};
        const size_t n = size - i < 3 ? size - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? data[i + k] : 0);
        for (size_t k = 0; k <= n; k++)
            four[k] = letters[bits >> (18 - 6 * k) & 63];
        smp_bytes_add(out, four, 4);
    }
}

/* A name of a Vorbis comment has printable ASCII without '='; a table's key is written in capitals. */
static bool name_of(const char *key, char *name, size_t size)
{
    size_t n = strlen(key);
    bool known = false;
    for (const smp_sound_tag *tag = smp_sound_tags; tag->key; tag++)
        known |= strcmp(tag->key, key) == 0;
    if (!n || n >= size)
        return false;
    for (size_t i = 0; i <= n; i++) {
        name[i] = (char)(known && key[i] >= 'a' && key[i] <= 'z' ? key[i] - 32 : key[i]);
        if (key[i] && (key[i] < 0x20 || key[i] > 0x7D || key[i] == '='))
            return false;
    }
    return true;
}

void smp_sound_put_comments(smp_bytes *out, const smp_meta *meta, bool picture)
{
    uint32_t count = 0;
    smp_bytes list = {0};
    char name[100];
    for (size_t i = 0; meta && i < meta->text_count; i++) {
        const char *value = meta->texts[i].value;
        if (!name_of(meta->texts[i].key, name, sizeof name))
            continue;
        smp_bytes_le(&list, strlen(name) + 1 + strlen(value), 4);
        smp_bytes_add(&list, name, strlen(name));
        smp_bytes_add(&list, "=", 1);
        smp_bytes_add(&list, value, strlen(value));
        count++;
    }
    if (picture && meta && meta->cover.size) {
        smp_bytes block = {0};
        smp_sound_put_picture(&block, meta);
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
void smp_sound_put_picture(smp_bytes *out, const smp_meta *meta)
{
    smp_bytes_be(out, FRONT, 4);
    smp_bytes_be(out, strlen(meta->cover_type), 4);
    smp_bytes_add(out, meta->cover_type, strlen(meta->cover_type));
    for (int i = 0; i < 5; i++) /* and an empty description */
        smp_bytes_be(out, 0, 4);
    smp_bytes_be(out, meta->cover.size, 4);
    smp_bytes_add(out, meta->cover.data, meta->cover.size);
}

/* ID3: frames of these keys; others are TXXX with the key as description. */
static const char *frame_of(const char *key)
{
    static const char *const frames[][2] = {{"Title", "TIT2"},        {"Artist", "TPE1"},      {"Album", "TALB"},
                                            {"Date", "TDRC"},         {"TrackNumber", "TRCK"}, {"Genre", "TCON"},
                                            {"Copyright", "TCOP"},    {"Comment", "COMM"},     {"Software", "TSSE"},
                                            {"ALBUMARTIST", "TPE2"},  {"COMPOSER", "TCOM"},    {"DISCNUMBER", "TPOS"},
                                            {"album_artist", "TPE2"}, {"LYRICS", "USLT"}};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
        if (strcasecmp(frames[i][0], key) == 0)
            return frames[i][1];
    return "TXXX";
}

/* Seven bits a byte. */
static void put_syncsafe(smp_bytes *out, size_t value)
{
    smp_bytes_be(
        out, (value >> 21 & 0x7F) << 24 | (value >> 14 & 0x7F) << 16 | (value >> 7 & 0x7F) << 8 | (value & 0x7F), 4);
}

static void put_frame(smp_bytes *out, const char *id, const smp_bytes *body)
{
    smp_bytes_add(out, id, 4);
    put_syncsafe(out, body->size);
    smp_bytes_be(out, 0, 2);
    smp_bytes_add(out, body->data, body->size);
    out->failed |= body->failed;
}

/* Whether two keys' texts stand in one frame. */
static bool share_frame(const char *one, const char *other)
{
    const char *id = frame_of(one);
    return strcmp(id, frame_of(other)) == 0 && (strcmp(id, "TXXX") != 0 || strcasecmp(one, other) == 0);
}

/* A frame may occur once: further texts of the same follow the first, behind a zero. */
static void put_texts(smp_bytes *out, const smp_meta *meta, size_t first)
{
    const char *key = meta->texts[first].key, *id = frame_of(key);
    smp_bytes body = {0};
    for (size_t i = 0; i < first; i++)
        if (share_frame(meta->texts[i].key, key))
            return;
    smp_bytes_be(&body, 3, 1); /* UTF-8 */
    if (strcmp(id, "COMM") == 0 || strcmp(id, "USLT") == 0)
        smp_bytes_add(&body, "XXX", 4); /* of no language, without a description */
    else if (strcmp(id, "TXXX") == 0)
        smp_bytes_add(&body, key, strlen(key) + 1);
    for (size_t i = first; i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        if (!share_frame(text->key, key))
            continue;
        if (i > first)
            smp_bytes_be(&body, 0, 1);
        smp_bytes_add(&body, text->value, strlen(text->value));
    }
    put_frame(out, id, &body);
    smp_free(body.data);
}

void smp_sound_put_id3(smp_bytes *out, const smp_meta *meta)
{
    smp_bytes frames = {0};
    for (size_t i = 0; i < meta->text_count; i++)
        put_texts(&frames, meta, i);
    if (meta->cover.size) {
        smp_bytes body = {0};
        smp_bytes_be(&body, 0, 1); /* Latin-1 */
        smp_bytes_add(&body, meta->cover_type, strlen(meta->cover_type) + 1);
        smp_bytes_be(&body, FRONT << 8, 2); /* and an empty description */
        smp_bytes_add(&body, meta->cover.data, meta->cover.size);
        put_frame(&frames, "APIC", &body);
        smp_free(body.data);
    }
    smp_bytes_add(out, "ID3\4\0\0", 6);
    put_syncsafe(out, frames.size);
    smp_bytes_add(out, frames.data, frames.size);
    out->failed |= frames.failed;
    smp_free(frames.data);
}

/* ------------------------------------------------------------------------------------------------ what is lost */

/* Which program wrote the input says nothing of the output. */
static bool counts(const struct smp_text *text)
{
    return strcmp(text->key, "Software") != 0 && strcmp(text->key, "ISFT") != 0;
}

void smp_sound_note_lost(smp_writer *writer, const smp_meta *meta, bool (*holds)(const struct smp_text *text),
                         bool cover)
{
    char names[SMP_NOTE_BYTES / 2] = "";
    size_t used = 0;
    int count = 0;
    for (size_t i = 0; meta && holds && i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        if (!counts(text) || holds(text))
            continue;
        if (used + strlen(text->key) + 8 < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", text->key);
        count++;
    }
    const bool picture = meta && meta->cover.size && !cover;
    if (count || picture)
        smp_note(&writer->notes, "%s%s%s left out, which %s %s has no place for", names, count && picture ? ", " : "",
                 picture      ? "the cover picture is"
                 : count == 1 ? " is"
                              : " are",
                 smp_article(writer->format->name), writer->format->name);
}
