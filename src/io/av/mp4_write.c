/* See mp4_write.h. */
#include "io/av/mp4_write.h"

#include "base/checked.h"

enum { SECONDS = 2 /* of a chunk: a part has more, so that the table of chunks stays small */ };

size_t smp_mp4_begin(smp_bytes *out, const char *name)
{
    const size_t at = out->size;
    smp_bytes_be(out, 0, 4);
    smp_bytes_add(out, name, 4);
    return at;
}

void smp_mp4_end(smp_bytes *out, size_t box)
{
    if (!out->failed)
        smp_put_be(out->data + box, out->size - box, 4);
}

static size_t begin_full(smp_bytes *out, const char *name, int version, uint32_t flags)
{
    const size_t at = smp_mp4_begin(out, name);
    smp_bytes_be(out, (uint64_t)version, 1);
    smp_bytes_be(out, flags, 3);
    return at;
}

static void put_zeros(smp_bytes *out, int count)
{
    for (int i = 0; i < count; i++)
        smp_bytes_be(out, 0, 1);
}

void smp_mp4_put_head(smp_bytes *out, uint64_t bytes)
{
    const size_t type = smp_mp4_begin(out, "ftyp");
    smp_bytes_add(out, "M4A \0\0\2\0M4A mp42isom", 20);
    smp_mp4_end(out, type);
    if (SMP_MP4_DATA_HEAD + bytes > UINT32_MAX) {
        smp_bytes_add(out, "\0\0\0\1mdat", 8); /* 1: the size follows */
        smp_bytes_be(out, SMP_MP4_DATA_HEAD + bytes, 8);
        return;
    }
    smp_mp4_end(out, smp_mp4_begin(out, "free")); /* not every player reads a size of 64 bits */
    smp_bytes_be(out, SMP_MP4_DATA_HEAD / 2 + bytes, 4);
    smp_bytes_add(out, "mdat", 4);
}

/* Frames of all packets together: those of the last one as they are heard. */
static uint64_t media_frames(const smp_mp4 *mp4)
{
    return (uint64_t)(mp4->priming + mp4->frames);
}

/* A version 1 has times of 64 bits. */
static int version_for(const smp_mp4 *mp4)
{
    return media_frames(mp4) > UINT32_MAX;
}

static void put_matrix(smp_bytes *out)
{
    static const uint32_t unity[] = {0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000};
    for (size_t i = 0; i < sizeof unity / sizeof unity[0]; i++)
        smp_bytes_be(out, unity[i], 4);
}

static void put_descriptor(smp_bytes *out, int tag, size_t size)
{
    smp_bytes_be(out, (uint64_t)tag, 1);
    smp_bytes_be(out, 0x808080u << 8 | (uint32_t)size, 4); /* seven bits a byte, of which the last alone is in use */
}

static void put_esds(smp_bytes *out, const smp_mp4 *mp4)
{
    enum { ES = 3, DECODER = 4, SPECIFIC = 5, SYNC = 6, HEAD = 5, ES_BODY = 3, DECODER_BODY = 13 };
    enum { AAC = 0x40, SOUND = 0x15 /* kind of stream 5, and a bit that is set */ };
    uint64_t bytes = 0;
    uint32_t most = 0;
    for (size_t i = 0; i < mp4->count; i++) {
        bytes += mp4->sizes[i];
        most = mp4->sizes[i] > most ? mp4->sizes[i] : most;
    }
    const uint64_t frames = mp4->count * mp4->packet, a_second = frames ? bytes * 8 * (uint64_t)mp4->rate / frames : 0;
    const size_t box = begin_full(out, "esds", 0, 0), decoder = DECODER_BODY + HEAD + mp4->config_size;
    put_descriptor(out, ES, ES_BODY + HEAD + decoder + HEAD + 1);
    smp_bytes_be(out, 0, ES_BODY);
    put_descriptor(out, DECODER, decoder);
    smp_bytes_be(out, AAC, 1);
    smp_bytes_be(out, SOUND, 1);
    smp_bytes_be(out, most, 3);
    smp_bytes_be(out, (uint64_t)most * 8 * (uint64_t)mp4->rate / mp4->packet, 4);
    smp_bytes_be(out, a_second, 4);
    put_descriptor(out, SPECIFIC, mp4->config_size);
    smp_bytes_add(out, mp4->config, mp4->config_size);
    put_descriptor(out, SYNC, 1);
    smp_bytes_be(out, 2, 1);
    smp_mp4_end(out, box);
}

