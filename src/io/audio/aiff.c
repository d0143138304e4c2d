/* AIFF and AIFF-C: PCM (both byte orders), float, A-law and mu-law samples, names, comments and ID3 tags. Sources:
 * Apple, "Audio Interchange File Format: AIFF 1.3" (1989) and "AIFF-C" (1991). wav.c says why this is not libsndfile.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/tags.h"

enum { MOST_TEXT = 1 << 20 /* bytes of a text that is kept */ };

typedef struct header {
    bool compressed, has_format, has_data;
    bool open_end; /* the samples go on to the end: the writer did not know the length */
    unsigned channels, bits;
    uint64_t frames;
    double rate;
    char kind[5];                     /* AIFF-C: "NONE", "sowt", "fl32", ... */
    uint64_t data_at, data_size, end; /* end: of the file, as its first chunk says */
    uint64_t id3_at;                  /* bytes: the body of a chunk with an ID3 tag; 0: there is none */
    smp_names left;                   /* chunks that are left out */
} header;

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= 12 && memcmp(head, "FORM", 4) == 0 &&
           (memcmp(head + 8, "AIFF", 4) == 0 || memcmp(head + 8, "AIFC", 4) == 0);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* An 80-bit extended number. */
static double get_extended(const uint8_t *at)
{
    int exponent = (int)(smp_get_be(at, 2) & 0x7FFF) - 16383 - 63;
    uint64_t mantissa = smp_get_bytes(at + 2, 8, true);
    return at[0] & 0x80 ? -1. : ldexp((double)mantissa, exponent);
}

static smp_code take_format(header *h, smp_source *source, uint64_t at, uint32_t size, smp_error *err)
{
    uint8_t f[22];
    const uint32_t least = h->compressed ? 22 : 18;
    if (h->has_format || size < least || !smp_sound_look(source, at, f, least))
        return smp_fail(err, SMP_E_DECODE, "the AIFF is damaged: its format is incomplete or there twice");
    h->has_format = true;
    h->channels = smp_get_be(f, 2);
    h->frames = smp_get_be(f + 2, 4);
    h->bits = smp_get_be(f + 6, 2);
    h->rate = get_extended(f + 8);
    memcpy(h->kind, h->compressed ? (const char *)f + 18 : "NONE", 4);
    return SMP_OK;
}

static bool take_text(smp_reader *reader, const char *key, uint64_t at, uint32_t size)
{
    char *text = size && size <= MOST_TEXT ? smp_alloc_raw(size) : NULL;
    bool memory = text || !size || size > MOST_TEXT;
    if (size > MOST_TEXT)
        smp_note(&reader->notes, "a text of %u bytes is left out: %s", size, key);
    if (text && smp_sound_look(&reader->source, at, text, size))
        memory = smp_tag_add(reader, key, text, strnlen(text, size), NULL);
    smp_free(text);
    return memory;
}

static smp_code take_texts(header *h, smp_reader *reader, const uint8_t *id, uint64_t at, uint32_t size, smp_error *err)
{
    static const char *const idle[] = {"SSND", "COMM", "FVER", "CHAN", "PEAK", "FLLR", "SLOG", "ALCH"};
    char name[5] = {(char)id[0], (char)id[1], (char)id[2], (char)id[3], '\0'};
    const char *key = smp_tag_key(SMP_TAG(aiff), name);
    bool known = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ") != 4;
    if (memcmp(id, "ID3 ", 4) == 0 || memcmp(id, "id3 ", 4) == 0) {
        h->id3_at = at;
        return SMP_OK;
    }
    if (key != name)
        return take_text(reader, key, at, size) ? SMP_OK : smp_fail_memory(err, "a text", size);
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        known = known || memcmp(idle[i], id, 4) == 0;
    if (!known && size)
        smp_names_add(&h->left, name);
    return SMP_OK;
}

/* The sizes that programs write when they do not know the length: ffmpeg 0; sox 0x7F000000, rounded down to whole
 * frames; and 8. */
static bool is_open_size(uint32_t size)
{
    return size >= 0xFFFFF000u || (size > 0x7F000000u - 1024 && size <= 0x7F000008u);
}

