/* WAV: RIFF, RIFX (big-endian) and RF64; PCM, float, A-law and mu-law samples, WAVE_FORMAT_EXTENSIBLE, INFO and ID3
 * tags, cue points. Sources: Microsoft, "Multimedia Programming Interface and Data Specifications 1.0";
 * "WAVEFORMATEXTENSIBLE"; EBU Tech 3306 (RF64).
 *
 * libsndfile is not used here: this code streams from and to pipes, needs no library, and parses no other chunks than
 * fmt, ds64, data, cue and LIST. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/tags.h"
#include "io/audio/wav.h"

enum {
    TAG_PCM = 1,
    TAG_FLOAT = 3,
    TAG_ALAW = 6,
    TAG_ULAW = 7,
    TAG_EXTENSIBLE = 0xFFFE,
    MOST_INFO = 1 << 21 /* bytes of one list of tags */
};
#define UNKNOWN UINT32_MAX /* a size that was unknown when the header was written, or that is in ds64 */

static bool is_wav(const uint8_t *head)
{
    return (memcmp(head, "RIFF", 4) == 0 || memcmp(head, "RIFX", 4) == 0 || memcmp(head, "RF64", 4) == 0) &&
           memcmp(head + 8, "WAVE", 4) == 0;
}

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= 12 && is_wav(head);
}

/* ------------------------------------------------------------------------------------------------ reading */

static uint32_t get(const smp_wav *h, const uint8_t *at, int bytes)
{
    return h->big ? smp_get_be(at, bytes) : smp_get_le(at, bytes);
}

/* Sizes that programs write to a pipe when they do not know the length. ffmpeg writes all ones and lame slightly less;
 * sox and espeak-ng 0x7FFFF000, which sox rounds down to whole frames; arecord 2^31. */
static bool is_open_size(uint32_t size)
{
    return size >= 0xFFFFF000u || (size > 0x7FFFF000u - 1024 && size <= 0x7FFFF000u) || size == 0x7FFFFFFFu ||
           size == 0x80000000u;
}

/* The last 14 bytes of the GUIDs whose first two are a format tag. RIFX reverses the numbers in the first 6. */
static const uint8_t guid_tail[14] = {0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71};
static const uint8_t guid_tail_big[14] = {0, 0, 0, 0, 0, 0x10, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71};

smp_code smp_wav_format(smp_wav *h, smp_source *source, uint64_t at, uint32_t size, smp_error *err)
{
    uint8_t f[40] = {0};
    if (h->has_format || size < 16 || !smp_sound_look(source, at, f, size < 40 ? size : 40))
        return smp_fail(err, SMP_E_DECODE, "the %s is damaged: its format is incomplete or there twice", h->kind);
    h->has_format = true;
    h->tag = get(h, f, 2);
    h->channels = get(h, f + 2, 2);
    h->rate = get(h, f + 4, 4);
    h->align = get(h, f + 12, 2);
    h->bits = get(h, f + 14, 2);
    if (h->tag == TAG_EXTENSIBLE) {
        const uint8_t *guid = f + 24; /* its first number has 4 bytes */
        if (size < 40 || (memcmp(guid + 2, guid_tail, sizeof guid_tail) != 0 &&
                          !(h->big && memcmp(guid + 4, guid_tail_big + 2, sizeof guid_tail_big - 2) == 0)))
            return smp_fail(err, SMP_E_DECODE, "the %s's samples are of an unsupported kind", h->kind);
        h->mask = get(h, f + 20, 4);
        /* Writers of RIFX differ: some turn that number, some (sox) only its lower half, some do not. */
        h->tag = h->big && !guid[0] ? guid[1] ? guid[1] : smp_get_be(guid, 4) & 0xFFFF : smp_get_le(guid, 2);
    }
    return SMP_OK;
}

