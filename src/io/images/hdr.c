/* Radiance HDR, read by rows: linear RGB as floats, with three mantissas and a shared exponent, uncompressed or with
 * either kind of RLE. Source: Greg Ward, "Real Pixels", Graphics Gems II, and Radiance's color.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/format.h"

enum {
    PIXEL = 4,          /* bytes: red, green, blue, exponent */
    MOST_LINE = 1024,   /* bytes of a line of the header */
    MOST_LINES = 10000, /* of the header */
    RUN_WIDTH = 8,      /* narrower rows have no RLE by channel */
    RUN_WIDTH_END = 1 << 15,
    PIXELS_A_BYTE = 64, /* no sensible file has more pixels for a byte */
    BIAS = 128 + 8      /* of the exponent, with integer mantissas */
};

typedef struct hdr {
    float unit[256]; /* of a mantissa, by exponent */
    bool planar;     /* the row is one channel after another, not one pixel after another */
    uint8_t row[];
} hdr;

static bool sniff(const uint8_t *head, size_t size)
{
    return (size >= 11 && memcmp(head, "#?RADIANCE\n", 11) == 0) || (size >= 7 && memcmp(head, "#?RGBE\n", 7) == 0);
}

/* Reads a line without its end. */
static smp_code read_line(smp_source *source, char *line, smp_error *err)
{
    for (size_t n = 0; n < MOST_LINE; n++) {
        SMP_TRY(smp_source_fill(source, line + n, 1, err));
        if (line[n] == '\n') {
            line[n] = '\0';
            return SMP_OK;
        }
    }
    return smp_fail(err, SMP_E_DECODE, "the HDR's header has a line of more than %d bytes", MOST_LINE);
}

/* "-Y 480 +X 640": top row first, each row from the left. */
static bool parse_size(const char *line, int64_t *width, int64_t *height)
{
    char *end;
    if (strncmp(line, "-Y ", 3) != 0)
        return false;
    *height = strtoll(line + 3, &end, 10);
    if (strncmp(end, " +X ", 4) != 0)
        return false;
    *width = strtoll(end + 4, &end, 10);
    return !*end && *width > 0 && *height > 0 && *width <= INT32_MAX && *height <= INT32_MAX;
}

static smp_code read_header(smp_reader *reader, smp_error *err)
{
    char line[MOST_LINE];
    smp_shape *shape = &reader->media.shape;
    for (int n = 0; n < MOST_LINES; n++) {
        SMP_TRY(read_line(&reader->source, line, err));
        if (strncmp(line, "FORMAT=", 7) == 0 && strcmp(line + 7, "32-bit_rle_rgbe") != 0)
            return smp_fail(err, SMP_E_DECODE, "the HDR holds %.40s, which is not supported", line + 7),
                   smp_hint(err, "convert it to RGB first: ra_xyze -r IN.hdr OUT.hdr");
        if (line[0])
            continue;
        SMP_TRY(read_line(&reader->source, line, err));
        if (!parse_size(line, &shape->width, &shape->height))
            return smp_fail(err, SMP_E_DECODE, "the HDR has an unsupported order of rows: %.60s", line);
        return SMP_OK;
    }
    return smp_fail(err, SMP_E_DECODE, "the HDR's header has more than %d lines", MOST_LINES);
}

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_shape *shape = &media->shape;
    SMP_TRY(read_header(reader, err));
    shape->channels = 3;
    shape->format = SMP_F32;
    media->bits = 8;       /* of each mantissa; the exponent is shared */
    media->meta.gamma = 1; /* values are light */
    snprintf(media->detail, sizeof media->detail, "shared exponent");
    uint64_t bytes = (uint64_t)shape->width * PIXEL;
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height, bytes, err));
    SMP_TRY(smp_check_size(&reader->source, (uint64_t)shape->width * (uint64_t)shape->height / PIXELS_A_BYTE, err));
    hdr *state = reader->state = smp_alloc_raw(sizeof *state + (size_t)bytes);
    SMP_NEED(state, "a row", sizeof *state + bytes, err);
    for (int i = 0; i < 256; i++)
        state->unit[i] = i ? ldexpf(1.f, i - BIAS) : 0;
    return SMP_OK;
}

static smp_code fail_runs(smp_error *err)
{
    return smp_fail(err, SMP_E_DECODE, "the HDR is damaged: a run goes past its row");
}

