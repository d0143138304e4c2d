/* Run-length coded BMPs: RLE8 and RLE4 of palette indices, OS/2's RLE24 of pixels. Codes may skip pixels; skipped
 * pixels become transparent, as in browsers. */
#include "base/alloc.h"
#include "io/images/bmp_glue.h"

enum { ESCAPE = 0, END_ROW = 0, END_PICTURE = 1, SKIP = 2 };
enum { PIXELS_A_BYTE = 128 }; /* the most pixels that a byte of a run stands for */

typedef struct runs {
    smp_source *source;
    bmp_reader *bmp;
    int64_t width, height, x, y; /* y: from the bottom */
    int64_t painted;
    int unit; /* bytes of a pixel in the frame */
} runs;

/* Bytes of `frame` and `painted`. */
static uint64_t frame_bytes(const smp_shape *shape, int unit)
{
    uint64_t pixels = (uint64_t)shape->width * (uint64_t)shape->height;
    return pixels * (uint64_t)unit + (pixels + 7) / 8;
}

/* Pixels past the end of the row are dropped: some writers round widths up. */
static void paint(runs *r, const uint8_t *pixel)
{
    if (r->x >= r->width)
        return;
    int64_t at = (r->height - 1 - r->y) * r->width + r->x++;
    for (int i = 0; i < r->unit; i++)
        r->bmp->frame[at * r->unit + i] = pixel[i];
    r->bmp->painted[at / 8] |= (uint8_t)(1 << at % 8);
    r->painted++;
}

static smp_code paint_run(runs *r, int count, uint8_t first, smp_error *err)
{
    uint8_t pixel[3] = {first};
    if (r->unit == 3 && smp_source_read(r->source, pixel + 1, 2) != 2)
        return smp_source_ended(r->source, err);
    const bool nibbles = r->bmp->coding == BMP_RLE4;
    for (int i = 0; i < count; i++) {
        if (nibbles)
            pixel[0] = i % 2 ? first & 15 : first >> 4;
        paint(r, pixel);
    }
    return SMP_OK;
}

/* `count` literal pixels, padded to two bytes. */
static smp_code paint_plain(runs *r, int count, smp_error *err)
{
    uint8_t bytes[256 * 3];
    const bool nibbles = r->bmp->coding == BMP_RLE4;
    size_t size = (size_t)(nibbles ? (count + 1) / 2 : count * r->unit);
    size += size % 2;
    SMP_TRY(smp_source_fill(r->source, bytes, size, err));
    for (int i = 0; i < count; i++) {
        uint8_t nibble = (uint8_t)(bytes[i / 2] >> (i % 2 ? 0 : 4) & 15);
        paint(r, nibbles ? &nibble : bytes + i * r->unit);
    }
    return SMP_OK;
}

static smp_code skip_pixels(runs *r, smp_error *err)
{
    uint8_t by[2];
    SMP_TRY(smp_source_fill(r->source, by, 2, err));
    if (by[1] >= r->height - r->y)
        return smp_fail(err, SMP_E_DECODE, "the BMP is damaged: its runs go past the last row");
    r->x += by[0];
    r->y += by[1];
    if (r->x > r->width)
        r->x = r->width;
    return SMP_OK;
}

static smp_code decode(runs *r, smp_error *err)
{
    while (r->y < r->height) {
        uint8_t code[2];
        smp_code result = SMP_OK;
        SMP_TRY(smp_source_fill(r->source, code, 2, err));
        if (code[0] != ESCAPE) {
            result = paint_run(r, code[0], code[1], err);
        } else if (code[1] == END_ROW) {
            r->x = 0;
            r->y++;
        } else if (code[1] == END_PICTURE) {
            break;
        } else {
            result = code[1] == SKIP ? skip_pixels(r, err) : paint_plain(r, code[1], err);
        }
        if (result != SMP_OK)
            return result;
    }
    return SMP_OK;
}

smp_code smp_bmp_read_runs(smp_reader *reader, bool *holes, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    bmp_reader *bmp = reader->state;
    runs r = {.source = &reader->source,
              .bmp = bmp,
              .width = shape->width,
              .height = shape->height,
              .unit = bmp->coding == BMP_RLE24 ? 3 : 1};
    uint64_t pixels = (uint64_t)r.width * (uint64_t)r.height, bytes = frame_bytes(shape, r.unit);
    SMP_TRY(smp_check_picture(&reader->options.limits, r.width, r.height, bytes, err));
    SMP_TRY(smp_check_size(&reader->source, bmp->offset + pixels / PIXELS_A_BYTE, err));
    bmp->frame = smp_alloc((size_t)pixels * (size_t)r.unit);
    bmp->painted = smp_alloc((size_t)(pixels + 7) / 8);
    SMP_NEED(bmp->frame && bmp->painted, "a BMP with runs", bytes, err);
    SMP_TRY(decode(&r, err));
    *holes = r.painted < r.width * r.height;
    return SMP_OK;
}

void smp_bmp_frame_row(const smp_reader *reader, int64_t y, uint8_t *to)
{
    const smp_shape *shape = &reader->media.shape;
    const bmp_reader *bmp = reader->state;
    const bool direct = bmp->coding == BMP_RLE24;
    for (int64_t x = 0; x < shape->width; x++, to += shape->channels) {
        int64_t at = y * shape->width + x;
        const uint8_t *pixel = direct ? bmp->frame + 3 * at : bmp->palette[bmp->frame[at]];
        bool painted = bmp->painted[at / 8] >> at % 8 & 1;
        for (int c = 0; c < 3; c++)
            to[c] = painted ? pixel[direct ? 2 - c : c] : 0;
        if (shape->channels == 4)
            to[3] = painted ? 255 : 0;
    }
}