/* LIST INFO: texts with four-letter keys. Damage in here does not make the sound unreadable. */
static bool take_info(const smp_wav *h, smp_reader *reader, uint64_t at, uint32_t size)
{
    uint8_t *data = size > 4 && size <= MOST_INFO ? smp_alloc_raw(size) : NULL;
    bool memory = data || size <= 4 || size > MOST_INFO;
    if (size > MOST_INFO)
        smp_note(&reader->notes, "a list of %u bytes, which may be tags, is left out", size);
    if (data && smp_sound_look(&reader->source, at, data, size) && memcmp(data, "INFO", 4) == 0)
        for (uint64_t i = 4; memory && i + 8 <= size && reader->tag_bytes != SIZE_MAX;) {
            uint32_t n = get(h, data + i + 4, 4);
            const char *text = (const char *)data + i + 8;
            char id[5] = {0};
            memcpy(id, data + i, 4);
            if (n > size - i - 8) {
                smp_tag_damaged(reader, "list of tags (INFO)");
                break;
            }
            const char *name = memcmp(id, "IPRT", 4) == 0 ? "ITRK" : id; /* as ffmpeg writes it */
            size_t length = strnlen(text, n);
            if (length)
                memory = smp_tag_add(reader, smp_tag_key(SMP_TAG(info), name), text, length, NULL);
            i += 8 + (uint64_t)n + (n & 1);
        }
    smp_free(data);
    return memory;
}

/* Whether samples follow a data chunk of size 0, and not tags or nothing: then it was written to a pipe. */
static bool goes_on(smp_source *source, uint64_t at)
{
    char id[4];
    return smp_sound_look(source, at, id, 4) && memcmp(id, "LIST", 4) != 0;
}

static smp_code take_data(smp_wav *h, smp_source *source, uint64_t at, uint32_t size, smp_error *err)
{
    const bool in_ds64 = h->rf64 && size == UNKNOWN;
    h->has_data = true;
    h->data_at = at;
    h->data_size = in_ds64 ? h->long_size : size;
    if (!h->has_format)
        return smp_fail(err, SMP_E_DECODE, "the WAV is damaged: samples come before their format");
    h->size_known = h->data_size ? in_ds64 ? h->long_size != UINT64_MAX : !is_open_size(size) : !goes_on(source, at);
    return SMP_OK;
}

/* Whether bytes are the name of a chunk that the reader uses. */
static bool is_known_id(const uint8_t *id)
{
    return memcmp(id, "fmt ", 4) == 0 || memcmp(id, "data", 4) == 0 || memcmp(id, "LIST", 4) == 0;
}

/* Returns the start of the next chunk. A chunk of odd size has a pad byte, which some programs leave out. */
static uint64_t behind(smp_source *source, uint64_t end, uint64_t size)
{
    uint8_t id[4];
    return size & 1 && !(smp_sound_look(source, end, id, 4) && is_known_id(id)) ? end + 1 : end;
}

unsigned smp_wav_tag(const uint8_t *head, size_t size)
{
    enum { FIRST = 12, CHUNK = 8 };
    if (size < FIRST || memcmp(head, "RIFF", 4) != 0 || !is_wav(head))
        return 0;
    for (size_t at = FIRST; at + CHUNK + 2 <= size;) {
        const uint32_t length = smp_get_le(head + at + 4, 4);
        if (memcmp(head + at, "fmt ", 4) == 0)
            return smp_get_le(head + at + CHUNK, 2);
        if (length >= size)
            break;
        at += CHUNK + (size_t)length + (length & 1);
    }
    return 0;
}

/* Chunks that a reader leaves out, and what else it does not use. */
typedef struct left_out {
    smp_names names;
    uint64_t data;   /* bytes of a second chunk of samples */
    uint64_t behind; /* bytes behind the samples that no chunk holds */
} left_out;

static bool is_id(const uint8_t *id)
{
    for (int i = 0; i < 4; i++)
        if (id[i] < 32 || id[i] > 126)
            return false;
    return true;
}

/* Takes the name of a chunk with something to lose: not of one that fills up, or that is about the samples' coding. */
static void leave_out(left_out *left, smp_source *source, const uint8_t *id, uint64_t body)
{
    static const char *const idle[] = {"fmt ", "ds64", "fact", "PEAK", "JUNK", "junk",
                                       "PAD ", "FLLR", "levl", "id3 ", "ID3 ", "cue "};
    char name[12] = {0};
    uint8_t type[4];
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        if (!memcmp(id, idle[i], 4))
            return;
    memcpy(name, id, 4);
    if (!memcmp(id, "LIST", 4) && smp_sound_look(source, body, type, 4) && is_id(type)) {
        if (!memcmp(type, "INFO", 4) || !memcmp(type, "adtl", 4))
            return;
        memcpy(name, type, 4);
    }
    for (size_t n = strlen(name); n && name[n - 1] == ' ';)
        name[--n] = '\0';
    if (is_id(id))
        smp_names_add(&left->names, name);
}