/* The SSND chunk: samples, after 8 bytes with their offset and alignment. */
static smp_code take_data(header *h, smp_source *source, uint64_t at, uint32_t size, smp_error *err)
{
    uint8_t offset[4];
    if ((size && size < 8) || !smp_sound_look(source, at, offset, 4))
        return smp_fail(err, SMP_E_DECODE, "the AIFF ends before its samples: it is truncated, or holds none");
    /* A pipe cannot seek back to samples that precede their format. */
    if (!h->has_format)
        SMP_TRY(smp_source_spool(source, err));
    const uint32_t skip = smp_get_be(offset, 4);
    h->has_data = true;
    h->open_end = size == 0 || is_open_size(size);
    if (!h->open_end && skip > size - 8)
        return smp_fail(err, SMP_E_DECODE, "the AIFF is damaged: its samples begin past their end");
    h->data_at = at + 8 + skip;
    h->data_size = h->open_end ? 0 : size - 8 - skip;
    return SMP_OK;
}

/* Walks the chunks as wav.c does. */
static smp_code walk(header *h, smp_reader *reader, smp_error *err)
{
    smp_source *source = &reader->source;
    uint8_t head[12];
    if (!smp_sound_look(source, 0, head, 12))
        return smp_source_ended(source, err);
    h->compressed = head[11] == 'C';
    h->end = 8 + (uint64_t)smp_get_be(head + 4, 4);
    smp_chunks c = {.kind = "AIFF", .name = 4, .bytes = 4, .big = true, .at = 12};
    smp_code code;
    while ((code = smp_chunk_next(&c, source, err)) == SMP_OK && c.found) {
        const uint32_t size = (uint32_t)c.size;
        const uint64_t end = c.body + size;
        const bool data = smp_chunk_is(&c, "SSND") && !h->has_data, done = h->has_data && h->has_format;
        if (!data && (code = smp_chunk_reach(source, end, err)) != SMP_OK)
            return code;
        if (data)
            code = take_data(h, source, c.body, size, err);
        else if (smp_chunk_is(&c, "COMM") && !done)
            code = take_format(h, source, c.body, size, err);
        else
            code = take_texts(h, reader, c.id, c.body, size, err);
        if (code == SMP_OK && data && h->has_format) {
            if (h->open_end || h->end < end + 8)
                return SMP_OK;
            code = smp_source_spool(source, err);
        }
        if (code == SMP_OK && (data ? !reader->options.no_verify : !h->has_data) && !h->open_end)
            code = smp_sound_hint_cut(smp_check_size(source, end, err), err);
        if (code != SMP_OK)
            return code;
        c.at = end + (size & 1);
    }
    if (code || (h->has_data && h->has_format))
        return code;
    return smp_chunks_ended(&c, source, h->has_format ? "samples" : "format", err);
}

static smp_code choose_type(const header *h, int *type, bool *big, smp_error *err)
{
    const bool plain = memcmp(h->kind, "NONE", 4) == 0 || memcmp(h->kind, "twos", 4) == 0;
    const bool swapped = memcmp(h->kind, "sowt", 4) == 0;
    const unsigned bits = (h->bits + 7) / 8 * 8; /* codes of 20 bits, for example, are the high bits of 24 */
    *big = !swapped;
    *type = SMP_SOUND_NONE;
    if (plain || swapped)
        *type = bits == 8    ? SMP_SOUND_S8
                : bits == 16 ? SMP_SOUND_S16
                : bits == 24 ? SMP_SOUND_S24
                : bits == 32 ? SMP_SOUND_S32
                             : SMP_SOUND_NONE;
    else if (memcmp(h->kind, "fl32", 4) == 0 || memcmp(h->kind, "FL32", 4) == 0)
        *type = SMP_SOUND_F32;
    else if (memcmp(h->kind, "fl64", 4) == 0 || memcmp(h->kind, "FL64", 4) == 0)
        *type = SMP_SOUND_F64;
    else if (memcmp(h->kind, "in24", 4) == 0)
        *type = SMP_SOUND_S24;
    else if (memcmp(h->kind, "in32", 4) == 0)
        *type = SMP_SOUND_S32;
    else if (memcmp(h->kind, "raw ", 4) == 0)
        *type = SMP_SOUND_U8;
    else if (memcmp(h->kind, "ulaw", 4) == 0 || memcmp(h->kind, "ULAW", 4) == 0)
        *type = SMP_SOUND_ULAW;
    else if (memcmp(h->kind, "alaw", 4) == 0 || memcmp(h->kind, "ALAW", 4) == 0)
        *type = SMP_SOUND_ALAW;
    if (*type)
        return SMP_OK;
    if (plain || swapped)
        return smp_fail(err, SMP_E_DECODE, "the AIFF's samples have %u bits, which is not supported", h->bits);
    smp_sound_fail_kind("AIFF-C", h->kind, err);
    return smp_hint(err, "make a plain AIFF of it: ffmpeg -i IN.aifc OUT.aiff");
}