static void put_coder(smp_bytes *out, const smp_mp4 *mp4)
{
    enum { MOST_RATE = 65535 };
    const size_t list = begin_full(out, "stsd", 0, 0);
    smp_bytes_be(out, 1, 4);
    const size_t box = smp_mp4_begin(out, mp4->alac ? "alac" : "mp4a");
    put_zeros(out, 6);
    smp_bytes_be(out, 1, 2);
    put_zeros(out, 8);
    smp_bytes_be(out, (uint64_t)mp4->channels, 2);
    smp_bytes_be(out, (uint64_t)mp4->bits, 2);
    put_zeros(out, 4);
    smp_bytes_be(out, mp4->rate <= MOST_RATE ? (uint64_t)mp4->rate << 16 : 0, 4);
    if (mp4->alac)
        smp_bytes_add(out, mp4->config, mp4->config_size);
    else
        put_esds(out, mp4);
    smp_mp4_end(out, box);
    smp_mp4_end(out, list);
}

static void put_times(smp_bytes *out, const smp_mp4 *mp4)
{
    const uint64_t before = mp4->count - 1; /* packets that are full */
    const size_t box = begin_full(out, "stts", 0, 0);
    smp_bytes_be(out, before ? 2 : 1, 4);
    if (before) {
        smp_bytes_be(out, before, 4);
        smp_bytes_be(out, mp4->packet, 4);
    }
    smp_bytes_be(out, 1, 4);
    smp_bytes_be(out, smp_max_u64(media_frames(mp4) - before * mp4->packet, before ? 1 : 2), 4); /* 1: PCM for FFmpeg */
    smp_mp4_end(out, box);
}

/* Chunks of as many packets, but for the last one. */
static void put_places(smp_bytes *out, const smp_mp4 *mp4, uint64_t at)
{
    const size_t each = (size_t)smp_max_i64(SECONDS * (int64_t)mp4->rate / mp4->packet, 1);
    const size_t chunks = (mp4->count + each - 1) / each, rest = mp4->count % each;
    const bool whole = !rest || chunks == 1;
    size_t box = begin_full(out, "stsc", 0, 0);
    smp_bytes_be(out, whole ? 1 : 2, 4);
    for (int i = 0; i < (whole ? 1 : 2); i++) {
        smp_bytes_be(out, i ? chunks : 1, 4);
        smp_bytes_be(out, i || chunks == 1 ? (rest ? rest : each) : each, 4);
        smp_bytes_be(out, 1, 4);
    }
    smp_mp4_end(out, box);
    uint64_t end = at;
    box = begin_full(out, "stsz", 0, 0);
    smp_bytes_be(out, 0, 4);
    smp_bytes_be(out, mp4->count, 4);
    for (size_t i = 0; i < mp4->count; i++) {
        smp_bytes_be(out, mp4->sizes[i], 4);
        end += mp4->sizes[i];
    }
    smp_mp4_end(out, box);
    const int bytes = end > UINT32_MAX ? 8 : 4;
    box = begin_full(out, bytes == 8 ? "co64" : "stco", 0, 0);
    smp_bytes_be(out, chunks, 4);
    for (size_t i = 0; i < mp4->count; i++) {
        if (i % each == 0)
            smp_bytes_be(out, at, bytes);
        at += mp4->sizes[i];
    }
    smp_mp4_end(out, box);
}