static void note_left_out(left_out *left, const smp_wav *h, smp_notes *notes)
{
    if (left->names.count)
        smp_note(notes, "its chunks of other kinds are left out: %s", smp_names_end(&left->names));
    if (left->data)
        smp_note(notes, "its second chunk of samples, of %llu bytes, is left out", (unsigned long long)left->data);
    if (left->behind)
        smp_note(notes, "%llu bytes behind its samples are not read: its header says that the samples have %llu bytes",
                 (unsigned long long)left->behind, (unsigned long long)h->data_size);
}

/* Looks at bytes behind the samples, from `at` on, where the header says that there are none. Old tags, cut chunks and
 * padding are short. */
static void look_behind(left_out *left, smp_source *source, uint64_t at)
{
    enum { LEAST = 1024, HEAD = 12 };
    uint8_t head[HEAD];
    if (source->seekable && source->size >= at + LEAST && smp_sound_look(source, at, head, sizeof head) &&
        !is_wav(head)) /* which has a note of its own */
        left->behind = source->size - at;
}

/* The samples. *done: nothing is to be read behind them. */
static smp_code walk_data(smp_wav *h, smp_reader *reader, left_out *left, const smp_chunks *c, bool *done,
                          smp_error *err)
{
    smp_source *source = &reader->source;
    smp_code code = take_data(h, source, c->body, (uint32_t)c->size, err);
    uint64_t end;
    *done = code || !h->size_known || !smp_add_u64(c->body, h->data_size, &end);
    if (*done)
        return code;
    if (h->end < end + 8) {
        *done = true;
        look_behind(left, source, behind(source, end, h->data_size));
    } else if ((code = smp_source_spool(source, err)) == SMP_OK) {
        *done = reader->options.no_verify && end > source->size;
        code = *done ? SMP_OK : smp_sound_hint_cut(smp_check_size(source, end, err), err);
    }
    return code;
}

/* Any other chunk. */
static smp_code walk_other(smp_wav *h, smp_reader *reader, const smp_chunks *c, smp_error *err)
{
    uint8_t sizes[24];
    SMP_TRY(smp_chunk_reach(&reader->source, c->body + c->size, err));
    if (smp_chunk_is(c, "fmt ") && !h->has_data)
        return smp_wav_format(h, &reader->source, c->body, (uint32_t)c->size, err);
    if (smp_chunk_is(c, "ds64") && h->rf64 && c->size >= 24 && smp_sound_look(&reader->source, c->body, sizes, 24)) {
        const uint64_t riff = smp_get_bytes(sizes, 8, false);
        h->long_size = smp_get_bytes(sizes + 8, 8, false);
        h->end = riff && riff < UINT64_MAX - 8 ? riff + 8 : 0;
    } else if (smp_chunk_is(c, "LIST") && !take_info(h, reader, c->body, (uint32_t)c->size))
        return smp_fail_memory(err, "tags", c->size);
    else if (smp_chunk_is(c, "id3 ") || smp_chunk_is(c, "ID3 "))
        h->id3_at = c->body;
    else if (smp_chunk_is(c, "cue ")) {
        h->cue_at = c->body;
        h->cue_size = (uint32_t)c->size;
    }
    if (smp_chunk_is(c, "LIST") && smp_sound_look(&reader->source, c->body, sizes, 4) && !memcmp(sizes, "adtl", 4)) {
        h->adtl_at = c->body;
        h->adtl_size = (uint32_t)c->size;
    }
    return SMP_OK;
}

