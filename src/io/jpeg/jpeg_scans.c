/* Counts the scans of a JPEG before libjpeg takes memory for its coefficients: each scan is a pass over the picture,
 * and costs a file a few bytes. Source: ITU-T T.81, B.1.1 and B.2. */
#include <string.h>

#include "io/jpeg/jpeg_glue.h"

enum { BLOCK = 1 << 15, START_OF_SCAN = 0xDA, END = 0xD9, RESTART = 0xD0, START = 0xD8, TEMPORARY = 0x01 };

/* Bytes of a file, a block at a time. */
typedef struct window {
    const smp_source *source;
    uint64_t at; /* of the first byte in the block */
    size_t size;
    uint8_t bytes[BLOCK];
} window;

/* Puts the byte at `position`, and what follows it, into the block. */
static bool show(window *w, uint64_t position)
{
    if (position >= w->at && position < w->at + w->size)
        return true;
    w->size = 0;
    if (position >= w->source->size)
        return false;
    const uint64_t left = w->source->size - position;
    const size_t size = left < BLOCK ? (size_t)left : BLOCK;
    if (!smp_source_look(w->source, position, w->bytes, size))
        return false;
    w->at = position;
    w->size = size;
    return true;
}

static bool byte_at(window *w, uint64_t position, uint8_t *byte)
{
    if (!show(w, position))
        return false;
    *byte = w->bytes[position - w->at];
    return true;
}

/* The position behind the next marker from `position` on; bytes that no marker announces are passed over. */
static bool next_marker(window *w, uint64_t *position, uint8_t *marker)
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
        const bool restart = *marker >= RESTART && *marker < RESTART + 8;
        if (*marker && *marker != TEMPORARY && *marker != START && !restart)
            return true;
    }
    return false;
}

int smp_jpeg_count_scans(const smp_source *source, uint64_t position, int most)
{
    window w = {.source = source};
    int scans = 1;
    for (uint8_t marker, high, low; scans <= most && next_marker(&w, &position, &marker) && marker != END;) {
        if (!byte_at(&w, position, &high) || !byte_at(&w, position + 1, &low))
            break;
        scans += marker == START_OF_SCAN;
        position += (uint64_t)(high << 8 | low);
    }
    return scans;
}