/* COMM and SSND both give the length of the sound. */
static smp_code find_frames(header *h, smp_reader *reader, uint64_t frame, smp_error *err)
{
    smp_source *source = &reader->source;
    if (h->open_end && smp_sound_may_be_open(reader)) {
        h->frames = SMP_OPEN_HEIGHT;
        return SMP_OK;
    }
    if (h->open_end) {
        SMP_TRY(smp_source_spool(source, err));
        h->data_size = source->size > h->data_at ? source->size - h->data_at : 0;
        h->frames = h->data_size / frame;
        return SMP_OK;
    }
    const uint64_t said = h->data_size;
    SMP_TRY(smp_sound_take_cut(reader, h->data_at, &h->data_size, frame, err));
    const uint64_t have = h->data_size / frame;
    if (h->data_size < said) {
        h->frames = smp_min_u64(h->frames, have);
        return SMP_OK;
    }
    if (h->frames > have)
        return smp_fail(err, SMP_E_DECODE, "the AIFF is damaged: its %llu frames take %llu bytes, but it has %llu",
                        (unsigned long long)h->frames, (unsigned long long)(h->frames * frame),
                        (unsigned long long)h->data_size);
    if (have > h->frames && h->frames)
        smp_note(&reader->notes, "the AIFF's header says %llu frames, but it has %llu: all are read",
                 (unsigned long long)h->frames, (unsigned long long)have);
    h->frames = have;
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    header h = {0};
    int type = SMP_SOUND_NONE;
    bool big = true;
    SMP_TRY(walk(&h, reader, err));
    SMP_TRY(choose_type(&h, &type, &big, err));
    SMP_TRY(smp_sound_header(reader, 1, h.channels, h.rate, type, err)); /* check before using its numbers */
    SMP_TRY(find_frames(&h, reader, h.channels * (uint64_t)(smp_sound_bits(type) / 8), err));
    SMP_TRY(smp_sound_header(reader, (int64_t)h.frames, h.channels, h.rate, type, err));
    SMP_TRY(smp_sound_hint_cut(smp_check_size(&reader->source, h.data_at + h.data_size, err), err));
    if (h.id3_at)
        SMP_TRY(smp_id3_take(reader, h.id3_at, "texts", err));
    if (h.left.count)
        smp_note(&reader->notes, "its chunks of other kinds are left out: %s", smp_names_end(&h.left));
    smp_sound_note_behind(reader, smp_max_u64(h.end, h.data_at + h.data_size));
    smp_sound_describe(&reader->media, h.compressed ? "AIFF-C" : NULL);
    return smp_pcm_open_read(reader, type, big, h.data_at, err);
}

/* ------------------------------------------------------------------------------------------------ writing */

static void put_extended(smp_bytes *out, double value)
{
    int exponent;
    double fraction = frexp(value, &exponent); /* 0.5 .. 1 */
    smp_bytes_be(out, (uint64_t)(exponent - 1 + 16383), 2);
    smp_bytes_be(out, (uint64_t)ldexp(fraction, 32), 4);
    smp_bytes_be(out, (uint64_t)ldexp(ldexp(fraction, 32) - floor(ldexp(fraction, 32)), 32), 4);
}

static void put_texts(smp_bytes *out, const smp_meta *meta)
{
    for (size_t i = 0; meta && i < meta->text_count; i++) {
        const smp_tag_row *row = smp_tag_row_for(meta, meta->texts[i].key);
        const size_t length = strlen(meta->texts[i].value);
        if (!row || !row->aiff)
            continue;
        smp_bytes_chunk(out, row->aiff, length, 4, true);
        smp_bytes_add(out, meta->texts[i].value, length);
        smp_bytes_be(out, 0, (int)(length & 1));
    }
}

