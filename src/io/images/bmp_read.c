/* Reads BMPs of Windows and OS/2 by rows: 1, 2, 4 and 8 bits with a palette; 16, 24 and 32 bits with or without masks;
 * RLE (bmp_runs.c). A pixel has alpha only when a mask of the header says so: otherwise its fourth byte is padding.
 * Where files contradict the documentation, they are read as browsers read them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/images/bmp_glue.h"

enum {
    MASKS = 4 * 4,                                         /* bytes: of red, green, blue, alpha */
    MOST_HEADER = BMP_FILE_HEADER + BMP_V5_HEADER + MASKS, /* bytes that are read before anything is consumed */
    MASKS_AT = 54,                                         /* in the file, inside or after the header */
    PROFILE_AT = BMP_FILE_HEADER + 112,                    /* offset and size of an ICC profile */
    MOST_PROFILE = 16 << 20,                               /* bytes */
    COLOUR_SPACE_AT = BMP_FILE_HEADER + 56
};
static const uint32_t PROFILE_EMBEDDED = 0x4D424544; /* "MBED" */

static bool header_known(uint32_t header)
{
    return header == BMP_OS2_HEADER || (header >= 16 && header <= 64) || header == BMP_V4_HEADER ||
           header == BMP_V5_HEADER;
}

bool smp_bmp_sniff(const uint8_t *head, size_t size)
{
    if (size < 18 || head[0] != 'B' || head[1] != 'M')
        return false;
    uint32_t header = smp_get_le(head + BMP_FILE_HEADER, 4);
    return header == BMP_OS2_HEADER || (header >= 16 && header <= BMP_V5_HEADER);
}

/* ------------------------------------------------------------------------------------------------ header */

/* Windows has headers of 40, 52, 56, 108 and 124 bytes. OS/2 2.x has one of 64, which may be cut off anywhere. */
static bool is_os2(uint32_t header)
{
    return header == BMP_OS2_HEADER || (header <= 64 && header != BMP_INFO_HEADER && header != 52 && header != 56);
}

static smp_code take_coding(bmp_reader *bmp, uint32_t coding, smp_error *err)
{
    static const char *const names[] = {[BMP_BITFIELDS] = "Huffman codes", [BMP_JPEG] = "a JPEG", [BMP_PNG] = "a PNG"};
    const bool os2 = is_os2(bmp->header);
    bmp->coding = os2 && coding == BMP_JPEG ? BMP_RLE24 : (bmp_coding)coding;
    if (coding > BMP_ALPHA_BITFIELDS || coding == BMP_PNG || (os2 ? coding == BMP_BITFIELDS : coding == BMP_JPEG)) {
        if (coding > BMP_ALPHA_BITFIELDS)
            smp_fail(err, SMP_E_DECODE, "the BMP is compressed by method %u, which is not supported", coding);
        else
            smp_fail(err, SMP_E_DECODE, "the BMP holds its pixels as %s, which is not supported", names[coding]);
        return smp_hint(err, "convert it first: magick IN.bmp OUT.png");
    }
    const uint32_t bits = bmp->bits;
    if (bits == 64)
        return smp_fail(err, SMP_E_DECODE, "the BMP has 64 bits a pixel, which are not supported"),
               smp_hint(err, "convert it first: magick IN.bmp OUT.png");
    const bool fits = bmp->coding == BMP_RLE8    ? bits == 8
                      : bmp->coding == BMP_RLE4  ? bits == 4
                      : bmp->coding == BMP_RLE24 ? bits == 24
                      : bmp->coding == BMP_PLAIN
                          ? bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32
                          : bits == 16 || bits == 24 || bits == 32;
    if (!fits)
        return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: %u bits a pixel with compression %u", bits, coding);
    return SMP_OK;
}

static smp_code set_channel(bmp_channel *channel, uint32_t mask, smp_error *err)
{
    *channel = (bmp_channel){.mask = mask};
    if (!mask)
        return SMP_OK; /* a missing colour has mask 0 */
    channel->shift = (uint32_t)__builtin_ctz(mask);
    channel->max = mask >> channel->shift;
    if (channel->max & (channel->max + 1))
        return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: the mask %08x of a channel has gaps", mask);
    for (uint32_t v = 0; channel->max <= 255 && v <= channel->max; v++)
        channel->scaled[v] = (uint8_t)((v * 255 + channel->max / 2) / channel->max);
    return SMP_OK;
}

