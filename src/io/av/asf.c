/* The packets of an ASF (WMA, WMV), all of one size: FFmpeg steps over what is none, and over sound that is missing.
 * Source: Microsoft, Advanced Systems Format, revision 01.20, 3.2, 3.3, 5.1 and 5.2. */
#include <string.h>

#include "base/alloc.h"
#include "io/av/whole.h"
#include "io/bytes.h"

enum {
    HEADER = 1 << 16,      /* bytes that are looked at, at most */
    STREAMS = 128,         /* numbers of streams */
    MOST_PACKET = 1 << 20, /* bytes */
    DATA_HEAD = 50         /* bytes of the data object before its packets */
};

/* State of a stream behind the last part of its media objects. Numbers of objects count up, with as many bits as the
 * file has for them. */
typedef struct track {
    bool sound, known;
    uint32_t number;     /* of the object */
    uint64_t part, size; /* bytes of it so far, of all of it */
} track;

typedef struct asf {
    const smp_source *source;
    uint64_t at; /* of the first packet */
    uint64_t count;
    uint32_t size; /* bytes of a packet */
    track tracks[STREAMS];
} asf;

/* A packet that is being read. */
typedef struct cursor {
    const uint8_t *bytes;
    size_t at, end;
    bool failed;
} cursor;

static void skip(cursor *c, size_t count)
{
    c->failed |= count > c->end - c->at;
    c->at += c->failed ? 0 : count;
}

/* A number of up to 4 bytes. */
static uint32_t take(cursor *c, size_t count)
{
    skip(c, count);
    return c->failed || !count ? 0 : smp_get_le(c->bytes + c->at - count, (int)count);
}

/* A field of a type of 2 bits: none, 1, 2 or 4 bytes. */
static uint32_t take_type(cursor *c, unsigned flags, int shift)
{
    static const uint8_t bytes[] = {0, 1, 2, 4};
    return take(c, bytes[flags >> shift & 3]);
}

/* False: the file does not say where its packets are. */
static bool read_header(asf *a, const uint8_t *head, size_t size)
{
    static const uint8_t properties[] = {0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11,
                                         0x8E, 0xE4, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65};
    static const uint8_t stream[] = {0x91, 0x07, 0xDC, 0xB7, 0xB7, 0xA9, 0xCF, 0x11,
                                     0x8E, 0xE6, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65};
    static const uint8_t audio[] = {0x40, 0x9E, 0x69, 0xF8, 0x4D, 0x5B, 0xCF, 0x11,
                                    0xA8, 0xFD, 0x00, 0x80, 0x5F, 0x5C, 0x44, 0x2B};
    static const uint8_t data[] = {0x36, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11,
                                   0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C};
    enum { LEAST_AT = 92, MOST_AT = 96, NUMBER_AT = 72, TYPE_AT = 24, COUNT_AT = 40, OBJECT = 100, NAME = 16 };
    const uint64_t header = size > 24 ? smp_get_bytes(head + NAME, 8, false) : 0;
    uint8_t begin[DATA_HEAD];
    if (header > size || header < OBJECT)
        return false;
    const uint8_t *end = head + header, *file = memmem(head, header, properties, NAME);
    if (!file || end - file < OBJECT || smp_get_le(file + LEAST_AT, 4) != smp_get_le(file + MOST_AT, 4))
        return false;
    for (const uint8_t *at = head; (at = memmem(at, (size_t)(end - at), stream, NAME)) && end - at > NUMBER_AT; at++)
        a->tracks[at[NUMBER_AT] & (STREAMS - 1)].sound |= !memcmp(at + TYPE_AT, audio, NAME);
    if (!smp_source_look(a->source, header, begin, DATA_HEAD) || memcmp(begin, data, NAME) != 0)
        return false;
    a->at = header + DATA_HEAD;
    a->size = smp_get_le(file + MOST_AT, 4);
    a->count = smp_get_bytes(begin + COUNT_AT, 8, false);
    return a->size && a->size <= MOST_PACKET;
}

