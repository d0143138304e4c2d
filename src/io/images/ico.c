/* Icons and cursors of Windows: the rows of the table, and the reader. A file holds a picture in several sizes, of
 * which the largest is read, or one by --page: each is a PNG, or a BMP without its file header, twice as high as the
 * picture, with a mask behind the pixels. Source: Microsoft, "Icons", MSDN 1995. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"
#include "io/images/bmp_glue.h"
#include "io/images/ico_glue.h"

enum { ICON = 1, CURSOR = 2 };
enum { MASKS = 4 * 4, HEAD = BMP_FILE_HEADER + MASKS }; /* bytes that the BMP may need in front of the picture's */

typedef struct entry {
    uint64_t at, size;
    int64_t width, height;
    uint32_t bits;
    uint32_t x, y; /* of a cursor: the spot that points */
    bool png;
} entry;

typedef struct ico_reader {
    bmp_reader bmp;
    const uint8_t *mask; /* lies in the source; null: alpha is the pixels' own, or there is none */
    uint64_t mask_row;   /* bytes */
} ico_reader;

/* TGAs begin alike: what the first entry says tells them apart. */
static bool sniff(const uint8_t *head, size_t size, int kind)
{
    if (size < SMP_ICO_HEAD + SMP_ICO_ENTRY || smp_get_le(head, 2) || smp_get_le(head + 2, 2) != (uint32_t)kind)
        return false;
    const uint8_t *first = head + SMP_ICO_HEAD;
    const uint32_t count = smp_get_le(head + 4, 2);
    return count && !(first[3] & 0x7F) && smp_get_le(first + 8, 4) &&
           smp_get_le(first + 12, 4) >= SMP_ICO_HEAD + SMP_ICO_ENTRY * count;
}

static bool sniff_icon(const uint8_t *head, size_t size)
{
    return sniff(head, size, ICON);
}

static bool sniff_cursor(const uint8_t *head, size_t size)
{
    return sniff(head, size, CURSOR);
}

/* What the directory says of a picture, and the picture itself. */
static bool read_entry(const smp_source *source, int64_t i, bool cursor, entry *e)
{
    static const uint8_t samples[] = {1, 0, 3, 1, 2, 0, 4}; /* of a PNG's pixel, by its kind */
    uint8_t said[SMP_ICO_ENTRY], own[26];
    *e = (entry){.size = 0};
    if (!smp_source_look(source, SMP_ICO_HEAD + (uint64_t)i * SMP_ICO_ENTRY, said, sizeof said))
        return false;
    e->size = smp_get_le(said + 8, 4);
    e->at = smp_get_le(said + 12, 4);
    e->x = smp_get_le(said + 4, 2);
    e->y = smp_get_le(said + 6, 2);
    if (!smp_source_look(source, e->at, own, sizeof own))
        return true;
    e->png = memcmp(own, "\x89PNG", 4) == 0;
    e->width = e->png ? (int64_t)smp_get_be(own + 16, 4) : (int32_t)smp_get_le(own + 4, 4);
    e->height = e->png ? (int64_t)smp_get_be(own + 20, 4) : llabs((int32_t)smp_get_le(own + 8, 4) / 2);
    e->bits = e->png ? (uint32_t)own[24] * samples[own[25] % sizeof samples] : smp_get_le(own + 14, 2);
    if (!cursor && e->y) /* pictures of few colours may be PNGs of many bits */
        e->bits = e->y;
    return true;
}

static bool is_larger(const entry *a, const entry *b)
{
    const double pixels = (double)a->width * (double)a->height, others = (double)b->width * (double)b->height;
    return pixels > others || (pixels == others && a->bits > b->bits);
}

