/* A part of an Opus as it is coded: see ogg_pages.h. Packets stay as they are. A decoder that begins in the middle
 * takes some packets to come to what it would have had, and the header tells it how many samples to drop. RFC 7845
 * wants 80 ms of them; 300 ms bring the errors to 30 dB below the noise of the coding (tests/cli/test_coded_cuts.py).
 * Sources: RFC 7845, 4 and 5.1; RFC 6716, 3.1. */
#include "io/audio/ogg_pages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum {
    EARLY = 14400, /* samples, at 48 kHz, and as many more as complete a packet */
    PAGE = 48000,  /* samples of a page, about */
    MOST = 5760,   /* of a packet */
    SEGMENTS = 255,
    SKIP_AT = 10, /* of OpusHead */
    TAGS_HEAD = 8,
    VENDOR = 1 << 12 /* bytes at most */
};

/* Samples of a packet; 0: it has none, or is damaged. */
static int64_t duration(const uint8_t *packet, size_t size)
{
    static const int16_t speech[] = {480, 960, 1920, 2880}, both[] = {480, 960}, music[] = {120, 240, 480, 960};
    if (!size || (size < 2 && (packet[0] & 3) == 3)) /* one byte alone is silence (DTX) */
        return 0;
    const int kind = packet[0] >> 3, code = packet[0] & 3;
    const int frames = code == 0 ? 1 : code < 3 ? 2 : packet[1] & 63;
    const int64_t all = frames * (int64_t)(kind < 12 ? speech[kind & 3] : kind < 16 ? both[kind & 1] : music[kind & 3]);
    return all <= MOST ? all : 0;
}

/* The page that is being made. */
typedef struct page {
    smp_bytes lengths, body;
    uint32_t number;
    int64_t since; /* samples */
} page;

static void end_page(page *p, smp_bytes *out, int flags, int64_t granule)
{
    uint8_t head[SMP_OGG_HEADER] = "OggS";
    head[SMP_OGG_FLAGS_AT] = (uint8_t)flags;
    smp_put_le(head + SMP_OGG_GRANULE_AT, (uint64_t)granule, 8);
    smp_put_le(head + SMP_OGG_NUMBER_AT, p->number++, 4);
    head[SMP_OGG_SEGMENTS_AT] = (uint8_t)p->lengths.size;
    smp_bytes_add(out, head, sizeof head); /* the writer adds the checksum */
    smp_bytes_add(out, p->lengths.data, p->lengths.size);
    smp_bytes_add(out, p->body.data, p->body.size);
    out->failed |= p->lengths.failed || p->body.failed;
    p->lengths.size = p->body.size = 0;
    p->since = 0;
}

static void add_packet(page *p, const uint8_t *packet, size_t size)
{
    for (size_t left = size;; left -= SEGMENTS) {
        smp_bytes_le(&p->lengths, left < SEGMENTS ? left : SEGMENTS, 1);
        if (left < SEGMENTS)
            break;
    }
    smp_bytes_add(&p->body, packet, size);
}

/* The packets of a stream, one after another. */
typedef struct packets {
    smp_source *source;
    uint64_t at, end; /* bytes that were not read, in the file */
    uint32_t serial;
    size_t segment, body; /* of the page, the next ones */
    uint8_t page[SMP_OGG_MOST];
    smp_bytes packet;
    int64_t samples; /* of it */
    bool whole;      /* after the last one: the stream ends behind it */
} packets;

/* False: there is none, or it is none of this stream. */
static bool next_page(packets *p)
{
    uint8_t *b = p->page;
    p->whole = p->at == p->end && !p->packet.size;
    if (p->end - p->at < SMP_OGG_HEADER || smp_source_read(p->source, b, SMP_OGG_HEADER) < SMP_OGG_HEADER)
        return false;
    size_t size = SMP_OGG_HEADER + (size_t)b[SMP_OGG_SEGMENTS_AT];
    const size_t lengths = size;
    if (memcmp(b, "OggS", 4) != 0 || smp_get_le(b + SMP_OGG_SERIAL_AT, 4) != p->serial ||
        !(b[SMP_OGG_FLAGS_AT] & SMP_OGG_GOES_ON) != !p->packet.size ||
        smp_source_read(p->source, b + SMP_OGG_HEADER, lengths - SMP_OGG_HEADER) < lengths - SMP_OGG_HEADER)
        return false;
    for (size_t i = SMP_OGG_HEADER; i < lengths; i++)
        size += b[i];
    p->segment = 0;
    p->body = lengths;
    p->at += size;
    return p->at <= p->end && smp_source_read(p->source, b + lengths, size - lengths) == size - lengths;
}

