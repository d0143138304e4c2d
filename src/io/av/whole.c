/* See whole.h. */
#include "io/av/whole.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/audio/ogg_pages.h"
#include "io/bytes.h"

/* The bytes that the header of an ASF says the file has; 0: it does not. Source: Microsoft, Advanced Systems Format,
 * revision 01.20, 3.2. */
static uint64_t asf_size(const smp_source *source)
{
    static const uint8_t properties[] = {0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11,
                                         0x8E, 0xE4, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65};
    enum { HEAD = 8192, SIZE_AT = 16 + 8 + 16 };
    uint8_t head[HEAD];
    const size_t size = source->size < HEAD ? (size_t)source->size : HEAD;
    const uint8_t *at = smp_source_look(source, 0, head, size) ? memmem(head, size, properties, 16) : NULL;
    if (!at || (size_t)(head + size - at) < SIZE_AT + 8)
        return 0;
    return smp_get_bytes(at + SIZE_AT, 8, false);
}

/* The same of an AVI: of its first list, which others follow where it is longer than 1 GB. */
static uint64_t avi_size(const smp_source *source)
{
    enum { HEAD = 8, OPEN = 0x7FFFF000 /* sizes from here on are those of programs that write to a pipe */ };
    uint8_t head[HEAD];
    const uint32_t size = smp_source_look(source, 0, head, HEAD) ? smp_get_le(head + 4, 4) : 0;
    return size && size < OPEN ? HEAD + (uint64_t)size : 0;
}

/* Returns the end of the media data and fragments of an MP4 or MOV, as their boxes say. Source: ISO/IEC 14496-12,
 * 4.2. */
static uint64_t mov_size(const smp_source *source)
{
    enum { HEAD = 8, LONG_HEAD = 16, MOST_BOXES = 1 << 20 };
    uint64_t at = 0, end = 0;
    uint8_t head[LONG_HEAD];
    for (int i = 0; i < MOST_BOXES && source->size - at >= HEAD && smp_source_look(source, at, head, HEAD); i++) {
        uint64_t size = smp_get_be(head, 4);
        const bool counts = !memcmp(head + 4, "mdat", 4) || !memcmp(head + 4, "moof", 4);
        if (size == 1 && source->size - at >= LONG_HEAD && smp_source_look(source, at, head, LONG_HEAD))
            size = smp_get_bytes(head + HEAD, 8, true);
        if (size < HEAD) /* up to the end, or no box */
            break;
        if (size > source->size - at)
            return counts && size <= UINT64_MAX - at ? at + size : end;
        at += size;
        end = at;
    }
    return end;
}

/* The same of a CAF, up to its samples. Source: Apple, "Apple Core Audio Format Specification 1.0". */
static uint64_t caf_size(smp_source *source)
{
    smp_chunks c = {.name = 4, .bytes = 8, .big = true, .at = 8};
    while (smp_chunk_next(&c, source, NULL) == SMP_OK && c.found) {
        if (c.size > INT64_MAX) /* up to the end */
            return 0;
        if (smp_chunk_is(&c, "data") || c.size > source->size - c.body)
            return c.body + c.size;
        c.at = c.body + c.size;
    }
    return c.body;
}

static smp_code check_ogg(smp_source *source, smp_error *err)
{
    smp_ogg_link *links = NULL;
    size_t count;
    smp_code code = smp_ogg_check_end(source, err);
    code = code ? code : smp_ogg_find_links(source, &links, &count, err);
    smp_free(links);
    return code;
}

smp_code smp_av_check_container(smp_source *source, const char *kind, smp_error *err)
{
    uint64_t promised = 0;
    if (!strcmp(kind, "ogg"))
        return check_ogg(source, err);
    if (!strncmp(kind, "matroska", 8))
        return smp_matroska_check(source, err);
    SMP_TRY(smp_av_check_frames(source, kind, err));
    if (!strcmp(kind, "asf"))
        promised = asf_size(source);
    else if (!strncmp(kind, "mov,", 4))
        promised = mov_size(source);
    else if (!strcmp(kind, "caf"))
        promised = caf_size(source);
    else if (!strcmp(kind, "avi"))
        promised = avi_size(source);
    if (promised <= source->size)
        return strcmp(kind, "asf") != 0 ? SMP_OK : smp_asf_check(source, err);
    return smp_fail(err, SMP_E_DECODE, "the file is truncated: its header says %llu bytes, and it has %llu",
                    (unsigned long long)promised, (unsigned long long)source->size);
}

/* Headers that tell of seconds may mean the pictures, whose last one has no exact end. */
smp_code smp_av_check_length(const smp_source *source, const smp_av_seen *seen, smp_error *err)
{
    enum { TS_PACKET = 188 };
    const double sound = (double)seen->frames / seen->rate, slack = fmax(fmin(0.5, seen->said / 5), seen->packet);
    if (seen->frames < seen->exact)
        return smp_fail(err, SMP_E_DECODE, "the file is truncated: its header says %lld frames, and it has %lld",
                        (long long)seen->exact, (long long)seen->frames);
    if (seen->said > fmax(seen->last, sound) + slack)
        return smp_fail(err, SMP_E_DECODE, "the file is truncated: its header says %.1f s, and it has %.1f s of sound",
                        seen->said, sound);
    if (seen->cut || (!strcmp(seen->kind, "mpegts") && source->size % TS_PACKET))
        return smp_fail(err, SMP_E_DECODE, "the file is truncated: it ends in a packet, with %.1f s of sound", sound);
    return SMP_OK;
}

/* Whether a PCX has the runs of all rows, and its palette behind them; FFmpeg leaves some out, takes others for a
 * palette, and says nothing. */
bool smp_pcx_is_whole(const uint8_t *data, size_t size)
{
    enum { HEAD = 128, RUN = 0xC0, PALETTE = 769 };
    const int64_t rows = (int64_t)smp_get_le(data + 10, 2) - smp_get_le(data + 6, 2) + 1;
    const bool palette = data[3] == 8 && data[65] == 1;
    int64_t left = rows * data[65] * smp_get_le(data + 66, 2);
    size_t at = HEAD;
    for (; left > 0 && at < size; at++)
        left -= data[at] >= RUN ? data[at++] - RUN : 1;
    return left <= 0 && at + (palette ? PALETTE : 0) <= size;
}

/* The same of a Sun raster, whose rows are whole words of 16 bits. */
bool smp_sun_is_whole(const uint8_t *data, size_t size)
{
    enum { HEAD = 32, WIDTH = 4, HEIGHT = 8, DEPTH = 12, KIND = 20, MAP = 28, RUNS = 2, RUN = 0x80 };
    if (size < HEAD)
        return false;
    const uint64_t row = (smp_get_be(data + WIDTH, 4) * smp_get_be(data + DEPTH, 4) + 15) / 16 * 2;
    uint64_t left = row * smp_get_be(data + HEIGHT, 4), at = HEAD + smp_get_be(data + MAP, 4);
    if (smp_get_be(data + KIND, 4) != RUNS)
        return at <= size && left <= size - at;
    for (; left > 0 && at < size; at++) { /* RUN 0: RUN itself; RUN n c: n + 1 times c */
        const bool run = data[at] == RUN && data[at + 1];
        left -= smp_min_u64(left, run ? data[at + 1] + 1u : 1);
        at += data[at] != RUN ? 0 : run ? 2 : 1;
    }
    return !left && at <= size;
}
