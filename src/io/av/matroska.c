/* A walk over the elements of a Matroska or WebM file. Sources: RFC 8794 (EBML: 4 to 6 on numbers and unknown sizes,
 * 11.3.1 on CRC-32); RFC 9559 (the elements' names). */
#include "io/av/whole.h"

#include <zlib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"

enum {
    HEAD = 12, /* bytes of a name and a size, at most */
    PIECE = 1 << 16,
    EBML = 0x1A45DFA3,
    SEGMENT = 0x18538067,
    VOID = 0xEC,
    CRC = 0xBF,
    CRC_SIZE = 6 /* bytes of that element */
};
#define UNKNOWN UINT64_MAX

typedef struct element {
    uint32_t id;
    uint64_t body, size; /* UNKNOWN: up to where something else begins */
} element;

/* A number whose first byte says by leading zeros how many bytes follow. 0: it is none, or longer than `most`. */
static int length_of(uint8_t first, int most)
{
    int length = 1;
    while (length <= most && !(first & 0x80 >> (length - 1)))
        length++;
    return length <= most ? length : 0;
}

/* False: no element begins there. */
static bool take(const smp_source *source, uint64_t at, element *e)
{
    enum { NAME = 4, SIZE = 8 };
    uint8_t b[HEAD] = {0};
    const size_t have = (size_t)smp_min_u64(source->size - at, HEAD);
    if (at >= source->size || !smp_source_look(source, at, b, have))
        return false;
    const int name = length_of(b[0], NAME), size = name ? length_of(b[name], SIZE) : 0;
    if (!name || !size || (size_t)(name + size) > have)
        return false;
    e->id = smp_get_be(b, name);
    e->size = b[name] & (0xFF >> size);
    bool ones = e->size == (uint64_t)(0xFF >> size);
    for (int i = 1; i < size; i++) {
        ones = ones && b[name + i] == 0xFF;
        e->size = e->size << 8 | b[name + i];
    }
    if (ones)
        e->size = UNKNOWN;
    e->body = at + (uint64_t)(name + size);
    return true;
}

static smp_code fail_damaged(uint64_t at, const char *what, smp_error *err)
{
    return smp_fail(err, SMP_E_DECODE, "the file is damaged: the element at byte %llu %s", (unsigned long long)at,
                    what);
}

static smp_code fail_cut(uint64_t at, uint64_t end, const smp_source *source, smp_error *err)
{
    return smp_fail(err, SMP_E_DECODE,
                    "the file is truncated: its part at byte %llu goes on to byte %llu, and it has %llu bytes",
                    (unsigned long long)at, (unsigned long long)end, (unsigned long long)source->size);
}

/* The checksum that an element begins with is of all that follows it in the element. */
static smp_code check_sum(const smp_source *source, uint64_t at, const element *e, uint8_t *piece, smp_error *err)
{
    uint8_t b[CRC_SIZE];
    if (e->size < CRC_SIZE || !smp_source_look(source, e->body, b, CRC_SIZE) || b[0] != CRC || b[1] != 0x84)
        return SMP_OK;
    uLong sum = crc32(0, NULL, 0);
    for (uint64_t i = CRC_SIZE; i < e->size;) {
        const size_t n = (size_t)smp_min_u64(e->size - i, PIECE);
        if (!smp_source_look(source, e->body + i, piece, n))
            return smp_source_ended(source, err);
        sum = crc32(sum, piece, (uInt)n);
        i += n;
    }
    return sum == smp_get_le(b + 2, 4) ? SMP_OK : fail_damaged(at, "does not have its checksum", err);
}

/* The elements of a segment up to `end`. One of unknown size is entered, and ends where another of the segment's
 * begins: as all are walked alike, nothing need be known of that. */
static smp_code walk_segment(const smp_source *source, uint64_t at, uint64_t end, uint8_t *piece, smp_error *err)
{
    while (at < end) {
        element e;
        if (!take(source, at, &e))
            return at + HEAD > source->size ? fail_cut(at, at + HEAD, source, err)
                                            : fail_damaged(at, "is none of Matroska's", err);
        if (e.size == UNKNOWN) {
            at = e.body;
            continue;
        }
        uint64_t stop;
        if (!smp_add_u64(e.body, e.size, &stop))
            return fail_damaged(at, "is larger than can be counted", err);
        if (stop > end)
            return end == source->size ? fail_cut(at, stop, source, err) : fail_damaged(at, "leaves its segment", err);
        SMP_TRY(check_sum(source, at, &e, piece, err));
        at = stop;
    }
    return SMP_OK;
}

smp_code smp_matroska_check(smp_source *source, smp_error *err)
{
    element e;
    smp_code code = SMP_OK;
    uint8_t *piece = smp_alloc_raw(PIECE);
    SMP_NEED(piece, "a piece of a file", PIECE, err);
    for (uint64_t at = 0; !code && take(source, at, &e) && (e.id == EBML || e.id == SEGMENT || e.id == VOID);) {
        uint64_t end;
        if (e.size == UNKNOWN)
            end = source->size;
        else if (!smp_add_u64(e.body, e.size, &end) || end > source->size)
            code = fail_cut(at, end, source, err);
        if (!code && e.id == SEGMENT)
            code = walk_segment(source, e.body, end, piece, err);
        at = end;
    }
    smp_free(piece);
    return code;
}
