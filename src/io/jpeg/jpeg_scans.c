/* Walks over the markers of a JPEG. Its scans are counted before libjpeg takes memory for its coefficients: each is a
 * pass over the picture, and costs a file a few bytes. Source: ITU-T T.81, B.1.1 and B.2. */
#include <string.h>

#include "io/bytes.h"
#include "io/jpeg/jpeg_glue.h"
#include "io/jpeg/jpeg_lossless.h"

enum { LOSSLESS = 0xC3, START_OF_SCAN = 0xDA, END = 0xD9, RESTART = 0xD0, START = 0xD8, TEMPORARY = 0x01 };

/* Puts the byte at `position`, and what follows it, into the block. */
static bool show(smp_jpeg_walk *w, uint64_t position)
{
    if (position >= w->at && position < w->at + w->size)
        return true;
    w->size = 0;
    if (position >= w->source->size)
        return false;
    const uint64_t left = w->source->size - position;
    const size_t size = left < sizeof w->bytes ? (size_t)left : sizeof w->bytes;
    if (!smp_source_look(w->source, position, w->bytes, size))
        return false;
    w->at = position;
    w->size = size;
    return true;
}

static bool byte_at(smp_jpeg_walk *w, uint64_t position, uint8_t *byte)
{
    if (!show(w, position))
        return false;
    *byte = w->bytes[position - w->at];
    return true;
}

bool smp_jpeg_next_marker(smp_jpeg_walk *w, uint64_t *position, uint8_t *marker)
{
    while (show(w, *position)) {
        const uint8_t *from = w->bytes + (*position - w->at), *end = w->bytes + w->size;
        const uint8_t *found = memchr(from, 0xFF, (size_t)(end - from));
        *position += (uint64_t)((found ? found : end) - from);
        if (!found)
            continue;
        do
            if (!byte_at(w, ++*position, marker))
                return false;
        while (*marker == 0xFF); /* fill bytes */
        ++*position;
        if (*marker && (*marker < RESTART || *marker >= RESTART + 8))
            return true;
    }
    return false;
}

void smp_jpeg_look(const smp_source *source, uint64_t position, int most, smp_jpeg_seen *seen)
{
    enum { HEAD = 3 };
    smp_jpeg_walk w = {.source = source};
    *seen = (smp_jpeg_seen){0};
    for (uint8_t marker, head[HEAD] = {0}; seen->scans < most && smp_jpeg_next_marker(&w, &position, &marker);) {
        if (marker == TEMPORARY || marker == START)
            continue;
        if ((seen->whole = marker == END) || !byte_at(&w, position, head) || !byte_at(&w, position + 1, head + 1) ||
            !byte_at(&w, position + 2, head + 2))
            break;
        seen->scans += marker == START_OF_SCAN;
        seen->parts += marker == START_OF_SCAN ? head[2] : 0;
        seen->lossless = marker == LOSSLESS && !seen->lossless ? position : seen->lossless;
        position += smp_get_be(head, 2);
    }
}

bool smp_jpeg_is_lossless(const smp_source *source)
{
    enum { SCAN = 0xDA, HEAD = 4 };
    uint8_t head[HEAD] = {0};
    uint64_t at = 2;
    for (int i = 0; i < SMP_JPEG_MAX_MARKERS && head[1] != LOSSLESS; i++) {
        if (!smp_source_look(source, at, head, HEAD) || head[0] != 0xFF || head[1] == SCAN)
            return false;
        at += head[1] == 0xFF ? 1 : 2 + smp_get_be(head + 2, 2);
    }
    return head[1] == LOSSLESS;
}