/* Damage after the samples does not make them unreadable. */
static smp_code walk(smp_wav *h, smp_reader *reader, left_out *left, smp_error *err)
{
    smp_source *source = &reader->source;
    uint8_t head[8];
    if (!smp_sound_look(source, 0, head, 8))
        return smp_source_ended(source, err);
    h->rf64 = memcmp(head, "RF64", 4) == 0;
    h->big = memcmp(head, "RIFX", 4) == 0;
    const uint32_t all = get(h, head + 4, 4);
    h->end = is_open_size(all) || !all ? 0 : 8 + (uint64_t)all;
    smp_chunks c = {.kind = "WAV", .name = 4, .bytes = 4, .big = h->big, .at = 12};
    smp_code code;
    while ((code = smp_chunk_next(&c, source, err)) == SMP_OK && c.found) {
        const bool data = smp_chunk_is(&c, "data"), first = data && !h->has_data;
        bool done = false;
        uint64_t end;
        if (h->has_data && (!is_id(c.id) || (source->size != UINT64_MAX && c.body + c.size > source->size))) {
            look_behind(left, source, c.at);
            break;
        }
        if (data)
            left->data += first ? 0 : c.size;
        else
            leave_out(left, source, c.id, c.body);
        code = first ? walk_data(h, reader, left, &c, &done, err) : walk_other(h, reader, &c, err);
        if (code || done)
            return code;
        const uint64_t length = first ? h->data_size : c.size;
        if (!smp_add_u64(c.body, length, &end) || end >= UINT64_MAX - 8)
            return smp_fail(err, SMP_E_DECODE, "the WAV is damaged: a chunk is larger than can be counted");
        if (!h->has_data && (code = smp_check_size(source, end, err)) != SMP_OK)
            return code;
        c.at = behind(source, end, length);
    }
    return code || h->has_data ? code : smp_chunks_ended(&c, source, "samples", err);
}

smp_code smp_wav_walk(smp_wav *h, smp_reader *reader, smp_error *err)
{
    left_out left = {.data = 0};
    SMP_TRY(walk(h, reader, &left, err));
    SMP_TRY(smp_wav_take_cues(h, reader, &left.names, err));
    note_left_out(&left, h, &reader->notes);
    if (h->id3_at)
        SMP_TRY(smp_id3_take(reader, h->id3_at, "list of tags (INFO)", err));
    return SMP_OK;
}

/* Codes with fewer bits than their bytes are in the high bits (20 of 24, 24 of 32): the bytes are read as they are. */
static int pcm_type(unsigned bytes, unsigned bits)
{
    static const int types[] = {SMP_SOUND_NONE, SMP_SOUND_U8, SMP_SOUND_S16, SMP_SOUND_S24, SMP_SOUND_S32};
    const bool fits = bits <= bytes * 8 && (bits + 8 > bytes * 8 || (bits == 24 && bytes == 4));
    return bytes <= 4 && bits && fits ? types[bytes] : SMP_SOUND_NONE;
}

static smp_code choose_type(const smp_wav *h, int *type, smp_error *err)
{
    static const struct {
        unsigned tag;
        const char *name;
    } others[] = {{2, "Microsoft ADPCM"}, {0x11, "IMA ADPCM"}, {0x31, "GSM 6.10"}, {0x50, "MPEG"}, {0x55, "MP3"}};
    const unsigned bytes = h->channels ? h->align / h->channels : 0;
    const bool whole = h->channels && bytes * h->channels == h->align;
    const bool plain = h->tag == TAG_PCM || h->tag == TAG_FLOAT || h->tag == TAG_ALAW || h->tag == TAG_ULAW;
    *type = SMP_SOUND_NONE;
    if (whole && h->tag == TAG_PCM)
        *type = pcm_type(bytes, h->bits);
    else if (whole && h->tag == TAG_FLOAT && h->bits == bytes * 8)
        *type = bytes == 4 ? SMP_SOUND_F32 : bytes == 8 ? SMP_SOUND_F64 : SMP_SOUND_NONE;
    else if (whole && plain && bytes == 1)
        *type = h->tag == TAG_ALAW ? SMP_SOUND_ALAW : SMP_SOUND_ULAW;
    if (*type)
        return SMP_OK;
    if (plain)
        return smp_fail(err, SMP_E_DECODE, "the %s is damaged: %u channels of %u bits do not make %u bytes a frame",
                        h->kind, h->channels, h->bits, h->align);
    const char *name = NULL;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].tag == h->tag)
            name = others[i].name;
    if (name)
        smp_fail(err, SMP_E_DECODE, "the %s's samples are %s, which is not supported", h->kind, name);
    else
        smp_fail(err, SMP_E_DECODE, "the %s's samples are of format %u with %u bits, which is not supported", h->kind,
                 h->tag, h->bits);
    return smp_hint(err, "make a plain WAV of it: ffmpeg -i IN.wav -c:a pcm_s16le OUT.wav");
}

