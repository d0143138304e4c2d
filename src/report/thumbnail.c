/* Small pictures as data within a page: see thumbnail.h. A BMP, which every browser shows and which needs no codec. */
#include "report/thumbnail.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/media.h"

enum { HEADER = 54 /* bytes of a BMP in front of its rows */ };

typedef struct small {
    int64_t width, height;
    size_t stride;                   /* bytes of a row of the BMP */
    double *sums;                    /* of the row that is being added up: three a pixel */
    int64_t *counts;                 /* of a pixel */
    unsigned char *file, *rows, *in; /* the BMP; a row of the input */
    size_t size;
} small;

static double sample_at(const void *row, int64_t i, smp_format format)
{
    if (format == SMP_U8)
        return ((const uint8_t *)row)[i];
    if (format == SMP_U16)
        return ((const uint16_t *)row)[i] / 257.0;
    const double value = 255.0 * (double)((const float *)row)[i];
    return value > 0 ? value < 255 ? value : 255 : 0; /* NaN is black */
}

static void add_row(small *s, const smp_shape *shape)
{
    const int colours = shape->channels - shape->alpha >= 3 ? 3 : 1;
    for (int64_t x = 0; x < shape->width; x++) {
        const int64_t at = x * s->width / shape->width;
        for (int c = 0; c < 3; c++)
            s->sums[3 * at + c] += sample_at(s->in, x * shape->channels + (colours == 3 ? c : 0), shape->format);
        s->counts[at]++;
    }
}

/* Stores the row that was added up; a BMP has its last row first, and blue first. */
static void store_row(small *s, int64_t y)
{
    unsigned char *to = s->rows + (size_t)(s->height - 1 - y) * s->stride;
    for (int64_t x = 0; x < s->width; x++)
        for (int c = 0; c < 3; c++)
            to[3 * x + 2 - c] = (unsigned char)(s->sums[3 * x + c] / (double)s->counts[x] + .5);
    memset(s->sums, 0, (size_t)s->width * 3 * sizeof *s->sums);
    memset(s->counts, 0, (size_t)s->width * sizeof *s->counts);
}

static void put_u32(unsigned char *to, uint64_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static void fill_header(const small *s)
{
    unsigned char *to = s->file;
    memcpy(to, "BM", 2);
    put_u32(to + 2, s->size);
    put_u32(to + 10, HEADER);
    put_u32(to + 14, HEADER - 14);
    put_u32(to + 18, (uint64_t)s->width);
    put_u32(to + 22, (uint64_t)s->height);
    to[26] = 1;  /* plane */
    to[28] = 24; /* bits */
}

static void put_base64(FILE *to, const unsigned char *data, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t bits = (uint32_t)data[i] << 16 | (uint32_t)(i + 1 < size ? data[i + 1] : 0) << 8 |
                              (i + 2 < size ? data[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            putc(i + k > size ? '=' : letters[bits >> (18 - 6 * k) & 63], to);
    }
}

static smp_code read_small(smp_reader *reader, small *s, smp_error *err)
{
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    smp_code code = SMP_OK;
    for (int64_t y = 0; !code && y < shape->height; y++) {
        code = smp_reader_rows(reader, s->in, 0, 1, err);
        if (code)
            break;
        add_row(s, shape);
        if ((y + 1) * s->height / shape->height > y * s->height / shape->height)
            store_row(s, y * s->height / shape->height);
    }
    return code;
}

smp_code smp_thumbnail(FILE *to, const char *path, const smp_limits *limits, int most, smp_error *err)
{
    smp_reader *reader;
    small s = {.width = 0};
    smp_code code = smp_reader_open(path, limits, &reader, err);
    if (code)
        return code;
    const smp_media *media = smp_reader_media(reader);
    const smp_shape *shape = &media->shape;
    const int64_t longer = smp_max_i64(shape->width, shape->height);
    const size_t row = (size_t)(shape->width * shape->channels * smp_sample_size((int)shape->format));
    if (shape->kind != SMP_IMAGE) {
        code = smp_fail(err, SMP_E_DECODE, "is no picture");
        goto end;
    }
    s.width = longer > most ? smp_max_i64(1, shape->width * most / longer) : shape->width;
    s.height = longer > most ? smp_max_i64(1, shape->height * most / longer) : shape->height;
    s.stride = ((size_t)s.width * 3 + 3) / 4 * 4;
    s.size = HEADER + s.stride * (size_t)s.height;
    s.sums = smp_alloc_array((size_t)s.width * 3, sizeof *s.sums);
    s.counts = smp_alloc_array((size_t)s.width, sizeof *s.counts);
    s.file = smp_alloc(s.size);
    s.in = smp_alloc(row);
    if (!s.sums || !s.counts || !s.file || !s.in) {
        code = smp_fail_memory(err, "a small picture", s.size + row);
        goto end;
    }
    s.rows = s.file + HEADER;
    fill_header(&s);
    code = read_small(reader, &s, err);
    if (code)
        goto end;
    static const int turns[] = {0, 0, 0, 180, 180, 90, 90, 270, 270}; /* by EXIF's orientation; mirrors are left out */
    fprintf(to, "<img alt=\"\" width=\"%lld\" height=\"%lld\"", (long long)s.width, (long long)s.height);
    if (media->orientation > 0 && media->orientation <= 8 && turns[media->orientation])
        fprintf(to, " style=\"transform:rotate(%ddeg)\"", turns[media->orientation]);
    fputs(" src=\"data:image/bmp;base64,", to);
    put_base64(to, s.file, s.size);
    fputs("\">", to);

end:
    smp_free(s.sums);
    smp_free(s.counts);
    smp_free(s.file);
    smp_free(s.in);
    smp_reader_close(reader);
    return code;
}
