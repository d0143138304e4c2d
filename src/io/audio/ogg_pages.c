/* See ogg_pages.h. Source: RFC 3533, section 6; RFC 7845, 5.2 (the comment of Opus); Vorbis I, 5.2. */
#include "io/audio/ogg_pages.h"

#include <string.h>

#include "base/alloc.h"
#include "io/audio/tags.h"

enum {
    SERIAL = 1,
    MOST_SEGMENTS = 255,
    SEGMENT = 255, /* bytes of one that does not end a packet */
    SKIP_AT = 10   /* of OpusHead */
};

uint32_t smp_ogg_checksum(const uint8_t *data, size_t size)
{
    static const uint32_t remainders[16] = {0x00000000, 0x04C11DB7, 0x09823B6E, 0x0D4326D9, 0x130476DC, 0x17C56B6B,
                                            0x1A864DB2, 0x1E475005, 0x2608EDB8, 0x22C9F00F, 0x2F8AD6D6, 0x2B4BCB61,
                                            0x350C9B64, 0x31CD86D3, 0x3C8EA00A, 0x384FBDBD}; /* of four bits */
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum ^= (uint32_t)data[i] << 24;
        sum = sum << 4 ^ remainders[sum >> 28];
        sum = sum << 4 ^ remainders[sum >> 28];
    }
    return sum;
}

/* The size of the page that begins in `page`, as far as its bytes tell. */
static size_t page_size(const smp_ogg_pages *p)
{
    if (p->used < SMP_OGG_HEADER)
        return SMP_OGG_HEADER;
    size_t size = SMP_OGG_HEADER + (size_t)p->page[SMP_OGG_SEGMENTS_AT];
    for (size_t i = SMP_OGG_HEADER, end = size; i < end; i++) {
        if (i >= p->used)
            return end;
        size += p->page[i];
    }
    return size;
}

static smp_code write_page(uint8_t *page, size_t size, smp_output *output, smp_error *err)
{
    smp_put_le(page + SMP_OGG_SERIAL_AT, SERIAL, 4);
    smp_put_le(page + SMP_OGG_CHECKSUM_AT, 0, 4);
    smp_put_le(page + SMP_OGG_CHECKSUM_AT, smp_ogg_checksum(page, size), 4);
    return smp_output_write(output, page, size, err);
}

void smp_ogg_pages_free(smp_ogg_pages *p)
{
    if (!p)
        return;
    smp_free_all(p->packets[0].data, p->packets[1].data, p->comment.data, p);
}

bool smp_ogg_pages_comment(smp_ogg_pages *p, const smp_meta *meta, bool opus)
{
    p->headers = opus ? 1 : 2;
    smp_sound_put_comments(&p->comment, meta, true);
    return !p->comment.failed;
}

/* Adds a page's segments to the packets that they belong to. */
static void take_page(smp_ogg_pages *p)
{
    const size_t segments = p->page[SMP_OGG_SEGMENTS_AT];
    size_t at = SMP_OGG_HEADER + segments;
    for (size_t i = 0; i < segments && p->ended < p->headers; i++) {
        const uint8_t size = p->page[SMP_OGG_HEADER + i];
        smp_bytes_add(&p->packets[p->ended], p->page + at, size);
        at += size;
        p->ended += size < SEGMENT;
    }
    p->taken++;
}

/* The comment that the library made, with other texts behind its mark and its vendor. */
static void replace_comment(smp_ogg_pages *p)
{
    smp_bytes *old = &p->packets[0], new = {0};
    const size_t mark = p->headers == 1 ? 8 : 7;
    const size_t vendor = !old->failed && old->size >= mark + 4 ? smp_get_le(old->data + mark, 4) : SIZE_MAX;
    if (vendor > old->size || old->size - vendor < mark + 4)
        return;
    smp_bytes_add(&new, old->data, mark + 4 + vendor);
    smp_bytes_add(&new, p->comment.data, p->comment.size);
    if (p->headers == 2)
        smp_bytes_le(&new, 1, 1); /* Vorbis ends it with a bit */
    smp_free(old->data);
    *old = new;
}