/* Takes the remaining samples of a truncated sound, if that is asked for. */
static smp_code take_rest(smp_reader *reader, smp_wav *h, smp_error *err)
{
    const smp_source *source = &reader->source;
    SMP_TRY(smp_source_spool(&reader->source, err));
    const uint64_t have = source->size > h->data_at ? source->size - h->data_at : 0,
                   rest = h->align ? have % h->align : 0;
    const uint64_t most = h->size_known ? smp_min_u64(have, h->data_size) : have;
    const bool filled = !h->size_known && rest < h->pad && have % h->pad == 0;
    if (!h->align || filled || (most % h->align == 0 && (!h->size_known || most == h->data_size)))
        return SMP_OK;
    if (h->size_known)
        smp_note(&reader->notes, "its header says %llu bytes of samples, and it has %llu: what there is of it is read",
                 (unsigned long long)h->data_size, (unsigned long long)have);
    else
        smp_note(&reader->notes,
                 "its %llu bytes of samples are not a whole number of frames: what there is of it is read",
                 (unsigned long long)have);
    h->data_size = most - most % h->align;
    h->size_known = true;
    return SMP_OK;
}

static smp_code check_size(smp_wav *h, const smp_source *source, smp_error *err)
{
    if (!h->size_known) { /* written to a pipe: the samples go on to the end, or to bytes that fill the chunk up */
        h->data_size = source->size > h->data_at ? source->size - h->data_at : 0;
        if (h->data_size % h->align < h->pad && h->data_size % h->pad == 0)
            h->data_size -= h->data_size % h->align;
    }
    const smp_code code = smp_check_size(source, h->data_at + h->data_size, err);
    if (code || h->data_size % h->align == 0)
        return code;
    smp_fail(err, SMP_E_DECODE, "the %s is %s: its %llu bytes of samples are not a whole number of frames", h->kind,
             h->size_known ? "damaged" : "truncated", (unsigned long long)h->data_size);
    return smp_hint_damaged(err);
}

smp_code smp_wav_check(smp_wav *h, smp_reader *reader, smp_error *err)
{
    SMP_TRY(reader->options.no_verify ? take_rest(reader, h, err) : SMP_OK);
    return smp_sound_hint_cut(check_size(h, &reader->source, err), err);
}

smp_code smp_wav_open(smp_reader *reader, smp_wav *h, const char *container, smp_error *err)
{
    int type;
    smp_source *source = &reader->source;
    const bool open = !h->size_known && smp_sound_may_be_open(reader);
    SMP_TRY(h->size_known || source->seekable || open ? SMP_OK : smp_source_spool(source, err));
    SMP_TRY(choose_type(h, &type, err));
    if (!open)
        SMP_TRY(smp_wav_check(h, reader, err));
    const int64_t frames = (int64_t)smp_min_u64(h->data_size / h->align, INT64_MAX);
    SMP_TRY(smp_sound_header(reader, open ? SMP_OPEN_HEIGHT : frames, h->channels, h->rate, type, err));
    reader->media.meta.coding.sound.rf64 = h->rf64;
    reader->media.meta.coding.sound.mask = smp_sound_mask_fits(h->mask, (int)h->channels) ? h->mask : 0;
    smp_sound_describe(&reader->media, container);
    SMP_TRY(smp_pcm_open_read(reader, type, h->big, h->data_at, err));
    ((smp_pcm *)reader->state)->pad = h->pad;
    if (!open)
        ((smp_pcm *)reader->state)->next = smp_max_u64(h->end, h->data_at + h->data_size + (h->data_size & 1));
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_wav h = {.kind = "WAV", .pad = 2};
    SMP_TRY(smp_wav_walk(&h, reader, err));
    return smp_wav_open(reader, &h, h.rf64 ? "RF64" : h.big ? "RIFX" : NULL, err);
}

