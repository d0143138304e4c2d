/* Writes animated PNGs: of each picture the part that differs from the one before, which it replaces. The first goes
 * where a PNG has its picture, so that programs that know no animations show it. How many there are is patched into the
 * file at the end. Source: PNG specification, third edition, 11.3.6. */
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/pool.h"
#include "io/bytes.h"
#include "io/canvas.h"
#include "io/png/png_glue.h"

enum { HEAD = 8, CRC = 4, CONTROL = 26, ACTL = 8, MILLISECOND = 1000 };

typedef struct apng_writer {
    void *still; /* the state of the PNG's writer, which writes what is in front of the pictures and behind them */
    uint8_t *now, *before; /* pictures; `before` is the one that was written last */
    uint64_t counted_at;   /* where in the file the number of pictures is */
    uint32_t pictures, sequence;
    uint64_t time, told; /* microseconds of the pictures so far; milliseconds that the file has of them */
} apng_writer;

/* number: in front of the data; null: none. */
static smp_code put_chunk(smp_output *output, const char *type, const uint32_t *number, const void *data, size_t size,
                          smp_error *err)
{
    uint8_t head[HEAD + 4], sum[CRC];
    const size_t front = HEAD + (number ? 4 : 0);
    smp_put_be(head, size + front - HEAD, 4);
    memcpy(head + 4, type, 4);
    smp_put_be(head + HEAD, number ? *number : 0, 4);
    smp_put_be(sum, crc32(crc32(0, head + 4, (uInt)(front - 4)), data, (uInt)size), CRC);
    SMP_TRY(smp_output_write(output, head, front, err));
    SMP_TRY(smp_output_write(output, data, size, err));
    return smp_output_write(output, sum, sizeof sum, err);
}

static smp_code write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    apng_writer *state = smp_alloc(sizeof *state);
    const uint64_t size = (uint64_t)smp_row_bytes(&writer->shape) * (uint64_t)writer->shape.height;
    uint8_t animation[ACTL] = {0};
    SMP_NEED(state, "an animation", sizeof *state, err);
    writer->coding.kind = SMP_CODING_UNKNOWN; /* a palette would have to hold every picture's colours */
    smp_code code = smp_png_write_open(writer, meta, err);
    state->still = writer->state;
    writer->state = state;
    SMP_TRY(code);
    if (!smp_output_seekable(writer->output)) {
        smp_fail(err, SMP_E_WRITE, "an APNG goes into a file: the number of its pictures stands at its beginning");
        return smp_hint(err, "write a .gif or .webp, or to a file first");
    }
    SMP_NEED((state->now = smp_alloc_raw(size)) && (state->before = smp_alloc_raw(size)), "an animation", 2 * size,
             err);
    state->counted_at = smp_output_size(writer->output);
    return put_chunk(writer->output, "acTL", NULL, animation, sizeof animation, err);
}

static smp_code write_row(smp_writer *writer, int64_t y, const void *from, smp_error *)
{
    const size_t row = (size_t)smp_row_bytes(&writer->shape);
    memcpy(((apng_writer *)writer->state)->now + (size_t)y * row, from, row);
    return SMP_OK;
}

static smp_code put_control(smp_writer *writer, const int64_t part[4], smp_error *err)
{
    apng_writer *state = writer->state;
    uint8_t control[CONTROL - 4] = {0};
    state->time += smp_writer_shown(writer);
    const uint64_t shown = (state->time + MILLISECOND / 2) / MILLISECOND - state->told;
    const unsigned unit = shown > UINT16_MAX ? 10 : 1; /* milliseconds */
    state->told += shown;
    smp_put_be(control, (uint64_t)part[2], 4);
    smp_put_be(control + 4, (uint64_t)part[3], 4);
    smp_put_be(control + 8, (uint64_t)part[0], 4);
    smp_put_be(control + 12, (uint64_t)part[1], 4);
    smp_put_be(control + 16, smp_min_u64((shown + unit / 2) / unit, UINT16_MAX), 2);
    smp_put_be(control + 18, 1000 / unit, 2);
    const uint32_t number = state->sequence++;
    return put_chunk(writer->output, "fcTL", &number, control, sizeof control, err);
}