/* masks: null for the default ones. */
static smp_code set_channels(bmp_reader *bmp, const uint8_t *masks, bool alpha, smp_error *err)
{
    static const uint32_t plain[2][4] = {{0x7C00, 0x03E0, 0x001F, 0}, {0xFF0000, 0xFF00, 0xFF, 0}};
    uint32_t seen = 0, all = bmp->bits == 32 ? UINT32_MAX : (UINT32_C(1) << bmp->bits) - 1;
    for (int c = 0; c < 4; c++) {
        uint32_t mask = !masks ? plain[bmp->bits > 16][c] : c < 3 || alpha ? smp_get_le(masks + 4 * c, 4) & all : 0;
        SMP_TRY(set_channel(&bmp->channels[c], mask, err));
        if (seen & mask)
            return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: the masks of its channels overlap");
        seen |= mask;
        if (c == 2 && !seen)
            return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: the masks of its channels are 0");
    }
    return SMP_OK;
}

/* Parses everything before the palette. head: MOST_HEADER bytes, zero past the header. */
static smp_code take_header(smp_reader *reader, bmp_reader *bmp, const uint8_t *head, smp_error *err)
{
    smp_shape *shape = &reader->media.shape;
    bmp->offset = smp_get_le(head + 10, 4);
    uint32_t coding = BMP_PLAIN;
    if (bmp->header == BMP_OS2_HEADER) {
        shape->width = smp_get_le(head + 18, 2);
        shape->height = smp_get_le(head + 20, 2);
        bmp->bits = smp_get_le(head + 24, 2);
    } else {
        shape->width = (int32_t)smp_get_le(head + 18, 4);
        shape->height = (int32_t)smp_get_le(head + 22, 4);
        bmp->bits = smp_get_le(head + 28, 2);
        coding = smp_get_le(head + 30, 4);
        uint32_t x = smp_get_le(head + 38, 4), y = smp_get_le(head + 42, 4);
        if (x && y && x <= INT32_MAX && y <= INT32_MAX) {
            reader->media.meta.x_density = x;
            reader->media.meta.y_density = y;
        }
    }
    bmp->top_first = shape->height < 0;
    if (bmp->top_first)
        shape->height = -shape->height;
    SMP_TRY(take_coding(bmp, coding, err));
    if (bmp->top_first && bmp->coding != BMP_PLAIN && bmp->coding != BMP_BITFIELDS &&
        bmp->coding != BMP_ALPHA_BITFIELDS)
        return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: runs cannot begin with the top row");
    shape->format = SMP_U8;
    shape->channels = 3;
    if (bmp->bits <= 8 || bmp->coding == BMP_RLE24)
        return SMP_OK;
    const bool masked = bmp->coding != BMP_PLAIN;
    SMP_TRY(set_channels(bmp, masked ? head + MASKS_AT : NULL, bmp->header >= 56 || bmp->coding == BMP_ALPHA_BITFIELDS,
                         err));
    shape->alpha = bmp->channels[3].mask != 0;
    shape->channels = shape->alpha ? 4 : 3;
    return SMP_OK;
}

/* Bytes of the masks between a 40-byte header and the palette. */
static uint32_t masks_behind(uint32_t header, uint32_t coding)
{
    return header != BMP_INFO_HEADER ? 0 : coding == BMP_BITFIELDS ? 12 : coding == BMP_ALPHA_BITFIELDS ? 16 : 0;
}

static smp_code read_palette(smp_reader *reader, bmp_reader *bmp, uint32_t at, uint32_t used, smp_error *err)
{
    const uint32_t entry = bmp->header == BMP_OS2_HEADER ? 3 : 4, most = UINT32_C(1) << bmp->bits;
    uint64_t count = used && used < most ? used : most, room = (bmp->offset - at) / entry;
    if (count > room) /* OS/2's header cannot announce a shorter palette */
        count = room;
    if (!count)
        return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: it has no palette");
    for (uint64_t i = 0; i < count; i++) {
        uint8_t bgr[4];
        SMP_TRY(smp_source_fill(&reader->source, bgr, entry, err));
        for (int c = 0; c < 3; c++)
            bmp->palette[i][c] = bgr[2 - c];
    }
    bmp->colours = (uint32_t)count;
    return SMP_OK;
}