static bool next_packet(packets *p)
{
    for (p->packet.size = 0;;) {
        while (p->segment == p->page[SMP_OGG_SEGMENTS_AT])
            if (!next_page(p))
                return false;
        const uint8_t length = p->page[SMP_OGG_HEADER + p->segment++];
        smp_bytes_add(&p->packet, p->page + p->body, length);
        p->body += length;
        if (p->packet.failed || p->packet.size >= SEGMENTS * SEGMENTS)
            return false;
        if (length < SEGMENTS) {
            p->samples = duration(p->packet.data, p->packet.size);
            return true;
        }
    }
}

static bool begin_stream(packets *p, const smp_ogg_link *link)
{
    p->at = link->from;
    p->end = link->to;
    p->serial = link->serial;
    p->segment = p->page[SMP_OGG_SEGMENTS_AT] = 0;
    p->packet.size = 0;
    return smp_source_seek(p->source, link->from);
}

/* Bytes of a comment as far as its vendor's name goes, which is kept; 0: it is none. */
static size_t named_bytes(const smp_bytes *packet)
{
    const size_t size = packet->size > TAGS_HEAD + 8 ? packet->size - TAGS_HEAD - 4 : 0;
    const size_t vendor = size ? smp_get_le(packet->data + TAGS_HEAD, 4) : 0;
    return vendor < smp_min_u64(size, VENDOR) ? TAGS_HEAD + 4 + vendor : 0;
}

/* Of the whole: samples, and of the part that begins and ends at these: */
typedef struct part {
    int64_t skip, begin, end; /* skip: samples that the header says are dropped */
    int64_t first;            /* samples in front of the first packet that it has */
    int64_t all;
    bool within; /* it begins inside its last packet, and ends inside it */
} part;

static bool measure(packets *p, const smp_ogg_link *link, int64_t from, int64_t samples, part *it)
{
    if (!begin_stream(p, link) || !next_packet(p) || p->packet.size <= SKIP_AT + 2 || p->packet.size >= SEGMENTS)
        return false;
    it->skip = (int64_t)smp_get_le(p->packet.data + SKIP_AT, 2);
    it->begin = it->skip + from;
    it->end = it->begin + samples;
    it->first = -1;
    if (!next_packet(p) || !named_bytes(&p->packet))
        return false;
    for (; next_packet(p) && p->samples; it->all += p->samples) {
        const int64_t next = it->all + p->samples;
        if (it->first < 0 && next > it->begin - EARLY)
            it->first = it->all;
        it->within |= it->all < it->begin && it->end < next;
    }
    return p->whole;
}

/* Header, an empty comment, and the packets. */
static bool put_part(packets *p, const smp_ogg_link *link, const part *it, smp_bytes *out)
{
    page made = {.number = 0};
    int64_t at = 0;
    if (!begin_stream(p, link) || !next_packet(p))
        return false;
    add_packet(&made, p->packet.data, p->packet.size);
    end_page(&made, out, SMP_OGG_FIRST, 0);
    if (!out->failed)
        smp_put_le(out->data + SMP_OGG_HEADER + 1 + SKIP_AT, (uint64_t)(it->begin - it->first), 2);
    uint8_t comment[TAGS_HEAD + 4 + VENDOR + 4] = {0};
    const size_t named = next_packet(p) ? named_bytes(&p->packet) : 0;
    bool good = named > 0;
    memcpy(comment, p->packet.data, named);
    add_packet(&made, comment, named + 4);
    end_page(&made, out, 0, 0);
    for (; good && at < it->end && (good = next_packet(p)); at += p->samples) {
        if (at < it->first)
            continue;
        if (made.since >= PAGE || made.lengths.size + p->packet.size / SEGMENTS >= SEGMENTS)
            end_page(&made, out, 0, at - it->first);
        add_packet(&made, p->packet.data, p->packet.size);
        made.since += p->samples;
    }
    end_page(&made, out, SMP_OGG_LAST, it->end - it->first);
    smp_free_all(made.lengths.data, made.body.data);
    return good;
}

bool smp_opus_cut(smp_source *source, const smp_ogg_link *link, int64_t played, int64_t from, int64_t samples,
                  smp_notes *notes, smp_bytes *out)
{
    packets *p = smp_alloc(sizeof *p);
    part it = {.skip = 0};
    if (!p)
        return false;
    p->source = source;
    /* Else positions do not count from 0, or some are missing. */
    bool good = measure(p, link, from, samples, &it) && it.skip + played <= it.all &&
                it.skip + played > it.all - 2 * MOST && samples > 0 && from <= played - samples && !it.within;
    good = good && put_part(p, link, &it, out);
    const bool memory = !p->packet.failed && !out->failed;
    if (!good) {
        out->size = 0;
        smp_sound_note_anew(notes, it.within);
    }
    smp_free_all(p->packet.data, p);
    return memory;
}
