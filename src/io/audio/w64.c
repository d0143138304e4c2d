/* W64 (Sony Wave64): chunks as a WAV's, with names of 16 bytes and sizes of 8, so that a sound may be longer than 4 GB.
 * Source: Sony Pictures Digital, "Sony Wave64 File Format". Formats and samples are those of wav.c. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/audio/tags.h"
#include "io/audio/wav.h"

enum {
    NAME = 16,
    HEAD = NAME + 8, /* bytes of a chunk before its body */
    BEGIN = HEAD + NAME
};

/* The least size that tells of one that is not known. FFmpeg writes more than its own reader takes: it seeks to the end
 * of the samples, which file systems (ext4: 16 TiB) must allow. */
#define OPEN (UINT64_C(1) << 43)

/* A chunk's name is four letters and one of two tails. */
static const uint8_t riff[NAME] = {'r',  'i',  'f',  'f',  0x2E, 0x91, 0xCF, 0x11,
                                   0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00};
static const uint8_t tail[NAME - 4] = {0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A};

static bool is_named(const uint8_t *name, const char *letters)
{
    return memcmp(name, letters, 4) == 0 && memcmp(name + 4, tail, sizeof tail) == 0;
}

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= BEGIN && memcmp(head, riff, NAME) == 0 && is_named(head + HEAD, "wave");
}

/* Walks the chunks to the samples. What may follow them is not used. frames: as fact counts them, else as it was. */
static smp_code walk(smp_wav *h, uint64_t *frames, smp_source *source, smp_error *err)
{
    uint8_t count[8];
    smp_chunks c = {.kind = h->kind, .name = NAME, .bytes = 8, .at = BEGIN};
    smp_code code;
    while ((code = smp_chunk_next(&c, source, err)) == SMP_OK && c.found) {
        if (is_named(c.id, "data")) {
            if (!h->has_format)
                return smp_fail(err, SMP_E_DECODE, "the W64 is damaged: samples come before their format");
            h->data_at = c.body;
            h->size_known = c.size > HEAD && c.size < OPEN; /* else it was written to a pipe */
            h->data_size = h->size_known ? c.size - HEAD : 0;
            return SMP_OK;
        }
        if (c.size < HEAD || c.size > INT64_MAX / 2 || c.at > INT64_MAX / 4)
            return smp_fail(err, SMP_E_DECODE, "the W64 is damaged: a chunk has a size of %llu bytes",
                            (unsigned long long)c.size);
        if (is_named(c.id, "fmt "))
            SMP_TRY(smp_wav_format(h, source, c.body, (uint32_t)smp_min_u64(c.size - HEAD, UINT32_MAX), err));
        else if (is_named(c.id, "fact") && c.size == HEAD + sizeof count && smp_sound_look(source, c.body, count, 8))
            *frames = smp_get_bytes(count, 8, false);
        SMP_TRY(smp_check_size(source, c.at + c.size, err));
        c.at += (c.size + 7) / 8 * 8;
    }
    if (code || c.count == SMP_MOST_CHUNKS)
        return code ? code : smp_chunks_ended(&c, source, "samples", err);
    code = smp_check_size(source, c.body, err);
    return code ? code : smp_source_ended(source, err);
}

/* FFmpeg counts the bytes that fill a chunk up among its samples: they are where frames, or fact, end earlier. */
static void leave_out_filling(smp_wav *h, uint64_t frames)
{
    if (!h->size_known || !h->align || h->data_size % h->pad)
        return;
    const uint64_t most = h->data_size / h->align * h->align;
    const uint64_t told = smp_min_u64(frames, h->data_size / h->align) * h->align;
    if (h->data_size - told < h->pad)
        h->data_size = told;
    else if (h->data_size - most < h->pad)
        h->data_size = most;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_wav h = {.kind = "W64", .pad = 8};
    uint8_t size[8];
    uint64_t frames = UINT64_MAX;
    SMP_TRY(walk(&h, &frames, &reader->source, err));
    leave_out_filling(&h, frames);
    SMP_TRY(smp_wav_open(reader, &h, "W64", err));
    if (h.size_known && smp_sound_look(&reader->source, NAME, size, sizeof size))
        smp_sound_note_behind(reader, smp_max_u64(h.data_at + h.data_size, smp_get_bytes(size, 8, false)));
    return SMP_OK;
}

static void put_head(smp_bytes *out, const char *letters, uint64_t size)
{
    smp_bytes_add(out, letters, 4);
    smp_bytes_add(out, tail, sizeof tail);
    smp_bytes_le(out, size, 8);
}

static void put_sizes(const smp_writer *writer, uint8_t *head, size_t size, uint64_t data)
{
    const bool open = writer->options.sound.open_end;
    smp_put_le(head + NAME, open ? OPEN : size + data, 8);
    smp_put_le(head + size - 8, open ? OPEN : HEAD + data, 8);
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const int type = smp_wav_type(smp_coding_sound(&writer->coding));
    SMP_TRY(smp_pcm_open_write(writer, type, false, err));
    smp_sound_note_lost(writer, meta, NULL, false);
    smp_bytes format = {0}, out = {0};
    smp_wav_put_format(&format, writer, type);
    const uint64_t padded = (format.size + 7) / 8 * 8;
    smp_bytes_add(&out, riff, NAME);
    smp_bytes_le(&out, 0, 8);
    smp_bytes_add(&out, "wave", 4);
    smp_bytes_add(&out, tail, sizeof tail);
    put_head(&out, "fmt ", HEAD + format.size);
    smp_bytes_add(&out, format.data, format.size);
    smp_bytes_le(&out, 0, (int)(padded - format.size));
    put_head(&out, "data", 0);
    out.failed |= format.failed;
    smp_free(format.data);
    return smp_sound_write_header(writer, &out, put_sizes, err);
}

const smp_file_format smp_format_w64 = {
    .name = "W64",
    .extensions = (const char *const[]){"w64", NULL},
    .takes = (const smp_write_takes[]){{&smp_write_samples, SMP_WORDS_PCM | SMP_WORDS_REAL | SMP_WORDS_LAW}, {0}},
    .sniff = sniff,
    .read_open = read_open,
    .read_end = smp_pcm_read_end,
    .write_open = write_open,
    .open_end = true,
    SMP_PCM_FORMAT,
};
