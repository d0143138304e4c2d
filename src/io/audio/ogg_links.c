/* See ogg_links.h. A link begins with a page marked as the first of a stream, after a page that is not marked. */
#include "io/audio/ogg_pages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum {
    HEADER = SMP_OGG_HEADER,
    /* A link's codebooks take a millisecond or two, however short it is. A file may have some, and one for so many of
     * its bytes: seconds of music. */
    SOME_LINKS = 256,
    BYTES_A_LINK = 1 << 15
};

/* Returns the start of the next page: `at`, or behind bytes that belong to no page. The file's size if there is
 * none. */
static uint64_t find_page(smp_source *source, uint64_t at)
{
    uint8_t piece[4096];
    while (at + HEADER <= source->size) {
        const size_t n = (size_t)smp_min_u64(source->size - at, at + 4 <= source->size ? sizeof piece : 0);
        if (!smp_sound_look(source, at, piece, n))
            break;
        for (size_t i = 0; i + 4 <= n; i++)
            if (piece[i] == 'O' && memcmp(piece + i, "OggS", 4) == 0)
                return at + i;
        at += n - 3;
    }
    return source->size;
}

static smp_code fail_damaged(uint64_t at, const char *what, smp_error *err)
{
    smp_fail(err, SMP_E_DECODE, "the OGG is damaged: the page at byte %llu %s", (unsigned long long)at, what);
    return smp_sound_hint_saved(err);
}

static smp_code check_page(smp_source *source, uint64_t at, size_t size, uint8_t *page, smp_error *err)
{
    if (!smp_sound_look(source, at, page, size))
        return smp_source_ended(source, err);
    const uint32_t said = smp_get_le(page + SMP_OGG_CHECKSUM_AT, 4);
    memset(page + SMP_OGG_CHECKSUM_AT, 0, 4);
    return smp_ogg_checksum(page, size) == said ? SMP_OK : fail_damaged(at, "does not have its checksum", err);
}

static smp_code fail_chain(size_t most, uint64_t size, smp_error *err)
{
    smp_fail(err, SMP_E_LIMIT, "the OGG is a chain of more than %zu streams in %llu bytes", most,
             (unsigned long long)size);
    return smp_hint(err, "join them into one: ffmpeg -i IN -c:a flac OUT.flac");
}

static smp_code walk(smp_source *source, uint8_t *page, smp_ogg_link **links, size_t *count, smp_error *err)
{
    uint8_t b[HEADER + 255];
    size_t capacity = 0;
    bool in_first = false;
    uint32_t next = 0; /* number of a page of the link */
    for (uint64_t at = 0; at + HEADER <= source->size;) {
        const size_t have = (size_t)smp_min_u64(source->size - at, sizeof b);
        if (!smp_sound_look(source, at, b, have))
            return smp_source_ended(source, err);
        if (memcmp(b, "OggS", 4) != 0) {
            at = find_page(source, at + 1);
            continue;
        }
        const size_t segments = b[SMP_OGG_SEGMENTS_AT];
        if (HEADER + segments > have)
            break;
        const bool first = b[SMP_OGG_FLAGS_AT] & SMP_OGG_FIRST;
        const uint32_t serial = smp_get_le(b + SMP_OGG_SERIAL_AT, 4);
        if (!*count || (first && !in_first)) {
            if (*count >= SOME_LINKS + source->size / BYTES_A_LINK)
                return fail_chain(*count, source->size, err);
            SMP_NEED(smp_grow(links, &capacity, *count + 1, sizeof **links), "streams", (*count + 1) * sizeof **links,
                     err);
            (*links)[(*count)++] = (smp_ogg_link){.from = at, .serial = serial};
        }
        in_first = first;
        smp_ogg_link *link = &(*links)[*count - 1];
        const uint32_t number = smp_get_le(b + SMP_OGG_NUMBER_AT, 4);
        size_t size = HEADER + segments;
        for (size_t i = 0; i < segments; i++)
            size += b[HEADER + i];
        if (size <= source->size - at) { /* else it is cut, which is told elsewhere */
            SMP_TRY(check_page(source, at, size, page, err));
            if (serial == link->serial && !first && number != next)
                return fail_damaged(at, "is not the next one: some are missing before it", err);
        }
        if (serial == link->serial)
            next = number + 1;
        const int64_t granule = (int64_t)smp_get_bytes(b + SMP_OGG_GRANULE_AT, 8, false);
        if (serial == link->serial && granule > 0) /* -1: no packet ends on this page */
            link->granule = granule;
        at += size;
        link->to = smp_min_u64(at, source->size);
    }
    return *count ? SMP_OK : smp_fail(err, SMP_E_DECODE, "the OGG is damaged: it has no whole page");
}

smp_code smp_ogg_find_links(smp_source *source, smp_ogg_link **links, size_t *count, smp_error *err)
{
    uint8_t *page = smp_alloc_raw(SMP_OGG_MOST);
    *links = NULL;
    *count = 0;
    const smp_code code = page ? walk(source, page, links, count, err) : smp_fail_memory(err, "a page", SMP_OGG_MOST);
    smp_free(page);
    return code;
}

bool smp_ogg_begins(const uint8_t *head, size_t size, const char *magic, size_t length)
{
    if (size <= HEADER || memcmp(head, "OggS", 4) != 0)
        return false;
    const size_t at = HEADER + (size_t)head[SMP_OGG_SEGMENTS_AT];
    return at + length <= size && memcmp(head + at, magic, length) == 0;
}

smp_code smp_ogg_check_end(smp_source *source, smp_error *err)
{
    const size_t have = (size_t)smp_min_u64(source->size, SMP_OGG_MOST);
    uint8_t *end = smp_alloc_raw(have);
    bool whole = false;
    SMP_NEED(end, "a page", have, err);
    if (smp_sound_look(source, source->size - have, end, have))
        for (size_t at = 0; at + HEADER <= have && !whole; at++) {
            const uint8_t *page = end + at;
            if (memcmp(page, "OggS", 4) != 0 || !(page[SMP_OGG_FLAGS_AT] & SMP_OGG_LAST) ||
                at + HEADER + page[SMP_OGG_SEGMENTS_AT] > have)
                continue;
            size_t size = HEADER + (size_t)page[SMP_OGG_SEGMENTS_AT];
            for (size_t i = 0; i < page[SMP_OGG_SEGMENTS_AT]; i++)
                size += page[HEADER + i];
            whole = at + size <= have; /* tags of other programs may follow */
        }
    smp_free(end);
    if (whole)
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "the OGG is truncated: its last page is not the end of the stream");
    return smp_sound_hint_saved(err);
}
