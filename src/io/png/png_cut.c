/* PNGs that are cut short, as a copy or download that broke off leaves them: read on request as far as they go. */
#include <string.h>
#include <zlib.h>

#include "io/bytes.h"
#include "io/png/png_glue.h"

enum {
    SIGNATURE = 8,
    FRAME = 8,             /* a chunk's length and type, */
    CRC = 4,               /* and what follows its data */
    MOST_CHUNKS = 1 << 20, /* to walk over */
    MOST_CHUNK = 0x7fffffff
};

static const uint8_t end[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xAE, 0x42, 0x60, 0x82};

smp_png_cut smp_png_find_cut(const smp_source *source)
{
    smp_png_cut cut = {.at = SIGNATURE};
    bool begun = false; /* the picture */
    for (int i = 0; source->seekable && i < MOST_CHUNKS; i++) {
        uint8_t frame[FRAME];
        if (!smp_source_look(source, cut.at, frame, sizeof frame)) {
            cut.is = begun;
            return cut;
        }
        const uint64_t size = smp_get_be(frame, 4), have = source->size - cut.at - FRAME;
        const bool data = memcmp(frame + 4, "IDAT", 4) == 0;
        if (size > MOST_CHUNK)
            return cut;
        if (have < size + CRC) {
            cut.data = data;
            cut.size = (uint32_t)(size < have ? size : have);
            cut.is = begun || (data && have > 0);
            return cut;
        }
        if (memcmp(frame + 4, "IEND", 4) == 0)
            return cut;
        begun |= data && size > 0;
        cut.at += FRAME + size + CRC;
    }
    return cut;
}

/* The bytes of a text from `*at` on; moves on in both. */
static size_t copy(const uint8_t *text, size_t length, uint64_t *at, uint8_t *to, size_t size)
{
    const size_t n = length - *at < size ? length - (size_t)*at : size;
    memcpy(to, text + *at, n);
    *at += n;
    return n;
}

/* One piece of what is given in place of the last chunk; 0: nothing is left. */
static size_t read_piece(smp_png_cut *cut, smp_source *source, uint8_t *to, size_t size)
{
    const uint64_t data_end = cut->data ? FRAME + (uint64_t)cut->size : 0, crc_end = cut->data ? data_end + CRC : 0;
    uint64_t at = cut->given;
    size_t n = 0;
    if (at < data_end && at < FRAME) {
        uint8_t frame[FRAME] = {0, 0, 0, 0, 'I', 'D', 'A', 'T'};
        smp_put_be(frame, cut->size, 4);
        n = copy(frame, FRAME, &at, to, size);
        cut->crc = (uint32_t)crc32(0, frame + 4, 4);
        if (at == FRAME && smp_source_skip(source, FRAME) != FRAME)
            return 0;
    } else if (at < data_end) {
        n = data_end - at < size ? (size_t)(data_end - at) : size;
        if (smp_source_read(source, to, n) != n)
            return 0;
        cut->crc = (uint32_t)crc32(cut->crc, to, (uInt)n);
    } else if (at < crc_end) {
        uint8_t crc[CRC];
        smp_put_be(crc, cut->crc, 4);
        at -= data_end;
        n = copy(crc, CRC, &at, to, size);
    } else if (at < crc_end + sizeof end) {
        at -= crc_end;
        n = copy(end, sizeof end, &at, to, size);
    }
    cut->given += n;
    return n;
}

bool smp_png_read_cut(smp_png_cut *cut, smp_source *source, void *to, size_t size)
{
    uint8_t *next = to;
    while (size) {
        size_t n = size;
        if (source->position < cut->at && !cut->given) {
            n = cut->at - source->position < size ? (size_t)(cut->at - source->position) : size;
            if (smp_source_read(source, next, n) != n)
                return false;
        } else
            n = read_piece(cut, source, next, size);
        if (!n)
            return false;
        next += n;
        size -= n;
    }
    return true;
}
