/* CAF (Core Audio Format): PCM of both byte orders, float, A-law and mu-law samples, channel bitmaps, texts. Source:
 * Apple, "Apple Core Audio Format Specification 1.0". Sizes have 8 bytes; that of the samples may be unknown. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/chapters.h"
#include "io/audio/tags.h"
#include "io/av/av_library.h"

enum {
    BEGIN = 8, /* bytes of the file before its first chunk */
    DESC = 32, /* bytes of the description */
    EDITS = 4, /* bytes in front of the samples */
    FLOAT = 1, /* flags of the description */
    LITTLE = 2,
    BITMAP = 1 << 16,   /* the layout that is a bitmap of speakers, WAV's */
    MOST_TEXT = 1 << 22 /* bytes of all texts */
};
#define OPEN UINT64_MAX /* the size of samples that go on to the end */

typedef struct header {
    bool has_format, has_data;
    double rate;
    char kind[4];
    unsigned flags, packet, frames, channels, bits; /* packet: bytes */
    uint32_t mask;
    uint64_t data_at, data_size; /* bytes */
    bool open_end;
} header;

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= BEGIN && memcmp(head, "caff\0\1", 6) == 0 && !smp_av_sniff(head, size);
}

/* ------------------------------------------------------------------------------------------------ reading */

static smp_code take_format(header *h, smp_source *source, uint64_t at, uint64_t size, smp_error *err)
{
    uint8_t f[DESC];
    if (h->has_format || size < DESC || !smp_sound_look(source, at, f, DESC))
        return smp_fail(err, SMP_E_DECODE, "the CAF is damaged: its format is incomplete or there twice");
    const uint64_t rate = smp_get_bytes(f, 8, true);
    memcpy(&h->rate, &rate, sizeof h->rate);
    memcpy(h->kind, f + 8, 4);
    h->has_format = true;
    h->flags = smp_get_be(f + 12, 4);
    h->packet = smp_get_be(f + 16, 4);
    h->frames = smp_get_be(f + 20, 4);
    h->channels = smp_get_be(f + 24, 4);
    h->bits = smp_get_be(f + 28, 4);
    return SMP_OK;
}

/* A number of pairs of texts, each with its end. Damage in here does not make the sound unreadable. */
static bool take_texts(smp_reader *reader, uint64_t at, uint64_t size)
{
    char *data = size > 4 && size <= MOST_TEXT ? smp_alloc_raw((size_t)size) : NULL;
    bool memory = data || size <= 4 || size > MOST_TEXT;
    if (data && smp_sound_look(&reader->source, at, data, (size_t)size))
        for (size_t i = 4; memory && i < size;) {
            const char *key = data + i, *value;
            i += strnlen(key, (size_t)size - i) + 1;
            value = data + i;
            if (i >= size) {
                smp_tag_damaged(reader, "list of texts");
                break;
            }
            const size_t length = strnlen(value, (size_t)size - i);
            i += length + 1;
            const char *known = smp_tag_key(SMP_TAG(caf), key);
            if (known == key) /* ffmpeg writes names of its own */
                known = smp_tag_any_key(key);
            if (length)
                memory = smp_tag_add(reader, known, value, length, NULL);
        }
    smp_free(data);
    return memory;
}

static smp_code take_data(header *h, smp_source *source, uint64_t at, uint64_t size, smp_error *err)
{
    h->has_data = true;
    h->open_end = size == OPEN;
    h->data_at = at + EDITS;
    if (!h->open_end && size < EDITS)
        return smp_fail(err, SMP_E_DECODE, "the CAF ends before its samples: it is truncated, or holds none");
    h->data_size = h->open_end ? 0 : size - EDITS;
    return h->has_format ? SMP_OK : smp_source_spool(source, err); /* a pipe cannot seek back to them */
}

static smp_code take_chunk(header *h, smp_reader *reader, const smp_chunks *c, smp_error *err)
{
    uint8_t layout[8];
    if (smp_chunk_is(c, "desc") && !(h->has_format && h->has_data)) /* what lies behind the samples fails nothing */
        return take_format(h, &reader->source, c->body, c->size, err);
    if (smp_chunk_is(c, "chan") && c->size >= 8 && smp_sound_look(&reader->source, c->body, layout, 8) &&
        smp_get_be(layout, 4) == BITMAP)
        h->mask = smp_get_be(layout + 4, 4);
    if (smp_chunk_is(c, "info") && c->size > MOST_TEXT)
        smp_note(&reader->notes, "its %llu bytes of tags are left out", (unsigned long long)c->size);
    if (smp_chunk_is(c, "info") && !take_texts(reader, c->body, c->size))
        return smp_fail_memory(err, "tags", c->size);
    return SMP_OK;
}

