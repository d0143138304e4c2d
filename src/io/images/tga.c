/* Truevision TGA, read and written by rows: gray, gray and alpha, colour of 15 to 32 bits, palettes, RLE. Written
 * uncompressed, top row first. TGA has no signature: a file is TGA when no other format matches and its header is
 * plausible. Source: Truevision TGA 2.0. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/format.h"
#include "io/images/stored_rows.h"

enum { HEADER = 18, TOP_FIRST = 0x20, RIGHT_FIRST = 0x10, ALPHA_BITS = 0x0F };
enum { PALETTE = 1, COLOUR = 2, GRAY = 3, RUNS = 8 };
enum { MOST_PIXEL = 4 };     /* bytes */
enum { PIXELS_A_BYTE = 64 }; /* the most pixels that a byte of a packet stands for */

typedef struct tga {
    int type, bits, unit; /* unit: bytes of a stored pixel */
    bool runs, top_first, right_first;
    uint32_t colour_count, first_colour;
    uint8_t (*palette)[MOST_PIXEL]; /* in the picture's pixel format */
    smp_stored_rows stored;         /* without RLE */
    /* RLE: */
    int left; /* pixels left in the current packet */
    bool repeats;
    uint8_t pixel[MOST_PIXEL];
    uint8_t *frame; /* all pixels, top row first; for RLE with the bottom row first */
} tga;