/* Decodes the four channels of a row, which follow one another, each run-length coded. */
static smp_code read_channels(smp_source *source, uint8_t *row, int64_t width, smp_error *err)
{
    for (int c = 0; c < PIXEL; c++)
        for (int64_t x = 0; x < width;) {
            uint8_t code, *to = row + c * width + x;
            SMP_TRY(smp_source_fill(source, &code, 1, err));
            const bool repeats = code > 128;
            const int count = repeats ? code - 128 : code;
            if (!count || count > width - x)
                return fail_runs(err);
            size_t size = repeats ? 1 : (size_t)count;
            SMP_TRY(smp_source_fill(source, to, size, err));
            if (repeats)
                memset(to, *to, (size_t)count);
            x += count;
        }
    return SMP_OK;
}

/* Old RLE: the pixel 1, 1, 1, n repeats the pixel before it n times. Several of them in a row are the digits of n,
 * lowest first. The first pixel was read. */
static smp_code read_pixels(smp_source *source, uint8_t *row, int64_t width, smp_error *err)
{
    int shift = 0;
    for (int64_t x = 0; x < width;) {
        uint8_t *pixel = row + x * PIXEL;
        if (x && smp_source_read(source, pixel, PIXEL) != PIXEL)
            return smp_source_ended(source, err);
        if (!(x && pixel[0] == 1 && pixel[1] == 1 && pixel[2] == 1)) {
            shift = 0;
            x++;
            continue;
        }
        int64_t count = (int64_t)pixel[3] << shift;
        if (count > width - x || shift > 16)
            return fail_runs(err);
        for (; count; count--, x++)
            memcpy(row + x * PIXEL, row + (x - 1) * PIXEL, PIXEL);
        shift += 8;
    }
    return SMP_OK;
}

static smp_code decode_row(smp_reader *reader, smp_error *err)
{
    hdr *state = reader->state;
    uint8_t *row = state->row;
    smp_source *source = &reader->source;
    const int64_t width = reader->media.shape.width;
    state->planar = false;
    SMP_TRY(smp_source_fill(source, row, PIXEL, err));
    if (width < RUN_WIDTH || width >= RUN_WIDTH_END || row[0] != 2 || row[1] != 2 || row[2] >= 128)
        return read_pixels(source, row, width, err);
    if ((row[2] << 8 | row[3]) != width)
        return smp_fail(err, SMP_E_DECODE, "the HDR is damaged: a row has another width than the picture");
    state->planar = true;
    return read_channels(source, row, width, err);
}

#if defined(__x86_64__)
static inline __attribute__((always_inline)) float power_of_two(uint32_t exponent)
{
    enum { FLOAT_BIAS = 127, MANTISSA_BITS = 23 };
    const uint32_t bits = (exponent + FLOAT_BIAS) << MANTISSA_BITS;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A row of planes, with the unit computed, since a table keeps a compiler from vectors. The unit is a product of two
 * powers, for a float's exponent does not reach as far; both products are exact. */
__attribute__((target("avx2"))) static void planes_to_floats_avx2(const uint8_t *planes, int64_t width,
                                                                  float *restrict out)
{
    for (int64_t x = 0; x < width; x++) {
        const uint32_t exponent = planes[3 * width + x], half = exponent / 2;
        const float low = power_of_two(half - BIAS / 2), high = power_of_two(exponent - half - BIAS / 2);
        const int32_t mask = exponent ? UINT8_MAX : 0;
        for (int c = 0; c < 3; c++)
            out[3 * x + c] = (float)(planes[c * width + x] & mask) * low * high;
    }
}
#endif

static void to_floats(const hdr *state, int64_t width, float *out)
{
#if defined(__x86_64__)
    if (state->planar && __builtin_cpu_supports("avx2")) {
        planes_to_floats_avx2(state->row, width, out);
        return;
    }
#endif
    const int64_t channel = state->planar ? width : 1, step = state->planar ? 1 : PIXEL;
    const uint8_t *pixel = state->row;
    for (int64_t x = 0; x < width; x++, pixel += step) {
        const float unit = state->unit[pixel[3 * channel]];
        for (int c = 0; c < 3; c++)
            out[3 * x + c] = (float)pixel[c * channel] * unit;
    }
}

static smp_code read_row(smp_reader *reader, int64_t, void *to, smp_error *err)
{
    SMP_TRY(decode_row(reader, err));
    to_floats(reader->state, reader->media.shape.width, to);
    return SMP_OK;
}

const smp_file_format smp_format_hdr = {
    .name = "HDR",
    .extensions = (const char *const[]){"hdr", NULL},
    .kind = SMP_IMAGE,
    .sniff = sniff,
    SMP_READS(row),
};