/* Walks the chunks to the samples, and past them where the input can seek: texts often follow. */
static smp_code walk(header *h, smp_reader *reader, smp_error *err)
{
    smp_source *source = &reader->source;
    smp_chunks c = {.kind = "CAF", .name = 4, .bytes = 8, .big = true, .at = BEGIN};
    smp_code code;
    while ((code = smp_chunk_next(&c, source, err)) == SMP_OK && c.found) {
        const bool data = smp_chunk_is(&c, "data") && !h->has_data;
        if (data)
            code = take_data(h, source, c.body, c.size, err);
        if (code == SMP_OK && data && h->has_format && (h->open_end || !source->seekable))
            return SMP_OK;
        const bool behind = !data && h->has_format && h->has_data; /* there nothing fails */
        if (behind && source->size != UINT64_MAX && c.size > source->size - c.body) {
            smp_sound_note_behind(reader, c.at); /* it is no chunk */
            return SMP_OK;
        }
        const bool countable = c.size <= INT64_MAX / 2 && c.at <= INT64_MAX / 4;
        if (behind && !countable)
            return SMP_OK;
        if (code == SMP_OK && !countable)
            code = smp_fail(err, SMP_E_DECODE, "the CAF is damaged: a chunk is larger than can be counted");
        if (code == SMP_OK && !data)
            code = smp_chunk_reach(source, c.body + c.size, err);
        if (code == SMP_OK && !data)
            code = take_chunk(h, reader, &c, err);
        if (code == SMP_OK && (data ? !reader->options.no_verify : !h->has_data))
            code = smp_sound_hint_cut(smp_check_size(source, c.body + c.size, err), err);
        if (code != SMP_OK)
            return code;
        c.at = c.body + c.size;
    }
    if (code || (h->has_format && h->has_data))
        return code;
    return smp_chunks_ended(&c, source, h->has_format ? "samples" : "format", err);
}

/* Codes of fewer bits than their bytes are in the high bits, and the bytes are read as they are. */
static smp_code choose_type(const header *h, int *type, smp_error *err)
{
    static const int codes[] = {SMP_SOUND_NONE, SMP_SOUND_S8, SMP_SOUND_S16, SMP_SOUND_S24, SMP_SOUND_S32};
    const unsigned bytes = h->channels ? h->packet / h->channels : 0;
    const bool plain = memcmp(h->kind, "lpcm", 4) == 0, real = h->flags & FLOAT, one = h->frames == 1;
    *type = SMP_SOUND_NONE;
    if (plain && one && real && h->bits == 8 * bytes)
        *type = bytes == 4 ? SMP_SOUND_F32 : bytes == 8 ? SMP_SOUND_F64 : SMP_SOUND_NONE;
    else if (plain && one && !real && bytes <= 4 && h->bits > 8 * bytes - 8 && h->bits <= 8 * bytes)
        *type = codes[bytes];
    else if (one && bytes == 1 && (memcmp(h->kind, "ulaw", 4) == 0 || memcmp(h->kind, "alaw", 4) == 0))
        *type = h->kind[0] == 'u' ? SMP_SOUND_ULAW : SMP_SOUND_ALAW;
    if (*type && bytes * h->channels == h->packet)
        return SMP_OK;
    if (plain)
        smp_fail(err, SMP_E_DECODE, "the CAF's samples have %u bits in %u bytes, which is not supported", h->bits,
                 bytes);
    else
        smp_sound_fail_kind("CAF", h->kind, err);
    return smp_hint(err, "make a plain WAV of it: ffmpeg -i IN.caf -c:a pcm_s16le OUT.wav");
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    header h = {0};
    int type;
    smp_source *source = &reader->source;
    SMP_TRY(walk(&h, reader, err));
    const bool open = h.open_end && smp_sound_may_be_open(reader);
    if (h.open_end && !open)
        SMP_TRY(smp_source_spool(source, err));
    SMP_TRY(choose_type(&h, &type, err));
    if (h.open_end) {
        h.data_size = open                       ? (uint64_t)SMP_OPEN_HEIGHT * h.packet
                      : source->size > h.data_at ? source->size - h.data_at
                                                 : 0;
        h.data_size -= h.data_size % h.packet;
    }
    if (!h.open_end)
        SMP_TRY(smp_sound_take_cut(reader, h.data_at, &h.data_size, h.packet, err));
    SMP_TRY(smp_sound_hint_cut(smp_check_size(source, h.data_at + h.data_size, err), err));
    if (h.data_size % h.packet)
        return smp_fail(err, SMP_E_DECODE,
                        "the CAF is damaged: its %llu bytes of samples are not a whole number of frames",
                        (unsigned long long)h.data_size);
    SMP_TRY(smp_sound_header(reader, (int64_t)smp_min_u64(h.data_size / h.packet, INT64_MAX), h.channels, h.rate, type,
                             err));
    reader->media.meta.coding.sound.mask = smp_sound_mask_fits(h.mask, (int)h.channels) ? h.mask : 0;
    smp_sound_describe(&reader->media, NULL);
    return smp_pcm_open_read(reader, type, !(h.flags & LITTLE), h.data_at, err);
}