static bool sniff(const uint8_t *head, size_t size)
{
    if (size < HEADER || head[1] > 1)
        return false;
    int type = head[2] & ~RUNS, bits = head[16], entry = head[7];
    bool entry_known = entry == 8 || entry == 15 || entry == 16 || entry == 24 || entry == 32;
    if (head[1] ? type != PALETTE || !entry_known || (bits != 8 && bits != 16)
                : (type != COLOUR && type != GRAY) || head[3] || head[4] || head[5] || head[6])
        return false;
    if ((head[2] & RUNS) == 0 && head[2] > GRAY)
        return false;
    bool bits_known = bits == 8 || bits == 15 || bits == 16 || bits == 24 || bits == 32;
    return bits_known && !(head[17] & 0xC0) && (head[12] | head[13]) && (head[14] | head[15]);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* 5 bits to 8, to nearest. */
static uint8_t widen(int value)
{
    return (uint8_t)((value * 255 + 15) / 31);
}

/* Converts a gray or colour pixel of `bits` to `channels` samples. */
static void convert_pixel(const uint8_t *from, int bits, int channels, uint8_t *to)
{
    if (channels <= 2) {
        memcpy(to, from, (size_t)channels);
    } else if (bits <= 16) {
        int value = from[0] | from[1] << 8;
        for (int c = 0; c < 3; c++)
            to[c] = widen(value >> (10 - 5 * c) & 31);
        if (channels == 4)
            to[3] = value & 0x8000 ? 255 : 0;
    } else {
        for (int c = 0; c < 3; c++)
            to[c] = from[2 - c];
        if (channels == 4)
            to[3] = from[3];
    }
}

static smp_code convert_pixels(const smp_reader *reader, const uint8_t *from, int64_t count, uint8_t *to,
                               smp_error *err)
{
    const tga *state = reader->state;
    const int channels = reader->media.shape.channels;
    for (int64_t i = 0; i < count; i++, from += state->unit, to += channels) {
        if (!state->palette) {
            convert_pixel(from, state->bits, channels, to);
            continue;
        }
        uint32_t index = from[0] | (state->unit == 2 ? (uint32_t)from[1] << 8 : 0);
        if (index < state->first_colour || index - state->first_colour >= state->colour_count)
            return smp_fail(err, SMP_E_DECODE, "the TGA is damaged: a pixel has colour %u, which the palette lacks",
                            index);
        memcpy(to, state->palette[index - state->first_colour], (size_t)channels);
    }
    return SMP_OK;
}

static int channels_of(int type, int bits, bool alpha)
{
    if (bits == 8)
        return 1;
    if (type == GRAY)
        return bits == 16 && alpha ? 2 : 1;
    return (bits == 16 || bits == 32) && alpha ? 4 : 3;
}

static smp_code read_palette(smp_reader *reader, int bits, smp_error *err)
{
    tga *state = reader->state;
    const size_t unit = (size_t)(bits + 7) / 8;
    if (!state->colour_count)
        return smp_fail(err, SMP_E_DECODE, "the TGA is damaged: its palette is empty");
    state->palette = smp_alloc_array(state->colour_count, sizeof *state->palette);
    SMP_NEED(state->palette, "a palette", state->colour_count * sizeof *state->palette, err);
    for (uint32_t i = 0; i < state->colour_count; i++) {
        uint8_t colour[MOST_PIXEL];
        SMP_TRY(smp_source_fill(&reader->source, colour, unit, err));
        convert_pixel(colour, bits, reader->media.shape.channels, state->palette[i]);
    }
    return SMP_OK;
}

/* Finds out whether the bottom row is first, and whether all rows must be read at once. Reads what precedes the pixels
 * and checks that the pixels fit the file. */
static smp_code open_pixels(smp_reader *reader, int palette_bits, smp_error *err)
{
    tga *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    smp_source *source = &reader->source;
    smp_code code = SMP_OK;
    uint64_t pixels = (uint64_t)shape->width * (uint64_t)shape->height, memory = 0, least;
    if (palette_bits && state->type == PALETTE)
        SMP_TRY(read_palette(reader, palette_bits, err));
    if (state->runs) {
        memory = state->top_first ? 0 : pixels * (uint64_t)shape->channels;
        least = source->position + pixels / PIXELS_A_BYTE;
    } else {
        smp_stored_rows_set(&state->stored, source->position, (uint64_t)shape->width * (uint64_t)state->unit,
                            shape->height);
        memory = smp_stored_rows_memory(&state->stored);
        least = smp_stored_rows_end(&state->stored);
    }
    code = smp_check_picture(&reader->options.limits, shape->width, shape->height, memory, err);
    return code == SMP_OK ? smp_check_size(source, least, err) : code;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_source *source = &reader->source;
    const uint8_t *peeked;
    uint8_t head[HEADER];
    tga *state = reader->state;
    if (smp_source_peek(source, &peeked, HEADER) < HEADER)
        return smp_source_ended(source, err);
    memcpy(head, peeked, HEADER);
    state->type = head[2] & ~RUNS;
    state->runs = head[2] & RUNS;
    state->bits = head[16];
    state->unit = (state->bits + 7) / 8;
    state->top_first = head[17] & TOP_FIRST;
    state->right_first = head[17] & RIGHT_FIRST;
    state->first_colour = (uint32_t)(head[3] | head[4] << 8);
    state->colour_count = (uint32_t)(head[5] | head[6] << 8);
    /* A fourth byte, or a sixteenth bit, that the header does not call alpha is padding, and often zero. */
    const bool alpha = head[17] & ALPHA_BITS;
    const int palette_bits = head[1] ? head[7] : 0, colour_bits = state->type == PALETTE ? palette_bits : state->bits;
    if (colour_bits == 32 && !alpha)
        smp_note(&reader->notes, "the fourth byte of its pixels is left out: its header says that it is no alpha");
    media->shape.width = head[12] | head[13] << 8;
    media->shape.height = head[14] | head[15] << 8;
    media->shape.channels = channels_of(state->type, colour_bits, alpha);
    media->shape.alpha = media->shape.channels == 2 || media->shape.channels == 4;
    media->shape.format = SMP_U8;
    media->bits = state->type != GRAY && (colour_bits == 15 || colour_bits == 16) ? 5 : 8;
    snprintf(media->detail, sizeof media->detail, "%d bits a pixel%s%s", state->bits,
             state->type == PALETTE ? ", palette" : "", state->runs ? ", runs" : "");
    SMP_TRY(smp_check_picture(&reader->options.limits, media->shape.width, media->shape.height, 0, err));
    if (!state->runs && !state->top_first)
        SMP_TRY(smp_source_spool(source, err));
    uint64_t before = HEADER + (uint64_t)head[0]; /* the second part is free text */
    if (smp_source_skip(source, before) != before)
        return smp_source_ended(source, err);
    return open_pixels(reader, palette_bits, err);
}

/* Repeats the first pixel at `to`, of `size` bytes, `count` times in all. */
static void repeat_pixel(uint8_t *to, size_t size, size_t count)
{
    if (size == 1) {
        memset(to, *to, count);
        return;
    }
    for (size_t done = 1, n; done < count; done += n) {
        n = done < count - done ? done : count - done;
        memcpy(to + done * size, to, n * size);
    }
}

/* A packet may continue in the next row. */
static smp_code unpack_row(smp_reader *reader, uint8_t *to, smp_error *err)
{
    tga *state = reader->state;
    const int channels = reader->media.shape.channels;
    const size_t unit = (size_t)state->unit;
    for (int64_t left = reader->media.shape.width; left;) {
        uint8_t bytes[128 * MOST_PIXEL];
        if (!state->left) {
            SMP_TRY(smp_source_fill(&reader->source, bytes, 1, err));
            state->left = (bytes[0] & 127) + 1;
            state->repeats = bytes[0] & 128;
            if (state->repeats && smp_source_read(&reader->source, state->pixel, unit) != unit)
                return smp_source_ended(&reader->source, err);
        }
        int count = state->left < left ? state->left : (int)left;
        size_t size = (size_t)count * unit;
        if (!state->repeats && smp_source_read(&reader->source, bytes, size) != size)
            return smp_source_ended(&reader->source, err);
        SMP_TRY(convert_pixels(reader, state->repeats ? state->pixel : bytes, state->repeats ? 1 : count, to, err));
        if (state->repeats)
            repeat_pixel(to, (size_t)channels, (size_t)count);
        to += count * channels;
        state->left -= count;
        left -= count;
    }
    return SMP_OK;
}

static smp_code unpack_frame(smp_reader *reader, smp_error *err)
{
    tga *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    size_t row = (size_t)smp_row_bytes(shape), size = row * (size_t)shape->height;
    state->frame = smp_alloc_raw(size);
    SMP_NEED(state->frame, "a TGA whose last row comes first", size, err);
    for (int64_t y = shape->height; y-- > 0;)
        SMP_TRY(unpack_row(reader, state->frame + (size_t)y * row, err));
    return SMP_OK;
}

static void mirror(uint8_t *row, const smp_shape *shape)
{
    const size_t size = (size_t)shape->channels;
    for (int64_t a = 0, b = shape->width - 1; a < b; a++, b--) {
        uint8_t pixel[MOST_PIXEL], *left = row + (size_t)a * size, *right = row + (size_t)b * size;
        memcpy(pixel, left, size);
        memcpy(left, right, size);
        memcpy(right, pixel, size);
    }
}

static smp_code fetch_row(smp_reader *reader, int64_t y, uint8_t *to, smp_error *err)
{
    tga *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    if (state->runs && state->top_first)
        return unpack_row(reader, to, err);
    if (state->runs) {
        size_t row = (size_t)smp_row_bytes(shape);
        SMP_TRY(state->frame ? SMP_OK : unpack_frame(reader, err));
        memcpy(to, state->frame + (size_t)y * row, row);
        return SMP_OK;
    }
    const uint8_t *from;
    smp_code code =
        smp_stored_rows_get(&state->stored, &reader->source, state->top_first ? y : shape->height - 1 - y, &from, err);
    return code == SMP_OK ? convert_pixels(reader, from, shape->width, to, err) : code;
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    SMP_TRY(fetch_row(reader, y, to, err));
    if (((const tga *)reader->state)->right_first)
        mirror(to, &reader->media.shape);
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    tga *state = reader->state;
    smp_stored_rows_free(&state->stored);
    smp_free_all(state->palette, state->frame, state);
}

/* ------------------------------------------------------------------------------------------------ writing */

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    shape->format = SMP_U8;
    if (shape->width > UINT16_MAX || shape->height > UINT16_MAX)
        return smp_fail(err, SMP_E_WRITE, "a TGA holds at most %d x %d pixels", UINT16_MAX, UINT16_MAX),
               smp_hint(err, "write a .png, which may be larger");
    return smp_check_colour("TGA", shape, err);
}