static smp_code choose(smp_reader *reader, entry *chosen, smp_error *err)
{
    uint8_t head[SMP_ICO_HEAD];
    smp_media *media = &reader->media;
    int64_t page = reader->options.page;
    if (!smp_source_look(&reader->source, 0, head, sizeof head))
        return smp_check_size(&reader->source, sizeof head, err);
    const int64_t count = media->pages = smp_get_le(head + 4, 2);
    SMP_TRY(smp_check_size(&reader->source, SMP_ICO_HEAD + (uint64_t)count * SMP_ICO_ENTRY, err));
    if (page > count) {
        smp_fail(err, SMP_E_DECODE, "there is no page %lld: the file holds %lld", (long long)page, (long long)count);
        return smp_hint(err, "`smempipe info` tells how many a file has");
    }
    for (int64_t i = 0; i < count; i++) {
        entry e;
        if (!read_entry(&reader->source, i, reader->format == &smp_format_cur, &e))
            return smp_fail(err, SMP_E_READ, "cannot read the directory");
        if (!e.width && !reader->options.page) /* what is cut off may have been the largest */
            SMP_TRY(smp_check_size(&reader->source, e.at + e.size, err));
        if (reader->options.page ? i + 1 == page : !i || is_larger(&e, chosen)) {
            *chosen = e;
            page = i + 1;
        }
    }
    snprintf(media->detail, sizeof media->detail, ", picture %lld of %lld", (long long)page, (long long)count);
    if (count > 1 && !reader->options.page)
        smp_note(&reader->notes, "the file holds %lld pictures; the largest is read (--page N reads another)",
                 (long long)count);
    SMP_TRY(smp_check_size(&reader->source, chosen->at + chosen->size, err));
    return smp_check_picture(&reader->options.limits, 1, 1, chosen->size, err);
}

/* From now on the source is the picture alone, behind `HEAD` zeros. */
static smp_code take_source(smp_reader *reader, const entry *e, uint8_t **data, smp_error *err)
{
    smp_source *source = &reader->source;
    const double seconds = source->seconds;
    const size_t size = HEAD + (size_t)e->size;
    SMP_NEED(*data = smp_alloc(size), "a picture", size, err);
    const bool read = smp_source_look(source, e->at, *data + HEAD, (size_t)e->size);
    smp_source_close(source);
    smp_source_memory(source, *data, size);
    source->spooled = *data;
    source->seconds = seconds;
    return read ? SMP_OK : smp_fail(err, SMP_E_READ, "cannot read the picture");
}

/* ------------------------------------------------------------------------------------------------ bitmaps */

static bool has_alpha(const uint8_t *pixels, uint64_t size)
{
    for (uint64_t i = 3; i < size; i += 4)
        if (pixels[i])
            return true;
    return false;
}

static bool has_holes(const ico_reader *state, int64_t width, int64_t height)
{
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            if (state->mask[(uint64_t)y * state->mask_row + (uint64_t)x / 8] >> (7 - x % 8) & 1)
                return true;
    return false;
}

/* Gives the picture the file header of a BMP, and masks where its fourth byte is alpha. *mask_at: of the BMP. */
static smp_code make_bmp(uint8_t *data, uint64_t size, uint8_t **bmp, uint64_t *mask_at, smp_error *err)
{
    static const uint32_t channels[] = {0xFF0000, 0xFF00, 0xFF, 0xFF000000};
    uint8_t *info = data + HEAD;
    const uint32_t header = smp_get_le(info, 4), bits = smp_get_le(info + 14, 2), coding = smp_get_le(info + 16, 4);
    const int64_t width = (int32_t)smp_get_le(info + 4, 4), height = (int32_t)smp_get_le(info + 8, 4) / 2;
    if (header < BMP_INFO_HEADER || header > BMP_V5_HEADER || bits > 32 ||
        (coding != BMP_PLAIN && coding != BMP_BITFIELDS))
        return smp_fail(err, SMP_E_DECODE, "the picture's header is not one of an icon's (%u bytes, method %u)", header,
                        coding);
    const uint32_t used = smp_get_le(info + 32, 4), most = bits <= 8 ? 1u << bits : 0;
    const uint64_t colours = 4 * (uint64_t)(used && used < most ? used : most);
    const uint64_t masks = header == BMP_INFO_HEADER && coding == BMP_BITFIELDS ? 3 * 4 : 0;
    const uint64_t row = ((uint64_t)width * bits + 31) / 32 * 4, at = header + masks + colours;
    uint64_t pixels;
    if (width < 1 || !height || __builtin_mul_overflow(row, (uint64_t)(height < 0 ? -height : height), &pixels) ||
        at > size || pixels > size - at)
        return smp_fail(err, SMP_E_DECODE, "the picture is damaged: %lld x %lld pixels do not fit its %llu bytes",
                        (long long)width, (long long)height, (unsigned long long)size);
    smp_put_le(info + 8, (uint32_t)height, 4);
    const bool own = bits == 32 && !coding && has_alpha(info + at, pixels);
    *bmp = own ? info + header - BMP_INFO_HEADER - HEAD : info - BMP_FILE_HEADER;
    if (own) {
        memmove(*bmp + BMP_FILE_HEADER, info, BMP_INFO_HEADER);
        smp_put_le(*bmp + BMP_FILE_HEADER, BMP_INFO_HEADER, 4);
        smp_put_le(*bmp + BMP_FILE_HEADER + 16, BMP_ALPHA_BITFIELDS, 4);
        for (int c = 0; c < 4; c++)
            smp_put_le(info + header - MASKS + 4 * c, channels[c], 4);
    }
    memcpy(*bmp, "BM", 2);
    smp_put_le(*bmp + 10, (uint64_t)(info + at - *bmp), 4);
    *mask_at = (uint64_t)(info + at - *bmp) + pixels;
    return SMP_OK;
}

