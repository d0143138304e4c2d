/* The Quite OK Image format, read and written by rows: RGB or RGBA of 8 bits, without a library. Source: The Quite OK
 * Image Format Specification 1.0, qoiformat.org. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/format.h"

enum { HEADER = 14, END = 8, SLOTS = 64, MOST_RUN = 62, MOST_PIXEL = 5 /* bytes */ };
enum { OP_INDEX = 0x00, OP_DIFF = 0x40, OP_LUMA = 0x80, OP_RUN = 0xC0, OP_RGB = 0xFE, OP_RGBA = 0xFF, MASK = 0xC0 };

static const uint8_t end_mark[END] = {0, 0, 0, 0, 0, 0, 0, 1};

typedef struct pixel {
    uint8_t r, g, b, a;
} pixel;

/* State that reader and writer keep alike. */
typedef struct qoi {
    pixel seen[SLOTS], last;
    int run; /* pixels like the last that are still to come, or that were not written yet */
    uint8_t *out;
} qoi;

static int slot_of(pixel p)
{
    return (p.r * 3 + p.g * 5 + p.b * 7 + p.a * 11) % SLOTS;
}

static bool same(pixel p, pixel q)
{
    return p.r == q.r && p.g == q.g && p.b == q.b && p.a == q.a;
}

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= HEADER && memcmp(head, "qoif", 4) == 0 && (head[12] == 3 || head[12] == 4) && head[13] <= 1;
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    uint8_t head[HEADER];
    ((qoi *)reader->state)->last.a = 255;
    SMP_TRY(smp_source_fill(&reader->source, head, HEADER, err));
    media->shape.width = smp_get_be(head + 4, 4);
    media->shape.height = smp_get_be(head + 8, 4);
    media->shape.channels = head[12];
    media->shape.alpha = head[12] == 4;
    media->shape.format = SMP_U8;
    media->bits = 8;
    snprintf(media->detail, sizeof media->detail, "%s%s", head[12] == 4 ? "RGBA" : "RGB", head[13] ? ", linear" : "");
    if (head[13])
        smp_note(&reader->notes, "the file says that its colours are linear, which is not kept");
    smp_code code = smp_check_picture(&reader->options.limits, media->shape.width, media->shape.height, 0, err);
    const uint64_t pixels = code ? 0 : (uint64_t)media->shape.width * (uint64_t)media->shape.height;
    return code ? code : smp_check_size(&reader->source, HEADER + pixels / MOST_RUN + END, err);
}

/* The next pixel that is coded by bytes of its own. */
static smp_code read_pixel(smp_reader *reader, smp_error *err)
{
    qoi *state = reader->state;
    smp_source *source = &reader->source;
    pixel *p = &state->last;
    uint8_t op, more[4];
    SMP_TRY(smp_source_fill(source, &op, 1, err));
    if (op == OP_RGB || op == OP_RGBA) {
        const size_t n = op == OP_RGB ? 3 : 4;
        SMP_TRY(smp_source_fill(source, more, n, err));
        *p = (pixel){more[0], more[1], more[2], n == 4 ? more[3] : p->a};
    } else if ((op & MASK) == OP_INDEX) {
        *p = state->seen[op];
    } else if ((op & MASK) == OP_DIFF) {
        p->r = (uint8_t)(p->r + (op >> 4 & 3) - 2);
        p->g = (uint8_t)(p->g + (op >> 2 & 3) - 2);
        p->b = (uint8_t)(p->b + (op & 3) - 2);
    } else if ((op & MASK) == OP_LUMA) {
        SMP_TRY(smp_source_fill(source, more, 1, err));
        const int green = (op & 63) - 32;
        p->r = (uint8_t)(p->r + green - 8 + (more[0] >> 4));
        p->g = (uint8_t)(p->g + green);
        p->b = (uint8_t)(p->b + green - 8 + (more[0] & 15));
    } else {
        state->run = op & 63;
    }
    state->seen[slot_of(*p)] = *p;
    return SMP_OK;
}

static smp_code read_row(smp_reader *reader, int64_t, void *to, smp_error *err)
{
    qoi *state = reader->state;
    const int n = reader->media.shape.channels;
    uint8_t *at = to;
    for (int64_t x = 0; x < reader->media.shape.width; x++, at += n) {
        if (state->run > 0)
            state->run--;
        else
            SMP_TRY(read_pixel(reader, err));
        memcpy(at, &state->last, (size_t)n);
    }
    return SMP_OK;
}

