/* Writes icons of Windows. Of one picture the file gets the usual sizes that are smaller, and the picture itself unless
 * it is larger than 256 pixels; of several (concat) each as it is. Pictures are made smaller as they come, by the mean
 * over areas, weighed by alpha. Those below 256 pixels are bitmaps, which every program reads, others PNGs. */
#include <png.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"
#include "io/images/bmp_glue.h"
#include "io/images/ico_glue.h"

enum { MOST_SIDE = 256 /* pixels */, MOST_PICTURES = 256 };

static const int64_t usual[] = {16, 32, 48, MOST_SIDE}; /* pixels of the longer side */
enum { USUAL = sizeof usual / sizeof usual[0] };

/* A picture that is made of the one that comes. Sums: of four samples of each pixel, colours times alpha. */
typedef struct scaled {
    int64_t width, height;
    uint64_t *across, *sums; /* of the row that comes; of all rows */
} scaled;

typedef struct ico_writer {
    smp_shape shape;         /* of the picture that comes */
    scaled sizes[USUAL + 1]; /* the last one may be the picture itself */
    int count;
    smp_blob coded[MOST_PICTURES];
    uint8_t entries[MOST_PICTURES][SMP_ICO_ENTRY];
    int done;
} ico_writer;

smp_code smp_ico_write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    if (shape->width > (INT64_C(1) << 48) / smp_max_i64(shape->height, 1)) /* sums have 64 bits, a pixel 16 of them */
        return smp_fail(err, SMP_E_WRITE, "the picture is too large for an icon");
    shape->format = SMP_U8;
    return smp_check_colour("ICO", shape, err);
}

/* ------------------------------------------------------------------------------------------------ sizes */

static int64_t longer(const smp_shape *shape)
{
    return smp_max_i64(shape->width, shape->height);
}

static smp_code add_size(ico_writer *state, int64_t side, smp_error *err)
{
    const smp_shape *shape = &state->shape;
    const int64_t most = longer(shape);
    scaled *to = &state->sizes[state->count++];
    to->width = smp_max_i64((shape->width * side + most / 2) / most, 1);
    to->height = smp_max_i64((shape->height * side + most / 2) / most, 1);
    to->across = smp_alloc_array((size_t)to->width * 4, sizeof *to->across);
    to->sums = smp_alloc_array((size_t)(to->width * to->height) * 4, sizeof *to->sums);
    SMP_NEED(to->across && to->sums, "an icon", (uint64_t)(to->width * to->height) * 4 * sizeof *to->sums, err);
    return SMP_OK;
}

static smp_code fail_size(const smp_shape *shape, smp_error *err)
{
    smp_fail(err, SMP_E_WRITE, "of several pictures of an icon each has at most %d x %d pixels, and this %lld x %lld",
             MOST_SIDE, MOST_SIDE, (long long)shape->width, (long long)shape->height);
    return smp_hint(err, "of one picture alone the usual sizes are made");
}

static smp_code begin(smp_writer *writer, smp_error *err)
{
    ico_writer *state = writer->state;
    const smp_shape *shape = &state->shape;
    const int64_t side = longer(shape);
    const bool first = !state->done;
    for (int i = 0; first && i < USUAL; i++)
        if (usual[i] < side)
            SMP_TRY(add_size(state, usual[i], err));
    if (first && shape->width != shape->height)
        smp_note(&writer->notes, "the picture is not square, and neither are its icons: some programs stretch them");
    return side <= MOST_SIDE ? add_size(state, side, err) : first ? SMP_OK : fail_size(shape, err);
}

/* A pixel has as many parts as there are columns, and a column as many as there are pixels. */
static void add_row(const uint8_t *row, const smp_shape *shape, scaled *to)
{
    const int n = shape->channels, green = n >= 3 ? 1 : 0, blue = n >= 3 ? 2 : 0;
    memset(to->across, 0, (size_t)to->width * 4 * sizeof *to->across);
    int64_t left = shape->width; /* parts that the column lacks */
    uint64_t *sum = to->across;
    for (int64_t x = 0; x < shape->width; x++, row += n) {
        const uint64_t alpha = shape->alpha ? row[n - 1] : 255;
        for (int64_t parts = to->width, w; parts; parts -= w) {
            w = smp_min_i64(parts, left);
            const uint64_t weight = (uint64_t)w * alpha;
            sum[0] += weight * row[0];
            sum[1] += weight * row[green];
            sum[2] += weight * row[blue];
            sum[3] += weight;
            left -= w;
            if (!left) {
                left = shape->width;
                sum += 4;
            }
        }
    }
}

