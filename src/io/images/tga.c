/* Truevision TGA: read through stb_image, written here by rows, uncompressed, top row first: gray, gray and alpha, BGR
 * or BGRA of 8 bits. It has no signature, so it is recognised by a header that makes sense, after all others. Source:
 * Truevision TGA 2.0. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/images/stb_read.h"

enum { HEADER = 18, TOP_FIRST = 0x20, RIGHT_FIRST = 0x10, ALPHA_BITS = 0x0F };
enum { PALETTE = 1, COLOUR = 2, GRAY = 3, RUNS = 8 };

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

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    const uint8_t *head;
    if (smp_source_peek(&reader->source, &head, HEADER) < HEADER)
        return smp_source_ended(&reader->source, err);
    if (head[17] & RIGHT_FIRST)
        return smp_fail(err, SMP_E_DECODE, "the TGA is stored from right to left, which is not read");
    if (head[1] && (head[3] || head[4]))
        return smp_fail(err, SMP_E_DECODE, "the TGA has a palette that does not begin at 0, which is not read");
    smp_stb_request request = {.format = SMP_U8};
    int type = head[2] & ~RUNS, bits = head[16], colour_bits = type == PALETTE ? head[7] : bits;
    /* A fourth byte that the header does not call alpha is padding, and often zero. */
    if (!(head[17] & ALPHA_BITS))
        request.channels = type != GRAY && colour_bits == 32 ? 3 : type == GRAY && bits == 16 ? 1 : 0;
    reader->media.bits = type != PALETTE && (bits == 15 || (bits == 16 && type == COLOUR)) ? 5 : 8;
    snprintf(reader->media.detail, sizeof reader->media.detail, "%d bits a pixel%s%s", bits,
             type == PALETTE ? ", palette" : "", head[2] & RUNS ? ", runs" : "");
    return smp_stb_read_open(reader, &request, err);
}

static smp_code write_shape(const char *extension, smp_shape *shape, smp_error *err)
{
    (void)extension;
    shape->format = SMP_U8;
    if (shape->width > UINT16_MAX || shape->height > UINT16_MAX) {
        smp_fail(err, SMP_E_WRITE, "a TGA holds at most %d x %d pixels", UINT16_MAX, UINT16_MAX);
        return smp_hint(err, "write a .png, which may be larger");
    }
    return smp_check_colour("TGA", shape, err);
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    (void)meta;
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
    if (!writer->state)
        return smp_fail_memory(err, "a row", (uint64_t)smp_row_bytes(shape));
    return smp_output_write(writer->output, head, sizeof head, err);
}

static smp_code write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    size_t size = (size_t)smp_row_bytes(shape);
    uint8_t *line = writer->state;
    smp_code code = SMP_OK;
    for (int64_t i = 0; i < rows && code == SMP_OK; i++) {
        memcpy(line, (const uint8_t *)from + i * stride, size);
        if (shape->channels >= 3)
            for (uint8_t *p = line; p < line + size; p += shape->channels) { /* blue first */
                uint8_t red = p[0];
                p[0] = p[2];
                p[2] = red;
            }
        code = smp_output_write(writer->output, line, size, err);
    }
    return code;
}

static void write_close(smp_writer *writer)
{
    smp_free(writer->state);
    writer->state = NULL;
}

static const char *const extensions[] = {"tga", NULL};

const smp_file_format smp_format_tga = {
    .name = "TGA",
    .extensions = extensions,
    .kind = SMP_IMAGE,
    .sniff = sniff,
    .read_open = read_open,
    .read_rows = smp_stb_read_rows,
    .read_close = smp_stb_read_close,
    .write_shape = write_shape,
    .write_open = write_open,
    .write_rows = write_rows,
    .write_close = write_close,
};