static void put_media(smp_bytes *out, const smp_mp4 *mp4, uint64_t at)
{
    const int wide = version_for(mp4) ? 8 : 4;
    const size_t media = smp_mp4_begin(out, "mdia");
    size_t box = begin_full(out, "mdhd", version_for(mp4), 0);
    put_zeros(out, 2 * wide);
    smp_bytes_be(out, (uint64_t)mp4->rate, 4);
    smp_bytes_be(out, media_frames(mp4), wide);
    smp_bytes_be(out, 0x55C40000, 4); /* the language: "und" */
    smp_mp4_end(out, box);
    box = begin_full(out, "hdlr", 0, 0);
    smp_bytes_add(out, "\0\0\0\0soun\0\0\0\0\0\0\0\0\0\0\0\0", 21);
    smp_mp4_end(out, box);
    const size_t info = smp_mp4_begin(out, "minf");
    box = begin_full(out, "smhd", 0, 0);
    put_zeros(out, 4);
    smp_mp4_end(out, box);
    const size_t data = smp_mp4_begin(out, "dinf");
    box = begin_full(out, "dref", 0, 0);
    smp_bytes_add(out, "\0\0\0\1\0\0\0\14url \0\0\0\1", 16); /* in this file */
    smp_mp4_end(out, box);
    smp_mp4_end(out, data);
    const size_t table = smp_mp4_begin(out, "stbl");
    put_coder(out, mp4);
    put_times(out, mp4);
    put_places(out, mp4, at);
    smp_mp4_end(out, table);
    smp_mp4_end(out, info);
    smp_mp4_end(out, media);
}

/* What of the packets is heard. */
static void put_edits(smp_bytes *out, const smp_mp4 *mp4)
{
    const int wide = version_for(mp4) ? 8 : 4;
    const size_t edits = smp_mp4_begin(out, "edts"), box = begin_full(out, "elst", version_for(mp4), 0);
    smp_bytes_be(out, 1, 4);
    smp_bytes_be(out, (uint64_t)mp4->frames, wide);
    smp_bytes_be(out, (uint64_t)mp4->priming, wide);
    smp_bytes_be(out, 0x10000, 4);
    smp_mp4_end(out, box);
    smp_mp4_end(out, edits);
}

void smp_mp4_put_index(smp_bytes *out, const smp_mp4 *mp4, uint64_t at, const smp_meta *meta)
{
    const int version = version_for(mp4), wide = version ? 8 : 4;
    const size_t index = smp_mp4_begin(out, "moov");
    size_t box = begin_full(out, "mvhd", version, 0);
    put_zeros(out, 2 * wide);
    smp_bytes_be(out, (uint64_t)mp4->rate, 4);
    smp_bytes_be(out, (uint64_t)mp4->frames, wide);
    smp_bytes_be(out, 0x10000, 4); /* the usual speed */
    smp_bytes_be(out, 0x100, 2);   /* and volume */
    put_zeros(out, 10);
    put_matrix(out);
    put_zeros(out, 24);
    smp_bytes_be(out, 2, 4); /* of another track */
    smp_mp4_end(out, box);
    const size_t track = smp_mp4_begin(out, "trak");
    box = begin_full(out, "tkhd", version, 7 /* it is on */);
    put_zeros(out, 2 * wide);
    smp_bytes_be(out, 1, 4);
    put_zeros(out, 4);
    smp_bytes_be(out, (uint64_t)mp4->frames, wide);
    put_zeros(out, 12);
    smp_bytes_be(out, 0x100, 2);
    put_zeros(out, 2);
    put_matrix(out);
    put_zeros(out, 8);
    smp_mp4_end(out, box);
    put_edits(out, mp4);
    put_media(out, mp4, at);
    smp_mp4_end(out, track);
    smp_mp4_put_tags(out, mp4, meta);
    smp_mp4_end(out, index);
}