static smp_code put_part(smp_writer *writer, const int64_t part[4], smp_error *err)
{
    apng_writer *state = writer->state;
    const int64_t row = smp_row_bytes(&writer->shape), pixel = row / writer->shape.width;
    const smp_write_options *options = &writer->options;
    const int level = smp_write_value(&options->values, &smp_png_level);
    const smp_png_blocks_setup setup = {.row_bytes = part[2] * pixel,
                                        .rows = part[3],
                                        .pixel_bytes = (int)pixel,
                                        .swap = writer->shape.format == SMP_U16 && smp_little_endian(),
                                        .level = level >= 0 ? level : 1,
                                        .threads = options->threads > 0 ? options->threads : smp_pool_cores()};
    smp_png_blocks *blocks;
    const uint8_t *from = state->now + part[1] * row + part[0] * pixel;
    smp_code code = smp_png_blocks_open(&setup, &blocks, err);
    for (int64_t y = 0; !code && (y < part[3] || smp_png_blocks_due(blocks));) {
        y += smp_png_blocks_put(blocks, from + y * row, row, part[3] - y);
        while (!code && smp_png_blocks_due(blocks)) {
            size_t size;
            const uint8_t *chunk = smp_png_blocks_next(blocks, &size);
            const uint32_t number = state->sequence;
            state->sequence += state->pictures ? 1 : 0;
            code = put_chunk(writer->output, state->pictures ? "fdAT" : "IDAT", state->pictures ? &number : NULL,
                             chunk + HEAD, size - HEAD - CRC, err);
        }
    }
    if (blocks)
        smp_png_blocks_settle(blocks);
    smp_png_blocks_close(blocks);
    return code;
}

static smp_code put_picture(smp_writer *writer, smp_error *err)
{
    apng_writer *state = writer->state;
    int64_t part[4] = {0, 0, writer->shape.width, writer->shape.height};
    if (state->pictures)
        smp_canvas_differs(&writer->shape, state->now, state->before, 1, part);
    SMP_TRY(put_control(writer, part, err));
    SMP_TRY(put_part(writer, part, err));
    state->pictures++;
    uint8_t *free = state->before;
    state->before = state->now;
    state->now = free;
    return SMP_OK;
}

static smp_code write_next(smp_writer *writer, const smp_meta *, smp_error *err)
{
    return put_picture(writer, err);
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    apng_writer *state = writer->state;
    uint8_t chunk[4 + ACTL + CRC] = "acTL";
    SMP_TRY(put_picture(writer, err));
    writer->state = state->still;
    const smp_code code = smp_png_write_end(writer, err);
    writer->state = state;
    smp_put_be(chunk + 4, state->pictures, 4);
    smp_put_be(chunk + 8, smp_writer_plays(writer), 4);
    smp_put_be(chunk + 4 + ACTL, crc32(0, chunk, 4 + ACTL), CRC);
    return code ? code : smp_output_patch(writer->output, state->counted_at + 4, chunk, sizeof chunk, err);
}

static void write_close(smp_writer *writer)
{
    apng_writer *state = writer->state;
    writer->state = state->still;
    if (state->still)
        smp_png_write_close(writer);
    smp_free_all(state->now, state->before, state);
}

const smp_file_format smp_format_apng = {
    .name = "APNG",
    .extensions = (const char *const[]){"apng", NULL},
    .kind = SMP_IMAGE,
    .texts = true,
    .text_most = INT32_MAX,
    .dpi = true,
    .gamma = true,
    .sniff = smp_png_sniff, /* in front of this row PNG's reads both */
    SMP_READER(smp_png, rows),
    .takes = (const smp_write_takes[]){{&smp_png_level}, {&smp_write_delay}, {&smp_write_loop}, {0}},
    .write_shape = smp_png_write_shape,
    .write_open = write_open,
    .write_row = write_row,
    .write_next = write_next,
    .write_end = write_end,
    .write_close = write_close,
};