static smp_code open_bitmap(smp_reader *reader, uint8_t *data, uint64_t size, smp_error *err)
{
    smp_shape *shape = &reader->media.shape;
    uint8_t *bmp = data;
    uint64_t mask_at = 0;
    ico_reader *state = reader->state = smp_alloc(sizeof *state);
    SMP_NEED(state, "an icon", sizeof *state, err);
    SMP_TRY(make_bmp(data, size, &bmp, &mask_at, err));
    if (!smp_source_begin(&reader->source, (uint64_t)(bmp - data)))
        return smp_fail(err, SMP_E_READ, "cannot read the picture");
    SMP_TRY(smp_bmp_read_open(reader, err));
    state->mask_row = ((uint64_t)shape->width + 31) / 32 * 4;
    if (shape->alpha)
        return SMP_OK;
    if (mask_at + state->mask_row * (uint64_t)shape->height > reader->source.size) {
        smp_note(&reader->notes, "the mask that says what is transparent is missing: all is opaque");
        return SMP_OK;
    }
    state->mask = bmp + mask_at;
    if (has_holes(state, shape->width, shape->height)) {
        shape->alpha = true;
        shape->channels = 4;
    } else
        state->mask = NULL;
    return SMP_OK;
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    const ico_reader *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    uint8_t *out = to;
    SMP_TRY(smp_bmp_read_row(reader, y, to, err));
    if (!state->mask)
        return SMP_OK;
    const bool narrow = state->bmp.bits <= 8 || (state->bmp.bits == 24 && state->bmp.coding == BMP_PLAIN);
    const int64_t line = state->bmp.top_first ? y : shape->height - 1 - y;
    const uint8_t *mask = state->mask + (uint64_t)line * state->mask_row;
    for (int64_t x = shape->width - 1; x >= 0; x--) {
        if (narrow) /* pixels of three bytes lie in front of where they go */
            memmove(out + 4 * x, out + 3 * x, 3);
        out[4 * x + 3] = mask[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the reader */

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    entry e = {.size = 0};
    uint8_t *data = NULL;
    char which[sizeof media->detail];
    SMP_TRY(smp_source_spool(&reader->source, err));
    const bool cursor = reader->format == &smp_format_cur;
    SMP_TRY(choose(reader, &e, err));
    memcpy(which, media->detail, sizeof which);
    if (e.size < BMP_INFO_HEADER)
        return smp_fail(err, SMP_E_DECODE, "the file is damaged: its picture has %llu bytes",
                        (unsigned long long)e.size);
    SMP_TRY(take_source(reader, &e, &data, err));
    if (e.png) { /* from here on a PNG like others */
        reader->format = &smp_format_png;
        if (!smp_source_begin(&reader->source, HEAD))
            return smp_fail(err, SMP_E_READ, "cannot read the picture");
        SMP_TRY(smp_format_png.read_open(reader, err));
    } else
        SMP_TRY(open_bitmap(reader, data, e.size, err));
    const size_t used = strlen(media->detail);
    snprintf(media->detail + used, sizeof media->detail - used, "%s%s", e.png ? ", as PNG" : "", which);
    if (cursor)
        smp_note(&reader->notes, "the spot of the cursor that points, %u,%u, is left out", e.x, e.y);
    return SMP_OK;
}

#define READS                                                                                                          \
    .kind = SMP_IMAGE, .bare = true, .pages = true, .read_open = read_open, .read_row = read_row,                      \
    .read_close = smp_bmp_read_close

const smp_file_format smp_format_ico = {
    .name = "ICO",
    .extensions = (const char *const[]){"ico", NULL},
    .sniff = sniff_icon,
    READS,
    SMP_WRITER(smp_ico, row),
    .write_next = smp_ico_write_next,
    .shapes = true,
};

const smp_file_format smp_format_cur = {
    .name = "CUR",
    .extensions = (const char *const[]){"cur", NULL},
    .sniff = sniff_cursor,
    READS,
};
