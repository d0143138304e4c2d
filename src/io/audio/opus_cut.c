/* A part of an Opus as it is coded: see ogg_pages.h. Packets stay as they are. A decoder that begins in the middle
 * takes some packets to come to what it would have had; the header tells it how many samples to drop, up to 65535, so
 * that a part begins more than a second early. Sources: RFC 7845, 4 and 5.1; RFC 6716, 3.1. */
#include "io/audio/ogg_pages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum {
    EARLY = UINT16_MAX, /* samples at most, at 48 kHz */
    PAGE = 48000,       /* samples of a page, about */
    MOST = 5760,        /* of a packet */
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

/* All packets, end to end, and their sizes. False: they are not whole, or other streams lie between. */
static bool gather(const uint8_t *all, size_t size, smp_bytes *packets, smp_bytes *sizes)
{
    uint32_t packet = 0;
    for (size_t at = 0; at < size;) {
        const uint8_t *b = all + at;
        if (size - at < SMP_OGG_HEADER || memcmp(b, "OggS", 4) || size - at - SMP_OGG_HEADER < b[SMP_OGG_SEGMENTS_AT] ||
            memcmp(b + SMP_OGG_SERIAL_AT, all + SMP_OGG_SERIAL_AT, 4) ||
            !(b[SMP_OGG_FLAGS_AT] & SMP_OGG_GOES_ON) != !packet)
            return false;
        const uint8_t *body = b + SMP_OGG_HEADER + b[SMP_OGG_SEGMENTS_AT];
        size_t bytes = 0;
        for (const uint8_t *length = b + SMP_OGG_HEADER; length < body; length++) {
            packet += *length;
            bytes += *length;
            if (*length == SEGMENTS)
                continue;
            smp_bytes_le(sizes, packet, 4);
            packet = 0;
        }
        if (bytes > size - (size_t)(body - all))
            return false;
        smp_bytes_add(packets, body, bytes);
        at = (size_t)(body - all) + bytes;
    }
    return !packet;
}

/* Header, an empty comment, and the packets from `begin` samples on as far as `end`. */
static void put_part(smp_bytes *out, const smp_bytes *packets, const smp_bytes *sizes, int64_t begin, int64_t end)
{
    const size_t head = smp_get_le(sizes->data, 4), tags = smp_get_le(sizes->data + 4, 4);
    const uint8_t *packet = packets->data + head;
    page p = {.number = 0};
    int64_t at = 0, from = -1;
    add_packet(&p, packets->data, head);
    end_page(&p, out, SMP_OGG_FIRST, 0);
    uint8_t comment[TAGS_HEAD + 4 + VENDOR + 4] = {0};
    const size_t named = TAGS_HEAD + 4 + smp_get_le(packet + TAGS_HEAD, 4);
    memcpy(comment, packet, named);
    add_packet(&p, comment, named + 4);
    end_page(&p, out, 0, 0);
    packet += tags;
    for (size_t i = 8, size; i < sizes->size && at < end; i += 4, packet += size) {
        size = smp_get_le(sizes->data + i, 4);
        const int64_t long_ = duration(packet, size);
        if (at >= begin - EARLY) {
            if (from < 0 && !out->failed)
                smp_put_le(out->data + SMP_OGG_HEADER + 1 + SKIP_AT, (uint64_t)(begin - (from = at)), 2);
            if (p.since >= PAGE || p.lengths.size + size / SEGMENTS >= SEGMENTS)
                end_page(&p, out, 0, at - from);
            add_packet(&p, packet, size);
            p.since += long_;
        }
        at += long_;
    }
    end_page(&p, out, SMP_OGG_LAST, end - from);
    smp_free_all(p.lengths.data, p.body.data);
}

bool smp_opus_cut(const uint8_t *all, size_t size, int64_t played, int64_t from, int64_t samples, smp_bytes *out)
{
    smp_bytes packets = {0}, sizes = {0};
    bool good = gather(all, size, &packets, &sizes) && !packets.failed && sizes.size > 8 && !sizes.failed;
    const size_t head = good ? smp_get_le(sizes.data, 4) : 0, tags = good ? smp_get_le(sizes.data + 4, 4) : 0;
    const uint8_t *packet = packets.data + head;
    good = good && head > SKIP_AT + 2 && head < SEGMENTS && tags >= TAGS_HEAD + 8 &&
           smp_get_le(packet + TAGS_HEAD, 4) < smp_min_u64(tags - TAGS_HEAD - 4, VENDOR);
    const int64_t skip = good ? (int64_t)smp_get_le(packets.data + SKIP_AT, 2) : 0;
    int64_t sum = 0;
    packet += tags;
    for (size_t i = 8, n; good && i < sizes.size; i += 4, packet += n) {
        n = smp_get_le(sizes.data + i, 4);
        sum += duration(packet, n);
        good = duration(packet, n) > 0 && n < SEGMENTS * SEGMENTS;
    }
    /* Else positions do not count from 0, or some are missing. */
    good = good && skip + played <= sum && skip + played > sum - 2 * MOST && samples > 0 && from <= played - samples;
    if (good)
        put_part(out, &packets, &sizes, skip + from, skip + from + samples);
    const bool memory = !packets.failed && !sizes.failed && !out->failed;
    smp_free_all(packets.data, sizes.data);
    return memory;
}
