/* Small pictures: see thumbnail.h. */
#include "report/measure/thumbnail.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"
#include "io/images/bmp.h"
#include "io/media.h"
#include "io/meta/orientation.h"

typedef struct reading {
    smp_small_picture *to;
    double *sums;    /* of the row that is being added up: three a pixel */
    int64_t *counts; /* of a pixel */
    void *in;        /* a row of the input */
} reading;

static double sample_at(const void *row, int64_t i, smp_format format)
{
    if (format == SMP_U8)
        return ((const uint8_t *)row)[i];
    if (format == SMP_U16)
        return ((const uint16_t *)row)[i] / 257.0;
    const double value = 255.0 * (double)((const float *)row)[i];
    return value > 0 ? value < 255 ? value : 255 : 0; /* NaN is black */
}

static void add_row(reading *r, const smp_shape *shape)
{
    const bool colour = shape->channels - shape->alpha >= 3;
    for (int64_t x = 0; x < shape->width; x++) {
        const int64_t at = x * r->to->width / shape->width, first = x * shape->channels;
        const double cover = shape->alpha ? sample_at(r->in, first + shape->channels - 1, shape->format) / 255 : 1;
        for (int c = 0; c < 3; c++)
            r->sums[3 * at + c] += cover * sample_at(r->in, first + (colour ? c : 0), shape->format);
        r->counts[at]++;
    }
}

static void store_row(reading *r, int64_t y)
{
    unsigned char *to = r->to->samples + (size_t)(y * r->to->width * 3);
    for (int64_t x = 0; x < r->to->width * 3; x++)
        to[x] = (unsigned char)(r->sums[x] / (double)r->counts[x / 3] + .5);
    memset(r->sums, 0, (size_t)r->to->width * 3 * sizeof *r->sums);
    memset(r->counts, 0, (size_t)r->to->width * sizeof *r->counts);
}

static smp_code read_rows(smp_reader *reader, reading *r, smp_error *err)
{
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    const int64_t height = r->to->height;
    for (int64_t y = 0; y < shape->height; y++) {
        SMP_TRY(smp_reader_rows(reader, r->in, 0, 1, err));
        add_row(r, shape);
        if ((y + 1) * height / shape->height > y * height / shape->height)
            store_row(r, y * height / shape->height);
    }
    return SMP_OK;
}

/* The largest size of that shape within the bounds. */
static void fit(const smp_shape *shape, int64_t width, int64_t height, smp_small_picture *to)
{
    const double share = (double)width / (double)shape->width, other = (double)height / (double)shape->height;
    const double scale = share < other ? share : other;
    to->width = scale < 1 ? (int64_t)((double)shape->width * scale + .5) : shape->width;
    to->height = scale < 1 ? (int64_t)((double)shape->height * scale + .5) : shape->height;
    to->width = smp_max_i64(1, to->width);
    to->height = smp_max_i64(1, to->height);
}

/* Brings a picture of EXIF's orientation (1 to 8; from 5 on columns become rows) to how it is to be seen. */
static smp_code set_upright(smp_small_picture *p, int orientation, smp_error *err)
{
    const int64_t w = p->width, h = p->height;
    if (orientation <= 1)
        return SMP_OK;
    uint8_t *to = smp_alloc_array((size_t)h, (size_t)w * 3);
    SMP_NEED(to, "a small picture", (uint64_t)(w * h * 3), err);
    smp_orientation_put(orientation, w, h, 3, 0, h, p->samples, to);
    smp_free(p->samples);
    p->samples = to;
    p->width = smp_turned_across(orientation) ? h : w;
    p->height = smp_turned_across(orientation) ? w : h;
    return SMP_OK;
}

smp_code smp_small_picture_read(const char *path, const smp_read_options *how, int64_t width, int64_t height,
                                smp_small_picture *out, smp_error *err)
{
    smp_reader *reader;
    reading r = {.to = out};
    *out = (smp_small_picture){.samples = NULL};
    SMP_TRY(smp_reader_open(path, how, &reader, err));
    smp_code code = SMP_OK;
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    if (shape->kind != SMP_IMAGE) {
        smp_fail(err, SMP_E_DECODE, "is a sound, and no picture");
        smp_hint(err, "info --levels draws its peaks; run spectrogram makes a picture of it");
        code = smp_at(err, "%s", path);
        goto end;
    }
    const int orientation = smp_reader_media(reader)->orientation;
    const bool across = smp_turned_across(orientation);
    fit(shape, across ? height : width, across ? width : height, out);
    out->channels = 3;
    const size_t row = (size_t)(shape->width * shape->channels * smp_sample_size((int)shape->format));
    r.sums = smp_alloc_array((size_t)out->width * 3, sizeof *r.sums);
    r.counts = smp_alloc_array((size_t)out->width, sizeof *r.counts);
    r.in = smp_alloc(row);
    out->samples = smp_alloc_array((size_t)out->height, (size_t)out->width * 3);
    code = r.sums && r.counts && r.in && out->samples ? read_rows(reader, &r, err)
                                                      : smp_fail_memory(err, "a small picture", row);
    code = code ? code : set_upright(out, orientation, err);

end:
    if (code) {
        smp_free(out->samples);
        out->samples = NULL;
    }
    smp_free_all(r.sums, r.counts, r.in);
    smp_reader_close(reader);
    return code;
}

/* A BMP of the picture, from smp_alloc; null without memory. */
static unsigned char *bmp_of(const smp_small_picture *picture, size_t *size)
{
    const smp_shape shape = {.width = picture->width, .height = picture->height, .channels = 3, .format = SMP_U8};
    uint8_t head[SMP_BMP_HEAD];
    const size_t line = smp_bmp_line_bytes(&shape), used = smp_bmp_head(&shape, NULL, head);
    *size = used + line * (size_t)picture->height;
    unsigned char *file = smp_alloc(*size);
    if (file)
        memcpy(file, head, used);
    for (int64_t y = 0; file && y < picture->height; y++)
        smp_bmp_line(&shape, picture->samples + y * picture->width * 3, file + used + (size_t)y * line);
    return file;
}

void smp_base64(FILE *to, const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i += 3) {
        char four[4];
        smp_to_base64(four, data + i, size - i);
        fwrite(four, 1, 4, to);
    }
}

bool smp_small_picture_json(smp_json *json, const char *key, const smp_small_picture *picture)
{
    char *text = NULL;
    size_t size = 0, length = 0;
    unsigned char *file = bmp_of(picture, &size);
    FILE *to = open_memstream(&text, &length);
    bool made = to && file;
    if (made)
        smp_base64(to, file, size);
    made = to && fclose(to) == 0 && made;
    if (made)
        SMP_JSON_OBJECT(json, key, ("width", picture->width), ("height", picture->height), ("bmp", text));
    smp_free(file);
    free(text); /* open_memstream's */
    return made;
}

bool smp_thumbnail_json(smp_json *json, const char *key, const char *path, const smp_read_options *how, int most)
{
    smp_small_picture small;
    bool made = !smp_small_picture_read(path, how, most, most, &small, &(smp_error){.code = SMP_OK});
    made = made && smp_small_picture_json(json, key, &small);
    smp_free(small.samples);
    return made;
}