/* The colour profile is after the pixels: reads it without moving. */
static smp_code read_profile(smp_reader *reader, const uint8_t *head, smp_error *err)
{
    uint64_t at = BMP_FILE_HEADER + (uint64_t)smp_get_le(head + PROFILE_AT, 4),
             size = smp_get_le(head + PROFILE_AT + 4, 4);
    smp_blob icc = {0};
    if (!size || size > MOST_PROFILE || at + size > reader->source.size)
        return SMP_OK;
    icc.data = smp_alloc_raw((size_t)size);
    SMP_NEED(icc.data, "a colour profile", size, err);
    icc.size = (size_t)size;
    if (smp_source_look(&reader->source, at, icc.data, icc.size) && smp_icc_fits(&icc, 3))
        reader->media.meta.icc = icc;
    else
        smp_free(icc.data);
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ reading */

static smp_code open_pixels(smp_reader *reader, bmp_reader *bmp, smp_error *err)
{
    smp_shape *shape = &reader->media.shape;
    if (bmp->coding == BMP_RLE8 || bmp->coding == BMP_RLE4 || bmp->coding == BMP_RLE24) {
        uint64_t gap = bmp->offset - reader->source.position;
        if (smp_source_skip(&reader->source, gap) != gap)
            return smp_source_ended(&reader->source, err);
        bool holes = false;
        SMP_TRY(smp_bmp_read_runs(reader, &holes, err));
        shape->alpha = holes;
        shape->channels = holes ? 4 : 3;
        return SMP_OK;
    }
    uint64_t row_bits = (uint64_t)shape->width * bmp->bits;
    smp_stored_rows_set(&bmp->stored, bmp->offset, (row_bits + 31) / 32 * 4, shape->height);
    smp_code code = smp_check_picture(&reader->options.limits, shape->width, shape->height,
                                      smp_stored_rows_memory(&bmp->stored), err);
    return code == SMP_OK ? smp_check_size(&reader->source, smp_stored_rows_end(&bmp->stored), err) : code;
}

/* The pixels that each value of a byte stands for, side by side. */
static void spread_palette(bmp_reader *bmp)
{
    const int bits = (int)bmp->bits, a_byte = 8 / bits;
    for (int value = 0; value < 256; value++)
        for (int i = 0; i < a_byte; i++)
            memcpy(bmp->spread[value] + 3 * i, bmp->palette[value >> (8 - bits - i * bits) & ((1 << bits) - 1)], 3);
}

smp_code smp_bmp_read_open(smp_reader *reader, smp_error *err)
{
    smp_source *source = &reader->source;
    smp_media *media = &reader->media;
    bmp_reader *bmp = reader->state;
    const uint8_t *at;
    uint8_t head[MOST_HEADER] = {0};
    size_t size = smp_source_peek(source, &at, sizeof head);
    memcpy(head, at, size);
    bmp->header = smp_get_le(head + BMP_FILE_HEADER, 4);
    if (!header_known(bmp->header))
        return smp_fail(err, SMP_E_DECODE, "the BMP's header has %u bytes, which is an unknown version", bmp->header);
    const uint32_t coding = bmp->header >= 20 ? smp_get_le(head + 30, 4) : 0;
    const uint32_t masks = masks_behind(bmp->header, coding), end = BMP_FILE_HEADER + bmp->header + masks;
    if (size < end) {
        smp_source_skip(source, size);
        return smp_source_ended(source, err);
    }
    memset(head + end, 0, sizeof head - end);
    SMP_TRY(take_header(reader, bmp, head, err));
    SMP_TRY(smp_check_picture(&reader->options.limits, media->shape.width, media->shape.height, 0, err));
    if (bmp->offset < end)
        return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: its pixels begin inside its header");
    const bool profile = bmp->header == BMP_V5_HEADER && smp_get_le(head + COLOUR_SPACE_AT, 4) == PROFILE_EMBEDDED;
    const bool runs = bmp->coding == BMP_RLE8 || bmp->coding == BMP_RLE4 || bmp->coding == BMP_RLE24;
    if ((profile || (!bmp->top_first && !runs)))
        SMP_TRY(smp_source_spool(source, err));
    if (profile)
        SMP_TRY(read_profile(reader, head, err));
    smp_source_skip(source, end);
    media->bits = bmp->bits <= 8 ? (int)bmp->bits : 8;
    if (bmp->bits <= 8) {
        SMP_TRY(read_palette(reader, bmp, end, bmp->header >= 36 ? smp_get_le(head + 46, 4) : 0, err));
        spread_palette(bmp);
        media->meta.coding = (smp_coding){.kind = SMP_CODING_PNG, .png = {(int)bmp->bits, true}};
    }
    snprintf(media->detail, sizeof media->detail, "%u bits a pixel%s%s", bmp->bits, bmp->bits <= 8 ? ", palette" : "",
             runs ? ", runs" : "");
    return open_pixels(reader, bmp, err);
}

static uint8_t sample_of(const bmp_channel *channel, uint32_t pixel)
{
    uint32_t value = (pixel & channel->mask) >> channel->shift;
    if (channel->max <= 255)
        return channel->scaled[value];
    return (uint8_t)(((uint64_t)value * 255 + channel->max / 2) / channel->max);
}

/* size: bytes that a byte of indices becomes, a constant of the caller. */
static inline void spread_bytes(const bmp_reader *bmp, const uint8_t *from, int64_t count, uint8_t *to, size_t size)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * size, bmp->spread[from[i]], size);
}