/* ------------------------------------------------------------------------------------------------ writing */

static bool holds(const smp_meta *, const struct smp_text *text)
{
    return *text->key && *text->value;
}

static void put_pair(smp_bytes *list, const char *key, const char *value, uint64_t *count)
{
    smp_bytes_add(list, key, strlen(key) + 1);
    smp_bytes_add(list, value, strlen(value) + 1);
    ++*count;
}

/* Texts, and chapters that frames say. */
static void put_texts(smp_bytes *out, const smp_meta *meta)
{
    smp_bytes list = {0};
    smp_chapters chapters;
    uint64_t count = 0;
    bool said = false; /* chapters, by texts */
    for (size_t i = 0; meta && i < meta->text_count; i++) {
        const char *key = meta->texts[i].key, *value = meta->texts[i].value;
        const smp_tag_row *row = smp_tag_row_for(meta, key);
        said = said || smp_chapter_is(key);
        put_pair(&list, row && row->caf ? row->caf : key, value, &count);
    }
    out->failed |= !smp_chapters_of(meta, &chapters);
    for (size_t i = 0; !said && i < chapters.count; i++) {
        const smp_chapter_texts say = smp_chapter_say(&chapters, i);
        put_pair(&list, say.key, say.start, &count);
        if (chapters.items[i].title)
            put_pair(&list, say.name, chapters.items[i].title, &count);
    }
    smp_chapters_free(&chapters);
    if (count) {
        smp_bytes_chunk(out, "info", list.size + 4, 8, true);
        smp_bytes_be(out, count, 4);
        smp_bytes_add(out, list.data, list.size);
    }
    out->failed |= list.failed;
    smp_free(list.data);
}

static void put_sizes(const smp_writer *writer, uint8_t *head, size_t size, uint64_t bytes)
{
    smp_put_be(head + size - EDITS - 8, writer->options.sound.open_end ? OPEN : EDITS + bytes, 8);
}

/* Samples have the highest byte first. */
static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const int type = smp_sound_signed_type(smp_coding_sound(&writer->coding), true), channels = writer->shape.channels;
    const int bits = smp_sound_bits(type), frame = channels * bits / 8;
    const uint32_t usual = smp_usual_speakers(channels);
    const uint32_t mask = smp_sound_mask_fits(smp_coding_sound(&writer->coding)->mask, channels)
                              ? smp_coding_sound(&writer->coding)->mask
                              : usual;
    SMP_TRY(smp_pcm_open_write(writer, type, true, err));
    uint64_t rate;
    memcpy(&rate, &writer->shape.rate, sizeof rate);
    smp_bytes out = {0};
    smp_bytes_add(&out, "caff\0\1\0\0", BEGIN);
    smp_bytes_chunk(&out, "desc", DESC, 8, true);
    smp_bytes_be(&out, rate, 8);
    smp_bytes_add(&out, type == SMP_SOUND_ULAW ? "ulaw" : type == SMP_SOUND_ALAW ? "alaw" : "lpcm", 4);
    smp_bytes_be(&out, type == SMP_SOUND_F32 || type == SMP_SOUND_F64 ? FLOAT : 0, 4);
    smp_bytes_be(&out, (uint64_t)frame, 4);
    smp_bytes_be(&out, 1, 4);
    smp_bytes_be(&out, (uint64_t)channels, 4);
    smp_bytes_be(&out, (uint64_t)bits, 4);
    if (channels > 2 || mask != usual) {
        smp_bytes_chunk(&out, "chan", 12, 8, true);
        smp_bytes_be(&out, BITMAP, 4);
        smp_bytes_be(&out, mask, 4);
        smp_bytes_be(&out, 0, 4);
    }
    put_texts(&out, meta);
    smp_sound_note_lost(writer, meta, holds, false);
    smp_bytes_chunk(&out, "data", OPEN, 8, true);
    smp_bytes_be(&out, 0, EDITS);
    return smp_sound_write_header(writer, &out, put_sizes, err);
}

const smp_file_format smp_format_caf = {
    .name = "CAF",
    .extensions = (const char *const[]){"caf", NULL},
    .takes = (const smp_write_takes[]){{&smp_write_samples, SMP_WORDS_PCM | SMP_WORDS_REAL | SMP_WORDS_LAW}, {0}},
    .sniff = sniff,
    .read_open = read_open,
    .read_end = smp_pcm_read_end,
    .write_open = write_open,
    .open_end = true,
    SMP_PCM_FORMAT,
};
