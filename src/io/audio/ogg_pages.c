/* See ogg_pages.h. Source: RFC 3533, section 6. */
#include "io/audio/ogg_pages.h"

#include <string.h>

#include "io/bytes.h"

enum { SERIAL_AT = 14, CHECKSUM_AT = 22, SEGMENTS_AT = 26, SERIAL = 1 };

static uint32_t checksum(const uint8_t *data, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum ^= (uint32_t)data[i] << 24;
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 0x80000000u ? sum << 1 ^ 0x04C11DB7u : sum << 1;
    }
    return sum;
}

/* The size of the page that begins in `page`, as far as its bytes tell. */
static size_t page_size(const smp_ogg_pages *p)
{
    if (p->used < SMP_OGG_HEADER)
        return SMP_OGG_HEADER;
    size_t size = SMP_OGG_HEADER + (size_t)p->page[SEGMENTS_AT];
    for (size_t i = SMP_OGG_HEADER, end = size; i < end; i++) {
        if (i >= p->used)
            return end;
        size += p->page[i];
    }
    return size;
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
        smp_put_le(p->page + SERIAL_AT, SERIAL, 4);
        smp_put_le(p->page + CHECKSUM_AT, 0, 4);
        smp_put_le(p->page + CHECKSUM_AT, checksum(p->page, p->used), 4);
        smp_code code = smp_output_write(output, p->page, p->used, err);
        p->used = 0;
        if (code != SMP_OK)
            return code;
    }
    return SMP_OK;
}