static smp_code read_end(smp_reader *reader, smp_error *err)
{
    uint8_t mark[END];
    SMP_TRY(smp_source_fill(&reader->source, mark, END, err));
    if (memcmp(mark, end_mark, END) == 0 && !((qoi *)reader->state)->run)
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "the QOI is damaged: its end mark is missing");
    return smp_hint_damaged(err);
}

static smp_code write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    shape->format = SMP_U8;
    if (shape->width <= INT32_MAX / 8 && shape->height <= INT32_MAX)
        return smp_check_colour("QOI", shape, err);
    return smp_fail(err, SMP_E_WRITE, "%lld x %lld pixels are too many for a QOI", (long long)shape->width,
                    (long long)shape->height);
}

static smp_code write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    uint8_t head[HEADER] = "qoif";
    qoi *state = writer->state;
    SMP_NEED(state->out = smp_alloc_array((size_t)shape->width + 1, MOST_PIXEL), "a QOI",
             (uint64_t)shape->width * MOST_PIXEL, err);
    state->last.a = 255;
    smp_put_be(head + 4, (uint64_t)shape->width, 4);
    smp_put_be(head + 8, (uint64_t)shape->height, 4);
    head[12] = shape->alpha ? 4 : 3;
    return smp_output_write(writer->output, head, HEADER, err);
}

static uint8_t *end_run(qoi *state, uint8_t *to)
{
    if (state->run)
        *to++ = (uint8_t)(OP_RUN | (state->run - 1));
    state->run = 0;
    return to;
}

static bool within(int value, int least, int most)
{
    return value >= least && value <= most;
}

static uint8_t *put_pixel(qoi *state, pixel p, uint8_t *to)
{
    const pixel last = state->last;
    if (same(p, last)) {
        if (++state->run == MOST_RUN)
            to = end_run(state, to);
        return to;
    }
    to = end_run(state, to);
    pixel *seen = &state->seen[slot_of(p)];
    const int r = (int8_t)(p.r - last.r), g = (int8_t)(p.g - last.g), b = (int8_t)(p.b - last.b);
    state->last = p;
    if (same(*seen, p)) {
        *to++ = (uint8_t)(OP_INDEX | slot_of(p));
        return to;
    }
    *seen = p;
    if (p.a != last.a) {
        *to++ = OP_RGBA;
        memcpy(to, &p, 4);
        return to + 4;
    }
    if (within(r, -2, 1) && within(g, -2, 1) && within(b, -2, 1)) {
        *to++ = (uint8_t)(OP_DIFF | (r + 2) << 4 | (g + 2) << 2 | (b + 2));
    } else if (within(g, -32, 31) && within(r - g, -8, 7) && within(b - g, -8, 7)) {
        *to++ = (uint8_t)(OP_LUMA | (g + 32));
        *to++ = (uint8_t)((r - g + 8) << 4 | (b - g + 8));
    } else {
        *to++ = OP_RGB;
        memcpy(to, &p, 3);
        to += 3;
    }
    return to;
}

static smp_code write_row(smp_writer *writer, int64_t, const void *from, smp_error *err)
{
    qoi *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const int n = shape->channels, green = n >= 3 ? 1 : 0, blue = n >= 3 ? 2 : 0;
    const uint8_t *s = from;
    uint8_t *to = state->out;
    for (int64_t x = 0; x < shape->width; x++, s += n)
        to = put_pixel(state, (pixel){s[0], s[green], s[blue], shape->alpha ? s[n - 1] : 255}, to);
    return smp_output_write(writer->output, state->out, (size_t)(to - state->out), err);
}

static smp_code write_end(smp_writer *writer, smp_error *err)
{
    qoi *state = writer->state;
    uint8_t *to = end_run(state, state->out);
    SMP_TRY(smp_output_write(writer->output, state->out, (size_t)(to - state->out), err));
    return smp_output_write(writer->output, end_mark, END, err);
}

static void write_close(smp_writer *writer)
{
    qoi *state = writer->state;
    smp_free_all(state->out, state);
}

const smp_file_format smp_format_qoi = {
    .name = "QOI",
    .extensions = (const char *const[]){"qoi", NULL},
    .kind = SMP_IMAGE,
    .bare = true,
    .sniff = sniff,
    .read_state = sizeof(qoi),
    SMP_READS(row),
    .read_end = read_end,
    SMP_WRITES(row),
    .write_state = sizeof(qoi),
    .write_end = write_end,
    .write_close = write_close,
};
