/* Windows bitmaps: read through stb_image, written here by rows, top row first: 8 bits with a gray palette, 24 bits, or
 * 32 bits with alpha. Source: Microsoft's BITMAPINFOHEADER and BITMAPV4HEADER. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/images/stb_read.h"

enum {
    FILE_HEADER = 14,
    INFO_HEADER = 40,
    V4_HEADER = 108,
    OLD_HEADER = 12, /* OS/2: sizes of 16 bits */
    PALETTE = 256 * 4,
    BITFIELDS = 3
};

static uint32_t le(const uint8_t *at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)at[i] << 8 * i;
    return value;
}

static bool sniff(const uint8_t *head, size_t size)
{
    if (size < 18 || head[0] != 'B' || head[1] != 'M')
        return false;
    uint32_t header = le(head + FILE_HEADER, 4);
    return header == OLD_HEADER || (header >= INFO_HEADER && header <= 124);
}

/* What stb_image takes on trust. */
static smp_code check_header(smp_reader *reader, smp_error *err)
{
    const uint8_t *head;
    size_t size = smp_source_peek(&reader->source, &head, FILE_HEADER + INFO_HEADER);
    uint32_t header = size >= 18 ? le(head + FILE_HEADER, 4) : 0;
    if (size < (header == OLD_HEADER ? FILE_HEADER + OLD_HEADER : FILE_HEADER + INFO_HEADER)) {
        smp_source_skip(&reader->source, size);
        return smp_source_ended(&reader->source, err);
    }
    uint32_t offset = le(head + 10, 4), bits, compression = 0;
    if (header == OLD_HEADER) {
        bits = le(head + 24, 2);
    } else {
        bits = le(head + 28, 2);
        compression = le(head + 30, 4);
        if (le(head + 22, 4) == UINT32_C(0x80000000))
            return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: its height is not possible");
        uint32_t x = le(head + 38, 4), y = le(head + 42, 4);
        if (x && y && x <= INT32_MAX && y <= INT32_MAX) {
            reader->media.meta.x_density = x;
            reader->media.meta.y_density = y;
        }
    }
    if (compression != 0 && compression != BITFIELDS)
        return smp_fail(err, SMP_E_DECODE, "the BMP is compressed (method %u), which is not read", compression);
    uint32_t least = FILE_HEADER + header + (bits && bits <= 8 ? 2 * (header == OLD_HEADER ? 3u : 4u) : 0);
    if (offset < least || offset > INT32_MAX)
        return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: its samples begin inside its header");
    reader->media.bits = bits <= 8 ? (int)bits : 8;
    snprintf(reader->media.detail, sizeof reader->media.detail, "%u bits a pixel%s", bits,
             bits <= 8 ? ", palette" : "");
    return SMP_OK;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_code code = check_header(reader, err);
    return code == SMP_OK ? smp_stb_read_open(reader, &(smp_stb_request){.format = SMP_U8}, err) : code;
}

/* ------------------------------------------------------------------------------------------------ writing */

static smp_code write_shape(const char *extension, smp_shape *shape, smp_error *err)
{
    (void)extension;
    shape->format = SMP_U8;
    smp_code code = smp_check_colour("BMP", shape, err);
    if (code == SMP_OK && (shape->width > INT32_MAX / 4 || shape->height > INT32_MAX ||
                           (shape->width * 4 + 4) * shape->height > INT32_MAX)) {
        smp_fail(err, SMP_E_WRITE, "the picture is too large for a BMP, which holds 2 GiB");
        smp_hint(err, "write a .png, which may be larger");
        code = SMP_E_WRITE;
    }
    return code;
}

static int bytes_a_pixel(const smp_shape *shape)
{
    return shape->alpha ? 4 : shape->channels;
}

static size_t line_bytes(const smp_shape *shape)
{
    return ((size_t)shape->width * (size_t)bytes_a_pixel(shape) + 3) & ~(size_t)3;
}

static void put(uint8_t *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    uint8_t head[FILE_HEADER + V4_HEADER + PALETTE] = {'B', 'M'};
    uint32_t info = shape->alpha ? V4_HEADER : INFO_HEADER, used = FILE_HEADER + info;
    if (bytes_a_pixel(shape) == 1)
        for (int i = 0; i < 256; i++, used += 4)
            memset(head + used, i, 3);
    uint32_t samples = (uint32_t)(line_bytes(shape) * (size_t)shape->height);
    put(head + 2, used + samples, 4);
    put(head + 10, used, 4);
    put(head + 14, info, 4);
    put(head + 18, (uint32_t)shape->width, 4);
    put(head + 22, (uint32_t)-shape->height, 4); /* negative: the top row comes first */
    put(head + 26, 1, 2);
    put(head + 28, (uint32_t)bytes_a_pixel(shape) * 8, 2);
    put(head + 30, shape->alpha ? BITFIELDS : 0, 4);
    put(head + 34, samples, 4);
    if (meta && !meta->density_is_aspect && meta->x_density >= 1 && meta->y_density >= 1 &&
        meta->x_density < INT32_MAX && meta->y_density < INT32_MAX) {
        put(head + 38, (uint32_t)lrint(meta->x_density), 4);
        put(head + 42, (uint32_t)lrint(meta->y_density), 4);
    }
    if (bytes_a_pixel(shape) == 1)
        put(head + 46, 256, 4);
    if (shape->alpha) {
        put(head + 54, 0x00FF0000, 4);
        put(head + 58, 0x0000FF00, 4);
        put(head + 62, 0x000000FF, 4);
        put(head + 66, 0xFF000000, 4);
        put(head + 70, 0x73524742, 4); /* sRGB */
    }
    writer->state = smp_alloc(line_bytes(shape));
    if (!writer->state)
        return smp_fail_memory(err, "a row", line_bytes(shape));
    return smp_output_write(writer->output, head, used, err);
}

static smp_code write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    uint8_t *line = writer->state;
    int n = shape->channels, bytes = bytes_a_pixel(shape);
    bool gray = n <= 2;
    smp_code code = SMP_OK;
    for (int64_t i = 0; i < rows && code == SMP_OK; i++) {
        const uint8_t *row = (const uint8_t *)from + i * stride;
        for (int64_t x = 0; x < shape->width; x++) {
            const uint8_t *pixel = row + x * n;
            uint8_t *out = line + x * bytes;
            out[0] = pixel[gray ? 0 : 2]; /* blue first */
            if (bytes > 1) {
                out[1] = pixel[gray ? 0 : 1];
                out[2] = pixel[0];
            }
            if (bytes == 4)
                out[3] = pixel[n - 1];
        }
        code = smp_output_write(writer->output, line, line_bytes(shape), err);
    }
    return code;
}

static void write_close(smp_writer *writer)
{
    smp_free(writer->state);
    writer->state = NULL;
}

static const char *const extensions[] = {"bmp", "dib", NULL};

const smp_file_format smp_format_bmp = {
    .name = "BMP",
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