enum { OPEN = 0x7F000000 /* bytes, of samples whose length is not known: as sox */ };

static void put_sizes(const smp_writer *writer, uint8_t *head, size_t size, uint64_t bytes)
{
    const bool open = writer->options.sound.open_end;
    const int type = ((const smp_pcm *)writer->state)->type;
    const uint64_t frame = (uint64_t)(writer->shape.channels * smp_sound_bits(type) / 8);
    const uint64_t data = open ? OPEN - OPEN % frame : bytes;
    uint8_t *chunk = head + 12; /* COMM, or FVER in front of it */
    if (!memcmp(chunk, "FVER", 4))
        chunk += 12;
    smp_put_be(head + 4, size + data + (data & 1) + ((const smp_pcm *)writer->state)->tail.size - 8, 4);
    smp_put_be(chunk + 10, data / frame, 4);
    smp_put_be(head + size - 12, data + 8, 4);
}

static smp_code check_size(const smp_writer *writer, int type, smp_error *err)
{
    const uint64_t frame = (uint64_t)(writer->shape.channels * smp_sound_bits(type) / 8),
                   data = (uint64_t)writer->shape.height * frame;
    if (writer->options.sound.open_end || data <= UINT32_MAX - (1u << 27))
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "an AIFF holds up to 4 GB, and this sound takes %llu bytes", (unsigned long long)data);
    return smp_hint(err, "write a .wav, which may be larger, or a .flac");
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    SMP_TRY(check_size(writer, ((const smp_pcm *)writer->state)->type, err));
    return smp_pcm_write_end(writer, err);
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const int type = smp_sound_signed_type(smp_coding_sound(&writer->coding), false), channels = writer->shape.channels;
    const bool real = type == SMP_SOUND_F32 || type == SMP_SOUND_F64;
    SMP_TRY(check_size(writer, type, err));
    SMP_TRY(smp_pcm_open_write(writer, type, true, err));
    smp_pcm *pcm = writer->state;
    pcm->pad = 2;
    if (meta && !smp_tags_fit(meta, SMP_TAG(aiff), false) && smp_pcm_may_have_tail(writer))
        smp_id3_put_chunk(&pcm->tail, "ID3 ", writer, meta, true);
    smp_bytes out = {0};
    smp_bytes_chunk(&out, "FORM", 0, 4, true);
    smp_bytes_add(&out, real ? "AIFC" : "AIFF", 4);
    if (real) {
        smp_bytes_chunk(&out, "FVER", 4, 4, true);
        smp_bytes_be(&out, 0xA2805140u, 4); /* AIFF-C, version 1 */
    }
    smp_bytes_chunk(&out, "COMM", real ? 24 : 18, 4, true);
    smp_bytes_be(&out, (uint64_t)channels, 2);
    smp_bytes_be(&out, 0, 4);
    smp_bytes_be(&out, (uint64_t)smp_sound_bits(type), 2);
    put_extended(&out, writer->shape.rate);
    if (real)
        smp_bytes_add(&out, type == SMP_SOUND_F32 ? "fl32\0\0" : "fl64\0\0", 6); /* and an empty name */
    put_texts(&out, meta);
    smp_sound_note_speakers(writer, true);
    smp_sound_note_type(writer, type);
    smp_bytes_chunk(&out, "SSND", 0, 4, true);
    smp_bytes_be(&out, 0, 8);
    out.failed |= pcm->tail.failed;
    return smp_sound_write_header(writer, &out, put_sizes, err);
}

const smp_file_format smp_format_aiff = {
    .name = "AIFF",
    .extensions = (const char *const[]){"aiff", "aif", "aifc", NULL},
    .takes = (const smp_write_takes[]){{&smp_write_samples, SMP_WORDS_PCM | SMP_WORDS_REAL}, {0}},
    .sniff = sniff,
    .read_open = read_open,
    .read_end = smp_pcm_read_end,
    .write_shape = smp_sound_write_shape,
    .write_open = write_open,
    .open_end = true,
    .kind = SMP_AUDIO,
    .read_rows = smp_pcm_read,
    .read_close = smp_pcm_close_read,
    .write_rows = smp_pcm_write,
    .write_end = write_end,
    .write_close = smp_pcm_close_write,
};
