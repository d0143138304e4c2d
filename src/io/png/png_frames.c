/* Each picture of an animated PNG, on a canvas that holds what those before it left there. A picture is read as a PNG
 * of its own, made of the file's palette and the picture's data. Source: PNG specification, third edition, 11.3.6. */
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"
#include "io/canvas.h"
#include "io/png/png_glue.h"

enum { CONTROL = 26, SECOND = 1000000, MOST_PIXEL = 8 };
enum { HEAD = 8, CRC = 4, SIGNATURE = 8, IHDR_END = SIGNATURE + HEAD + 13 + CRC, MOST_CHUNKS = 1 << 20 };

typedef struct frame {
    int64_t x, y, width, height;
    uint32_t above, below; /* of the delay, in seconds */
    int disposal;
    bool blends;
    uint64_t size; /* bytes of its data */
} frame;

/* Where in the file the walk is. to: null, or where the picture's data go, of which there is room for `room` bytes. */
typedef struct place {
    uint64_t at;
    uint32_t sequence;
    bool verify;
    uint8_t *to;
    uint64_t room;
} place;

typedef struct movie {
    void *still; /* the state of the reader of the first picture */
    place next;
    uint8_t *png; /* file: as long as `front` in front of the data of a picture */
    size_t front;
    uint64_t most; /* bytes of the largest picture's data */
    smp_canvas canvas;
    uint8_t *row;
    int64_t drawn, frames;
    bool ready; /* the next picture is on the canvas */
} movie;

static smp_code fail_damaged(smp_error *err, const char *what)
{
    smp_fail(err, SMP_E_DECODE, "the animation of the PNG is damaged: %s", what);
    return smp_hint_damaged(err);
}

static bool is(const uint8_t *head, const char *type)
{
    return memcmp(head + 4, type, 4) == 0;
}

static smp_code take_control(const smp_source *source, uint64_t at, const smp_shape *shape, frame *f, smp_error *err)
{
    uint8_t c[CONTROL];
    if (!smp_source_look(source, at, c, sizeof c))
        return fail_damaged(err, "it is cut short");
    *f = (frame){.width = smp_get_be(c + 4, 4),
                 .height = smp_get_be(c + 8, 4),
                 .x = smp_get_be(c + 12, 4),
                 .y = smp_get_be(c + 16, 4),
                 .above = smp_get_be(c + 20, 2),
                 .below = smp_get_be(c + 22, 2),
                 .disposal = c[24] + 1, /* as SMP_CANVAS_CLEAR */
                 .blends = c[25] != 0};
    f->below = f->below ? f->below : 100;
    if (f->width < 1 || f->height < 1 || f->x + f->width > shape->width || f->y + f->height > shape->height)
        return fail_damaged(err, "a picture lies outside of its canvas");
    return SMP_OK;
}

/* A chunk of data, which begins with a number unless it is of the first picture. */
static smp_code take_data(const smp_source *source, const uint8_t *head, place *next, smp_error *err)
{
    const uint64_t at = next->at;
    const size_t size = smp_get_be(head, 4);
    uint8_t number[4], sum[CRC];
    const size_t skip = is(head, "fdAT") ? sizeof number : 0;
    if (size < skip || !smp_source_look(source, at + HEAD, number, skip))
        return fail_damaged(err, "a chunk is too short");
    if (skip && smp_get_be(number, 4) != next->sequence++)
        return fail_damaged(err, "its parts are not in order");
    if (!next->to)
        return SMP_OK;
    if (size - skip > next->room)
        return smp_fail(err, SMP_E_READ, "the file was changed while it was read");
    if (!smp_source_look(source, at + HEAD + skip, next->to, size - skip) ||
        !smp_source_look(source, at + HEAD + size, sum, sizeof sum))
        return smp_fail(err, SMP_E_READ, "cannot read a picture of the PNG");
    const uLong found = crc32(crc32(crc32(0, head + 4, 4), number, (uInt)skip), next->to, (uInt)(size - skip));
    next->to += size - skip;
    next->room -= size - skip;
    return !next->verify || found == smp_get_be(sum, 4) ? SMP_OK
                                                        : fail_damaged(err, "the checksum of a chunk is wrong");
}