/* Writes the packets as pages, from number 1 on. */
static smp_code write_packets(smp_ogg_pages *p, smp_output *output, smp_error *err)
{
    size_t at = 0; /* of packet number k */
    for (int k = 0; k < p->headers;) {
        uint8_t *const lengths = p->page + SMP_OGG_HEADER;
        size_t segments = 0, used = SMP_OGG_HEADER + MOST_SEGMENTS;
        bool ends = false;
        memcpy(p->page, "OggS\0", 5);
        p->page[SMP_OGG_FLAGS_AT] = at ? SMP_OGG_GOES_ON : 0;
        while (k < p->headers && segments < MOST_SEGMENTS) {
            const smp_bytes *packet = &p->packets[k];
            const size_t left = packet->size - at, n = left < SEGMENT ? left : SEGMENT;
            lengths[segments++] = (uint8_t)n;
            memcpy(p->page + used, packet->data + at, n);
            used += n;
            at += n;
            if (n < SEGMENT)
                k++, at = 0, ends = true;
        }
        memset(p->page + SMP_OGG_GRANULE_AT, ends ? 0 : 0xFF, 8); /* -1: no packet ends here */
        smp_put_le(p->page + SMP_OGG_NUMBER_AT, ++p->made, 4);
        p->page[SMP_OGG_SEGMENTS_AT] = (uint8_t)segments;
        memmove(lengths + segments, lengths + MOST_SEGMENTS, used - SMP_OGG_HEADER - MOST_SEGMENTS);
        SMP_TRY(write_page(p->page, used - (MOST_SEGMENTS - segments), output, err));
    }
    return SMP_OK;
}

/* Takes the last packet of a page, or what is there of it. False: nothing is left. */
static bool drop_packet(uint8_t *page, size_t *size)
{
    uint8_t *const lengths = page + SMP_OGG_HEADER;
    const size_t had = page[SMP_OGG_SEGMENTS_AT];
    size_t segments = had ? had - 1 : 0, bytes = 0;
    while (segments && lengths[segments - 1] == SEGMENT)
        segments--;
    for (size_t i = 0; i < segments; i++)
        bytes += lengths[i];
    memmove(lengths + segments, lengths + had, bytes);
    page[SMP_OGG_SEGMENTS_AT] = (uint8_t)segments;
    *size = SMP_OGG_HEADER + segments + bytes;
    return segments;
}

static smp_code put_sound(smp_ogg_pages *p, smp_output *output, smp_error *err)
{
    const bool last = p->page[SMP_OGG_FLAGS_AT] & SMP_OGG_LAST;
    if (!p->end)
        return write_page(p->page, p->used, output, err);
    if (!last || drop_packet(p->page, &p->used)) {
        SMP_TRY(p->held_size ? write_page(p->held, p->held_size, output, err) : SMP_OK);
        memcpy(p->held, p->page, p->used);
        p->held_size = p->used;
    } else if (p->page[SMP_OGG_FLAGS_AT] & SMP_OGG_GOES_ON)
        drop_packet(p->held, &p->held_size);
    if (!last)
        return SMP_OK;
    p->held[SMP_OGG_FLAGS_AT] |= SMP_OGG_LAST;
    smp_put_bytes(p->held + SMP_OGG_GRANULE_AT, (uint64_t)p->end, 8, false);
    return write_page(p->held, p->held_size, output, err);
}

/* A page that is whole. */
static smp_code put_page(smp_ogg_pages *p, smp_output *output, smp_error *err)
{
    const uint32_t number = smp_get_le(p->page + SMP_OGG_NUMBER_AT, 4);
    if (!number)
        p->skip = smp_get_le(p->page + SMP_OGG_HEADER + p->page[SMP_OGG_SEGMENTS_AT] + SKIP_AT, 2);
    if (!p->headers || !number)
        return write_page(p->page, p->used, output, err);
    if (p->ended < p->headers) {
        take_page(p);
        if (p->ended < p->headers)
            return SMP_OK;
        replace_comment(p);
        if (p->packets[0].failed || p->packets[1].failed)
            return smp_fail_memory(err, "tags", p->packets[0].size);
        return write_packets(p, output, err);
    }
    smp_put_le(p->page + SMP_OGG_NUMBER_AT, number - p->taken + p->made, 4);
    return put_sound(p, output, err);
}

smp_code smp_ogg_pages_put(smp_ogg_pages *p, smp_output *output, const void *data, size_t size, smp_error *err)
{
    const uint8_t *from = data;
    while (size) {
        size_t want = page_size(p) - p->used, n = size < want ? size : want;
        memcpy(p->page + p->used, from, n);
        p->used += n;
        from += n;
        size -= n;
        if (p->used < SMP_OGG_HEADER || p->used < page_size(p))
            continue;
        smp_code code = put_page(p, output, err);
        p->used = 0;
        if (code != SMP_OK)
            return code;
    }
    return SMP_OK;
}