/* Notes that a second WAV follows (cat a.wav b.wav). */
static smp_code read_end(smp_reader *reader, smp_error *err)
{
    enum { HEAD = 12 };
    const smp_pcm *pcm = reader->state;
    smp_source *source = &reader->source;
    const uint8_t *at;
    uint8_t head[HEAD];
    bool second = false;
    const uint64_t gap = pcm->next - source->position;
    if (reader->media.open_end)
        return smp_pcm_read_end(reader, err);
    if (source->seekable)
        second = smp_sound_look(source, pcm->next, head, HEAD) && is_wav(head);
    else if (smp_source_skip(source, gap) == gap && smp_source_peek(source, &at, HEAD) == HEAD)
        second = is_wav(at);
    if (second) {
        smp_note(&reader->notes, "a second WAV follows and is not read: join them first, sox A.wav B.wav BOTH.wav");
        (void)smp_source_skip(source, source->seekable ? 0 : UINT64_MAX);
    }
    return smp_pcm_read_end(reader, err);
}

/* ------------------------------------------------------------------------------------------------ writing */

int smp_wav_type(const smp_sound *sound)
{
    switch (sound->type) {
    case SMP_SOUND_S8:
        return SMP_SOUND_U8;
    case SMP_SOUND_NONE: /* the input was an array or a picture */
        return SMP_SOUND_F32;
    default:
        return smp_sound_bits(sound->type) ? sound->type : SMP_SOUND_S16;
    }
}

/* The name of a text in a list of tags; null: it has none. Four letters are what a reader of ours kept as they are. */
static const char *id_of(const smp_meta *meta, const char *key)
{
    const smp_tag_row *row = smp_tag_row_for(meta, key);
    const bool own = strlen(key) == 4 && key[0] == 'I' && strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == 4;
    return row ? row->info : own ? key : NULL;
}

static void put_info(smp_bytes *out, const smp_meta *meta)
{
    smp_bytes list = {0};
    for (size_t i = 0; meta && i < meta->text_count; i++) {
        const struct smp_text *text = &meta->texts[i];
        const char *id = id_of(meta, text->key);
        size_t length = strlen(text->value) + 1;
        if (!id)
            continue;
        smp_bytes_chunk(&list, id, length, 4, false);
        smp_bytes_add(&list, text->value, length);
        smp_bytes_le(&list, 0, (int)(length & 1));
    }
    if (list.size) {
        smp_bytes_chunk(out, "LIST", list.size + 4, 4, false);
        smp_bytes_add(out, "INFO", 4);
        smp_bytes_add(out, list.data, list.size);
    }
    out->failed |= list.failed;
    smp_free(list.data);
}

void smp_wav_put_format(smp_bytes *out, const smp_writer *writer, int type)
{
    const int channels = writer->shape.channels, bits = smp_sound_bits(type);
    const bool real = type == SMP_SOUND_F32 || type == SMP_SOUND_F64;
    const bool law = type == SMP_SOUND_ALAW || type == SMP_SOUND_ULAW;
    const int tag = type == SMP_SOUND_ALAW ? TAG_ALAW : law ? TAG_ULAW : real ? TAG_FLOAT : TAG_PCM;
    const uint32_t usual = smp_usual_speakers(channels), rate = (uint32_t)writer->shape.rate;
    const uint32_t mask = smp_sound_mask_fits(smp_coding_sound(&writer->coding)->mask, channels)
                              ? smp_coding_sound(&writer->coding)->mask
                              : usual;
    const bool extensible = channels > 2 || mask != usual;
    smp_bytes_le(out, extensible ? TAG_EXTENSIBLE : (uint64_t)tag, 2);
    smp_bytes_le(out, (uint64_t)channels, 2);
    smp_bytes_le(out, rate, 4);
    smp_bytes_le(out, smp_min_u64((uint64_t)rate * (uint64_t)(channels * bits / 8), UINT32_MAX), 4);
    smp_bytes_le(out, (uint64_t)(channels * bits / 8), 2);
    smp_bytes_le(out, (uint64_t)bits, 2);
    if (extensible) {
        smp_bytes_le(out, 22, 2);
        smp_bytes_le(out, (uint64_t)bits, 2);
        smp_bytes_le(out, mask, 4);
        smp_bytes_le(out, (uint64_t)tag, 2);
        smp_bytes_add(out, guid_tail, sizeof guid_tail);
    } else if (real || law)
        smp_bytes_le(out, 0, 2);
}