static void convert_row(const bmp_reader *bmp, const smp_shape *shape, const uint8_t *from, uint8_t *to)
{
    const int bits = (int)bmp->bits, channels = shape->channels;
    if (bits <= 8) {
        const int64_t a_byte = 8 / bits, whole = shape->width / a_byte;
        if (bits == 1)
            spread_bytes(bmp, from, whole, to, 24);
        else if (bits == 2)
            spread_bytes(bmp, from, whole, to, 12);
        else if (bits == 4)
            spread_bytes(bmp, from, whole, to, 6);
        else
            spread_bytes(bmp, from, whole, to, 3);
        to += whole * a_byte * 3;
        if (shape->width % a_byte)
            memcpy(to, bmp->spread[from[whole]], (size_t)(3 * (shape->width % a_byte)));
    } else if (bits == 24 && bmp->coding == BMP_PLAIN) {
        for (int64_t x = 0; x < shape->width; x++, from += 3, to += 3) {
            to[0] = from[2];
            to[1] = from[1];
            to[2] = from[0];
        }
    } else {
        for (int64_t x = 0; x < shape->width; x++, from += bits / 8, to += channels) {
            uint32_t pixel = smp_get_le(from, bits / 8);
            for (int c = 0; c < channels; c++)
                to[c] = sample_of(&bmp->channels[c], pixel);
        }
    }
}

/* bits: of a number in the row. */
static void tell_beyond(smp_reader *reader, const uint8_t *row, int64_t y, int bits)
{
    bmp_reader *bmp = reader->state;
    const smp_shape *shape = &reader->media.shape;
    if (bmp->bits > 8 || bmp->colours == 1u << bmp->bits)
        return;
    for (int64_t x = 0; x < shape->width; x++)
        bmp->beyond += ((uint32_t)row[x * bits / 8] >> (8 - bits - x * bits % 8) & ((1u << bits) - 1)) >= bmp->colours;
    if (bmp->beyond && y == shape->height - 1)
        smp_note(&reader->notes, "%llu of its pixels are of colours that its palette lacks: they are black",
                 (unsigned long long)bmp->beyond);
}

smp_code smp_bmp_read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    bmp_reader *bmp = reader->state;
    const smp_shape *shape = &reader->media.shape;
    if (bmp->frame) {
        smp_bmp_frame_row(reader, y, to);
        tell_beyond(reader, bmp->frame + y * shape->width, y, 8);
        return SMP_OK;
    }
    const uint8_t *from;
    SMP_TRY(smp_stored_rows_get(&bmp->stored, &reader->source, bmp->top_first ? y : shape->height - 1 - y, &from, err));
    convert_row(bmp, shape, from, to);
    tell_beyond(reader, from, y, (int)bmp->bits);
    return SMP_OK;
}

void smp_bmp_read_close(smp_reader *reader)
{
    bmp_reader *bmp = reader->state;
    smp_stored_rows_free(&bmp->stored);
    smp_free_all(bmp->frame, bmp->painted, bmp);
}
