/* Windows bitmaps: the format's row of the table, and the writer. Writes the top row first, with 8 bits and a gray
 * palette, 24 bits, or 32 bits with alpha. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/images/bmp.h"
#include "io/images/bmp_glue.h"

static_assert(SMP_BMP_HEAD == BMP_FILE_HEADER + BMP_V4_HEADER + 256 * 4, "headers and a gray palette");

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    shape->format = SMP_U8;
    SMP_TRY(smp_check_colour("BMP", shape, err));
    if (shape->width > INT32_MAX / 4 || shape->height > INT32_MAX || (shape->width * 4 + 4) * shape->height > INT32_MAX)
        return smp_fail(err, SMP_E_WRITE, "the picture is too large for a BMP, which holds 2 GiB"),
               smp_hint(err, "write a .png, which may be larger");
    return SMP_OK;
}

static int bytes_a_pixel(const smp_shape *shape)
{
    return shape->alpha ? 4 : shape->channels;
}

size_t smp_bmp_line_bytes(const smp_shape *shape)
{
    return ((size_t)shape->width * (size_t)bytes_a_pixel(shape) + 3) & ~(size_t)3;
}

size_t smp_bmp_head(const smp_shape *shape, const smp_meta *meta, uint8_t head[SMP_BMP_HEAD])
{
    memset(head, 0, SMP_BMP_HEAD);
    memcpy(head, "BM", 2);
    uint32_t info = shape->alpha ? BMP_V4_HEADER : BMP_INFO_HEADER, used = BMP_FILE_HEADER + info;
    if (bytes_a_pixel(shape) == 1)
        for (int i = 0; i < 256; i++, used += 4)
            memset(head + used, i, 3);
    uint32_t samples = (uint32_t)(smp_bmp_line_bytes(shape) * (size_t)shape->height);
    smp_put_le(head + 2, used + samples, 4);
    smp_put_le(head + 10, used, 4);
    smp_put_le(head + 14, info, 4);
    smp_put_le(head + 18, (uint32_t)shape->width, 4);
    smp_put_le(head + 22, (uint32_t)-shape->height, 4); /* negative: the top row comes first */
    smp_put_le(head + 26, 1, 2);
    smp_put_le(head + 28, (uint32_t)bytes_a_pixel(shape) * 8, 2);
    smp_put_le(head + 30, shape->alpha ? BMP_BITFIELDS : 0, 4);
    smp_put_le(head + 34, samples, 4);
    if (meta && !meta->density_is_aspect && meta->x_density >= 1 && meta->y_density >= 1 &&
        meta->x_density < INT32_MAX && meta->y_density < INT32_MAX) {
        smp_put_le(head + 38, (uint32_t)lrint(meta->x_density), 4);
        smp_put_le(head + 42, (uint32_t)lrint(meta->y_density), 4);
    }
    if (bytes_a_pixel(shape) == 1)
        smp_put_le(head + 46, 256, 4);
    if (shape->alpha) {
        smp_put_le(head + 54, 0x00FF0000, 4);
        smp_put_le(head + 58, 0x0000FF00, 4);
        smp_put_le(head + 62, 0x000000FF, 4);
        smp_put_le(head + 66, 0xFF000000, 4);
        smp_put_le(head + 70, 0x73524742, 4); /* sRGB */
    }
    return used;
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    uint8_t head[SMP_BMP_HEAD];
    const size_t used = smp_bmp_head(shape, meta, head);
    writer->state = smp_alloc(smp_bmp_line_bytes(shape));
    SMP_NEED(writer->state, "a row", smp_bmp_line_bytes(shape), err);
    return smp_output_write(writer->output, head, used, err);
}

void smp_bmp_line(const smp_shape *shape, const uint8_t *row, uint8_t *line)
{
    const int n = shape->channels, bytes = bytes_a_pixel(shape);
    const bool gray = n <= 2;
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
}

static smp_code write_row(smp_writer *writer, int64_t, const void *from, smp_error *err)
{
    smp_bmp_line(&writer->shape, from, writer->state);
    return smp_output_write(writer->output, writer->state, smp_bmp_line_bytes(&writer->shape), err);
}

const smp_file_format smp_format_bmp = {
    .name = "BMP",
    .extensions = (const char *const[]){"bmp", "dib", NULL},
    .kind = SMP_IMAGE,
    .bare = true,
    .dpi = true,
    .sniff = smp_bmp_sniff,
    .read_state = sizeof(bmp_reader),
    SMP_READER(smp_bmp, row),
    SMP_WRITES(row),
};