static void put_format(smp_bytes *out, const smp_writer *writer, int type)
{
    const size_t at = out->size;
    smp_bytes_chunk(out, "fmt ", 0, 4, false);
    smp_wav_put_format(out, writer, type);
    if (!out->failed)
        smp_put_le(out->data + at + 4, out->size - at - 8, 4);
    if (type == SMP_SOUND_F32 || type == SMP_SOUND_F64 || smp_sound_coded(type)) {
        smp_bytes_chunk(out, "fact", 4, 4, false);
        smp_bytes_le(out, UNKNOWN, 4);
    }
}

enum { DS64 = 28 /* bytes of its body */ };

static void put_sizes(const smp_writer *writer, uint8_t *head, size_t size, uint64_t data)
{
    const bool open = writer->options.sound.open_end;
    const uint64_t frames = open ? UINT64_MAX : (uint64_t)writer->shape.height,
                   all = size + data + (data & 1) + ((const smp_pcm *)writer->state)->tail.size - 8;
    const bool rf64 = head[2] == '6', told = !open && all < UNKNOWN;
    uint8_t *chunk = head + 12; /* fmt, or ds64 in front of it */
    if (rf64) {
        smp_put_le(chunk + 8, open ? UINT64_MAX : all, 8);
        smp_put_le(chunk + 16, open ? UINT64_MAX : data, 8);
        smp_put_le(chunk + 24, frames, 8);
        chunk += 8 + DS64;
    }
    smp_put_le(head + 4, rf64 || !told ? UNKNOWN : all, 4);
    smp_put_le(head + size - 4, rf64 || !told ? UNKNOWN : data, 4);
    chunk += 8 + smp_get_le(chunk + 4, 4);
    if (!memcmp(chunk, "fact", 4))
        smp_put_le(chunk + 8, smp_min_u64(frames, UINT32_MAX), 4);
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const int type = smp_wav_type(smp_coding_sound(&writer->coding));
    const uint64_t frame = (uint64_t)(writer->shape.channels * smp_sound_bits(type) / 8);
    const uint64_t data = (uint64_t)writer->shape.height * frame;
    SMP_TRY(smp_pcm_open_write(writer, type, false, err));
    smp_pcm *pcm = writer->state;
    pcm->pad = 2;
    if (meta && !smp_tags_fit(meta, SMP_TAG(info), true) && smp_pcm_may_have_tail(writer))
        smp_id3_put_chunk(&pcm->tail, "id3 ", writer, meta, false);
    const bool rf64 = smp_coding_sound(&writer->coding)->rf64 ||
                      (!writer->options.sound.open_end && data > UINT32_MAX - 4 * MOST_INFO - pcm->tail.size);
    static const uint8_t nothing[DS64];
    smp_bytes out = {0};
    smp_bytes_chunk(&out, rf64 ? "RF64" : "RIFF", UNKNOWN, 4, false);
    smp_bytes_add(&out, "WAVE", 4);
    if (rf64) {
        smp_bytes_chunk(&out, "ds64", DS64, 4, false);
        smp_bytes_add(&out, nothing, DS64);
    }
    put_format(&out, writer, type);
    put_info(&out, meta);
    smp_wav_put_cues(&out, writer, meta);
    smp_bytes_chunk(&out, "data", UNKNOWN, 4, false);
    out.failed |= pcm->tail.failed;
    return smp_sound_write_header(writer, &out, put_sizes, err);
}

const smp_file_format smp_format_wav = {
    .name = "WAV",
    .extensions = (const char *const[]){"wav", "wave", "rf64", NULL},
    .takes = (const smp_write_takes[]){{&smp_write_samples, SMP_WORDS_PCM | SMP_WORDS_REAL | SMP_WORDS_LAW}, {0}},
    .sniff = sniff,
    .read_open = read_open,
    .read_end = read_end,
    .write_open = write_open,
    .open_end = true,
    SMP_PCM_FORMAT,
};