/* Whether a part of an object follows what came before of its stream. */
static bool follows(track *t, uint32_t number, uint32_t mask, uint64_t offset, uint64_t length, uint64_t size)
{
    const bool same = t->known && t->number == number && t->part < t->size;
    const bool next = t->known && number == ((t->number + 1) & mask) && t->part >= t->size;
    const bool fits = !t->known || !t->sound || (same ? offset == t->part : next && offset == 0);
    *t = (track){.sound = t->sound, .known = true, .number = number, .part = offset + length, .size = size};
    return fits;
}

/* A payload, of so many bytes or up to the end: 0. */
static bool check_payload(asf *a, cursor *c, unsigned properties, bool several, unsigned lengths)
{
    enum { COMPRESSED = 1, LEAST = 8 };
    static const uint32_t masks[] = {0, 0xFF, 0xFFFF, 0xFFFFFFFF};
    track *t = &a->tracks[take(c, 1) & (STREAMS - 1)];
    const uint32_t number = take_type(c, properties, 4), offset = take_type(c, properties, 2),
                   replicated = take_type(c, properties, 0), size = replicated >= LEAST ? take(c, 4) : 0;
    skip(c, replicated >= LEAST ? replicated - 4 : replicated);
    const uint32_t length = several ? take_type(c, lengths, 6) : (uint32_t)(c->end - c->at);
    skip(c, length);
    if (c->failed)
        return false;
    if (replicated == COMPRESSED || !size || !masks[properties >> 4 & 3]) { /* several objects; nothing that counts */
        t->known = false;
        return true;
    }
    return follows(t, number, masks[properties >> 4 & 3], offset, length, size);
}

static bool check_packet(asf *a, const uint8_t *bytes)
{
    enum { CORRECTION = 0x80, PLAIN_MASK = 0xF0, SEVERAL = 1, STREAM_TYPE = 0xC0, ONE_BYTE = 0x40, COUNT = 63 };
    cursor c = {.bytes = bytes, .end = a->size};
    unsigned flags = take(&c, 1);
    if (flags & CORRECTION) {
        if ((flags & PLAIN_MASK) != CORRECTION)
            return false;
        skip(&c, flags & 15);
        flags = take(&c, 1);
    }
    const unsigned properties = take(&c, 1);
    const uint32_t length = take_type(&c, flags, 5);
    (void)take_type(&c, flags, 1);
    uint32_t padding = take_type(&c, flags, 3);
    skip(&c, 4 + 2);                /* when it is sent, for how long */
    if (length && length < a->size) /* the rest is padding too */
        padding += a->size - length;
    if (c.failed || flags & CORRECTION || (properties & STREAM_TYPE) != ONE_BYTE || padding > a->size - c.at)
        return false;
    c.end -= padding;
    const unsigned lengths = flags & SEVERAL ? take(&c, 1) : 1;
    bool ok = !c.failed;
    for (unsigned i = 0; ok && i < (lengths & COUNT); i++)
        ok = check_payload(a, &c, properties, flags & SEVERAL, lengths);
    return ok;
}

smp_code smp_asf_check(const smp_source *source, smp_error *err)
{
    asf *a = smp_alloc(sizeof *a);
    const size_t size = source->size < HEADER ? (size_t)source->size : HEADER;
    uint8_t *bytes = smp_alloc(MOST_PACKET);
    smp_code code = a && bytes ? SMP_OK : smp_fail_memory(err, "a packet", MOST_PACKET);
    if (!code) {
        a->source = source;
        if (!smp_source_look(source, 0, bytes, size) || !read_header(a, bytes, size))
            a->count = 0;
    }
    for (uint64_t i = 0; !code && i < a->count; i++) {
        const uint64_t at = a->at + i * a->size;
        if (at > source->size || a->size > source->size - at) /* it is truncated, which the header's size tells */
            break;
        if (!smp_source_look(source, at, bytes, a->size))
            code = smp_source_ended(source, err);
        else if (!check_packet(a, bytes))
            code = smp_fail(err, SMP_E_DECODE,
                            "the file is damaged: its packet at byte %llu is none, or does not follow the one before",
                            (unsigned long long)at);
    }
    smp_free_all(bytes, a);
    return code;
}