static smp_code write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    uint8_t head[HEADER] = {0};
    head[2] = shape->channels <= 2 ? GRAY : COLOUR;
    head[12] = (uint8_t)shape->width;
    head[13] = (uint8_t)(shape->width >> 8);
    head[14] = (uint8_t)shape->height;
    head[15] = (uint8_t)(shape->height >> 8);
    head[16] = (uint8_t)(shape->channels * 8);
    head[17] = (uint8_t)(TOP_FIRST | (shape->alpha ? 8 : 0));
    writer->state = smp_alloc((size_t)smp_row_bytes(shape));
    SMP_NEED(writer->state, "a row", (uint64_t)smp_row_bytes(shape), err);
    return smp_output_write(writer->output, head, sizeof head, err);
}

static smp_code write_row(smp_writer *writer, int64_t, const void *from, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    size_t size = (size_t)smp_row_bytes(shape);
    uint8_t *line = writer->state;
    memcpy(line, from, size);
    if (shape->channels >= 3)
        for (uint8_t *p = line; p < line + size; p += shape->channels) { /* blue first */
            uint8_t red = p[0];
            p[0] = p[2];
            p[2] = red;
        }
    return smp_output_write(writer->output, line, size, err);
}

const smp_file_format smp_format_tga = {
    .name = "TGA",
    .extensions = (const char *const[]){"tga", NULL},
    .kind = SMP_IMAGE,
    .bare = true,
    .sniff = sniff,
    .read_state = sizeof(tga),
    SMP_READS(row),
    .read_close = read_close,
    SMP_WRITES(row),
};