smp_code smp_ico_write_row(smp_writer *writer, int64_t y, const void *from, smp_error *)
{
    ico_writer *state = writer->state;
    const smp_shape *shape = &state->shape;
    for (int i = 0; i < state->count; i++) {
        scaled *to = &state->sizes[i];
        add_row(from, shape, to);
        for (int64_t at = y * to->height, end = at + to->height, w; at < end; at += w) {
            const int64_t row = at / shape->height;
            w = smp_min_i64(end, (row + 1) * shape->height) - at;
            uint64_t *sum = to->sums + row * to->width * 4;
            for (int64_t k = 0; k < to->width * 4; k++)
                sum[k] += (uint64_t)w * to->across[k];
        }
    }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ pictures */

/* The means: blue first, as bitmaps have it. */
static void take_pixels(const scaled *from, const smp_shape *shape, uint8_t *to)
{
    const uint64_t all = (uint64_t)shape->width * (uint64_t)shape->height;
    for (int64_t i = 0; i < from->width * from->height; i++, to += 4) {
        const uint64_t *sum = from->sums + 4 * i;
        for (int c = 0; c < 3; c++)
            to[2 - c] = (uint8_t)(sum[3] ? (sum[c] + sum[3] / 2) / sum[3] : 0);
        to[3] = (uint8_t)((sum[3] + all / 2) / all);
    }
}

/* The bottom row first, and behind it a bit for each pixel that is transparent. */
static smp_code code_bitmap(const scaled *from, const uint8_t *pixels, smp_blob *out, smp_error *err)
{
    const size_t width = (size_t)from->width, height = (size_t)from->height, mask_row = (width + 31) / 32 * 4;
    out->size = BMP_INFO_HEADER + height * (4 * width + mask_row);
    SMP_NEED(out->data = smp_alloc(out->size), "an icon", out->size, err);
    uint8_t *head = out->data, *to = head + BMP_INFO_HEADER, *mask = to + 4 * width * height;
    smp_put_le(head, BMP_INFO_HEADER, 4);
    smp_put_le(head + 4, width, 4);
    smp_put_le(head + 8, 2 * height, 4);
    smp_put_le(head + 12, 1, 2);
    smp_put_le(head + 14, 32, 2);
    smp_put_le(head + 20, out->size - BMP_INFO_HEADER, 4);
    for (size_t y = height; y-- > 0; to += 4 * width, mask += mask_row) {
        memcpy(to, pixels + 4 * width * y, 4 * width);
        for (size_t x = 0; x < width; x++)
            mask[x / 8] = (uint8_t)(mask[x / 8] | (to[4 * x + 3] ? 0 : 0x80 >> x % 8));
    }
    return SMP_OK;
}

static smp_code code_png(const scaled *from, const uint8_t *pixels, smp_blob *out, smp_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)from->width,
                       .height = (png_uint_32)from->height,
                       .format = PNG_FORMAT_BGRA};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    SMP_NEED(out->data = smp_alloc_raw(size), "an icon", size, err);
    if (!png_image_write_to_memory(&image, out->data, &size, 0, pixels, 0, NULL))
        return smp_fail(err, SMP_E_WRITE, "the icon cannot be written (libpng: %.60s)", image.message);
    out->size = size;
    return SMP_OK;
}

static smp_code code(ico_writer *state, const scaled *from, const uint8_t *pixels, smp_error *err)
{
    uint8_t *entry = state->entries[state->done];
    smp_blob *out = &state->coded[state->done++];
    const bool png = from->width == MOST_SIDE || from->height == MOST_SIDE;
    SMP_TRY(png ? code_png(from, pixels, out, err) : code_bitmap(from, pixels, out, err));
    entry[0] = (uint8_t)from->width; /* 256 is 0 */
    entry[1] = (uint8_t)from->height;
    smp_put_le(entry + 4, 1, 2);
    smp_put_le(entry + 6, 32, 2);
    smp_put_le(entry + 8, out->size, 4);
    return SMP_OK;
}

/* Codes what the picture has become. alone: in all sizes, else as it is. */
static smp_code finish(ico_writer *state, bool alone, smp_error *err)
{
    enum { BYTES = MOST_SIDE * MOST_SIDE * 4 };
    smp_code result = alone || longer(&state->shape) <= MOST_SIDE ? SMP_OK : fail_size(&state->shape, err);
    uint8_t *pixels = smp_alloc_raw(BYTES);
    SMP_NEED(pixels, "an icon", BYTES, err);
    for (int i = 0; i < state->count; i++) {
        scaled *size = &state->sizes[i];
        if (!result && (alone || i + 1 == state->count)) {
            take_pixels(size, &state->shape, pixels);
            result = state->done < MOST_PICTURES
                         ? code(state, size, pixels, err)
                         : smp_fail(err, SMP_E_WRITE, "an icon has at most %d pictures", MOST_PICTURES);
        }
        smp_free_all(size->across, size->sums);
    }
    state->count = 0;
    smp_free(pixels);
    return result;
}

smp_code smp_ico_write_open(smp_writer *writer, const smp_meta *, smp_error *err)
{
    ico_writer *state = writer->state = smp_alloc(sizeof *state);
    SMP_NEED(state, "an icon", sizeof *state, err);
    state->shape = writer->shape;
    return begin(writer, err);
}

smp_code smp_ico_write_next(smp_writer *writer, const smp_meta *, smp_error *err)
{
    ico_writer *state = writer->state;
    SMP_TRY(finish(state, false, err));
    state->shape = writer->shape;
    return begin(writer, err);
}

smp_code smp_ico_write_end(smp_writer *writer, smp_error *err)
{
    ico_writer *state = writer->state;
    uint8_t head[SMP_ICO_HEAD] = {0, 0, 1};
    SMP_TRY(finish(state, !state->done, err));
    uint64_t at = SMP_ICO_HEAD + (uint64_t)state->done * SMP_ICO_ENTRY;
    smp_put_le(head + 4, (uint64_t)state->done, 2);
    SMP_TRY(smp_output_write(writer->output, head, sizeof head, err));
    for (int i = 0; i < state->done; i++) {
        smp_put_le(state->entries[i] + 12, at, 4);
        at += state->coded[i].size;
        SMP_TRY(smp_output_write(writer->output, state->entries[i], SMP_ICO_ENTRY, err));
    }
    for (int i = 0; i < state->done; i++)
        SMP_TRY(smp_output_write(writer->output, state->coded[i].data, state->coded[i].size, err));
    return SMP_OK;
}

void smp_ico_write_close(smp_writer *writer)
{
    ico_writer *state = writer->state;
    for (int i = 0; i < state->count; i++)
        smp_free_all(state->sizes[i].across, state->sizes[i].sums);
    for (int i = 0; i < state->done; i++)
        smp_free(state->coded[i].data);
    smp_free(state);
}