/* Goes on to the next picture. *more: there is one. */
static smp_code next_frame(const smp_source *source, const smp_shape *shape, place *next, frame *f, bool *more,
                           smp_error *err)
{
    uint8_t head[HEAD];
    *more = false;
    for (int n = 0;; n++) {
        if (n == MOST_CHUNKS || !smp_source_look(source, next->at, head, HEAD))
            return fail_damaged(err, "its end is missing");
        const uint64_t size = smp_get_be(head, 4);
        if (size > source->size - next->at - HEAD)
            return fail_damaged(err, "its end is missing");
        const bool data = is(head, "fdAT") || is(head, "IDAT");
        if (is(head, "IEND") || (*more && is(head, "fcTL")))
            return !*more || f->size ? SMP_OK : fail_damaged(err, "a picture has no data");
        if (is(head, "fcTL")) {
            *more = true;
            SMP_TRY(take_control(source, next->at + HEAD, shape, f, err));
            uint8_t number[4] = {0};
            (void)smp_source_look(source, next->at + HEAD, number, sizeof number);
            if (smp_get_be(number, 4) != next->sequence++)
                return fail_damaged(err, "its parts are not in order");
        } else if (*more && data) {
            SMP_TRY(take_data(source, head, next, err));
            f->size += size - (is(head, "fdAT") ? 4 : 0);
        }
        next->at += HEAD + size + CRC;
    }
}

/* ------------------------------------------------------------------------------------------------ opening */

/* Sets a chunk's length, type and checksum around its data. Returns what lies behind it. */
static uint8_t *put_chunk(uint8_t *chunk, const char *type, size_t size)
{
    smp_put_be(chunk, size, 4);
    memcpy(chunk + 4, type, 4);
    smp_put_be(chunk + HEAD + size, crc32(0, chunk + 4, (uInt)(4 + size)), CRC);
    return chunk + HEAD + size + CRC;
}

/* What is in front of the data of every picture: the header, the palette and its transparency. */
static smp_code take_front(movie *m, const smp_source *source, smp_error *err)
{
    enum { PALETTE = 768, ENTRIES = 2 };
    uint8_t head[HEAD] = {0};
    const size_t most_front = IHDR_END + ENTRIES * (HEAD + PALETTE + CRC);
    const size_t room = most_front + (size_t)m->most + 2 * (HEAD + CRC);
    SMP_NEED(m->png = smp_alloc(room), "a picture of a PNG", room, err);
    (void)smp_source_look(source, 0, m->png, IHDR_END);
    m->front = IHDR_END;
    for (uint64_t at = IHDR_END; smp_source_look(source, at, head, HEAD) && !is(head, "IDAT");) {
        const size_t size = smp_get_be(head, 4);
        if ((is(head, "PLTE") || is(head, "tRNS")) && size <= PALETTE && HEAD + size + CRC <= most_front - m->front &&
            smp_source_look(source, at, m->png + m->front, HEAD + size))
            m->front = (size_t)(put_chunk(m->png + m->front, is(head, "PLTE") ? "PLTE" : "tRNS", size) - m->png);
        at += HEAD + size + CRC;
    }
    return SMP_OK;
}

/* Walks all pictures. *clears: the canvas shows through. */
static smp_code walk(smp_reader *reader, movie *m, bool *clears, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_coding *coding = &media->meta.coding;
    const smp_shape *shape = &media->shape;
    place next = m->next;
    frame f = {.size = 0}, first = f;
    bool more, cleared = false;
    for (;; m->frames++) {
        SMP_TRY(next_frame(&reader->source, shape, &next, &f, &more, err));
        if (!more)
            break;
        first = m->frames ? first : f;
        *clears |= cleared || (!m->frames && (f.width < shape->width || f.height < shape->height));
        cleared = f.disposal == SMP_CANVAS_CLEAR || (!m->frames && f.disposal == SMP_CANVAS_TAKE_BACK);
        coding->uneven |= (uint64_t)f.above * first.below != (uint64_t)first.above * f.below;
        m->most = smp_max_u64(m->most, f.size);
    }
    if (!m->frames)
        return fail_damaged(err, "it has no picture");
    media->pages = m->frames;
    coding->rate[0] = first.above ? first.below : 10;
    coding->rate[1] = first.above ? first.above : 1;
    return SMP_OK;
}

smp_code smp_png_frames_open(smp_reader *reader, uint32_t said, uint32_t plays, smp_error *err)
{
    smp_shape *shape = &reader->media.shape;
    bool clears = false;
    movie *m = smp_alloc(sizeof *m);
    SMP_NEED(m, "an animation", sizeof *m, err);
    m->still = reader->state;
    reader->state = m;
    reader->format = &smp_png_frames;
    m->next = (place){.at = SIGNATURE, .verify = !reader->options.no_verify};
    SMP_TRY(walk(reader, m, &clears, err));
    if (m->frames != said)
        smp_note(&reader->notes, "the animation has %lld pictures where its header says %u", (long long)m->frames,
                 said);
    reader->media.meta.coding.plays = plays;
    if (clears && !shape->alpha) {
        shape->alpha = true;
        shape->channels++;
    }
    const size_t row = (size_t)shape->width * MOST_PIXEL;
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height,
                              smp_canvas_bytes(shape) + m->most + row, err));
    SMP_NEED(m->row = smp_alloc_raw(row), "a row", row, err);
    return take_front(m, &reader->source, err);
}

/* ------------------------------------------------------------------------------------------------ drawing */

/* Draws the next picture on the canvas. */
static smp_code draw(smp_reader *reader, movie *m, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    smp_reader *one;
    bool more;
    frame f = {.size = 0};
    uint8_t *data = m->png + m->front;
    m->next.to = data + HEAD;
    m->next.room = m->most;
    if (!m->canvas.pixels) /* sizes have been compared with the file's by now */
        SMP_TRY(smp_canvas_open(&m->canvas, shape, err));
    SMP_TRY(next_frame(&reader->source, shape, &m->next, &f, &more, err));
    smp_put_be(m->png + SIGNATURE + HEAD, (uint64_t)f.width, 4);
    smp_put_be(m->png + SIGNATURE + HEAD + 4, (uint64_t)f.height, 4);
    put_chunk(m->png + SIGNATURE, "IHDR", 13);
    const uint8_t *end = put_chunk(put_chunk(data, "IDAT", (size_t)f.size), "IEND", 0);
    const smp_read_options options = {.limits = reader->options.limits, .no_verify = reader->options.no_verify};
    smp_code code = smp_reader_open_memory(m->png, (size_t)(end - m->png), &options, &one, err);
    if (code)
        return code;
    smp_canvas_begin(&m->canvas, f.x, f.y, f.width, f.height, f.disposal);
    for (int64_t y = 0; y < f.height && !code; y++) {
        code = smp_reader_rows(one, m->row, 0, 1, err);
        if (!code)
            smp_canvas_lay(&m->canvas, y, m->row, one->media.shape.alpha, f.blends);
    }
    smp_notes_add(&reader->notes, smp_reader_notes(one));
    smp_reader_close(one);
    reader->delay = (uint32_t)smp_min_u64((uint64_t)f.above * SECOND / f.below, UINT32_MAX);
    m->ready = true;
    return code;
}

static smp_code read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    movie *m = reader->state;
    SMP_TRY(m->ready ? SMP_OK : draw(reader, m, err));
    smp_canvas_row(&m->canvas, y, to);
    return SMP_OK;
}

static smp_code read_next(smp_reader *reader, bool *more, smp_error *)
{
    movie *m = reader->state;
    *more = ++m->drawn < m->frames;
    m->ready = false;
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    movie *m = reader->state;
    reader->state = m->still;
    smp_png_read_close(reader);
    smp_canvas_close(&m->canvas);
    smp_free_all(m->png, m->row, m);
}

const smp_file_format smp_png_frames = {
    .name = "PNG", .kind = SMP_IMAGE, .read_row = read_row, .read_next = read_next, .read_close = read_close};
