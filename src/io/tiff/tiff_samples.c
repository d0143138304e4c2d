/* Converts rows of a TIFF: see tiff_samples.h. */
#include "io/tiff/tiff_glue.h"

#include <string.h>

#include "base/alloc.h"
#include "io/alpha.h"

/* ------------------------------------------------------------------------------------------------ opening */

static smp_code read_palette(smp_tiff_samples *samples, const smp_tiff *tiff, smp_error *err)
{
    const smp_tiff_entry *entry = smp_tiff_find(tiff, TIFF_PALETTE);
    const uint64_t count = UINT64_C(1) << samples->page->bits;
    uint64_t values[TIFF_VALUES], most = 0;
    if (!smp_tiff_values(tiff, entry, 0, 3 * count, values))
        return smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: its palette has not 3 x %llu numbers",
                        (unsigned long long)count);
    for (uint64_t i = 0; i < 3 * count; i++)
        most = values[i] > most ? values[i] : most;
    const int shift = most > 255 ? 8 : 0; /* some programs write palettes of 8 bits */
    for (uint64_t i = 0; i < 3 * count; i++)
        samples->palette[i % count][i / count] = (uint8_t)(values[i] >> shift);
    return SMP_OK;
}

smp_code smp_tiff_samples_open(smp_tiff_samples *samples, const smp_tiff *tiff, const smp_tiff_page *page,
                               smp_error *err)
{
    smp_shape *shape = &samples->shape;
    samples->page = page;
    shape->kind = SMP_IMAGE;
    shape->width = page->width;
    shape->height = page->height;
    shape->channels = page->photometric == TIFF_PALETTE_COLOUR || page->photometric == TIFF_INK ? 3 : page->colours;
    shape->channels += page->alpha ? 1 : 0;
    shape->alpha = page->alpha;
    shape->format = page->is_float ? SMP_F32 : page->bits == 16 ? SMP_U16 : SMP_U8;
    const bool widened = page->bits < 8 || (page->is_float && page->bits != 32);
    samples->converted = widened || page->planar || page->photometric == TIFF_WHITE_IS_ZERO ||
                         page->photometric == TIFF_PALETTE_COLOUR || page->photometric == TIFF_INK ||
                         (page->photometric == TIFF_YCBCR && (page->compression != 7 || page->planar)) ||
                         page->premultiplied || page->samples != shape->channels;
    const int planes = page->planar ? page->samples : 1;
    const size_t line = (size_t)page->width * (size_t)(page->planar ? 1 : page->samples);
    for (int i = 0; widened && i < planes; i++)
        SMP_NEED(samples->lines[i] = smp_alloc_array(line, (size_t)smp_sample_size((int)shape->format)), "a row", line,
                 err);
    return page->photometric == TIFF_PALETTE_COLOUR ? read_palette(samples, tiff, err) : SMP_OK;
}

void smp_tiff_samples_close(smp_tiff_samples *samples)
{
    for (int i = 0; i < TIFF_MOST_PLANES; i++)
        smp_free(samples->lines[i]);
    memset(samples->lines, 0, sizeof samples->lines);
    smp_cmyk_close(samples->cmyk);
    samples->cmyk = NULL;
}

/* ------------------------------------------------------------------------------------------------ widening */

/* The first pixel is in the highest bits. A gray of n bits becomes one of 8; a palette's number stays. */
static void widen_bits(const uint8_t *from, int bits, bool scale, size_t count, uint8_t *to)
{
    const unsigned mask = (1u << bits) - 1, factor = scale ? 255 / mask : 1;
    const size_t each = (size_t)(8 / bits);
    for (size_t i = 0; i < count; i++) {
        const unsigned shift = 8 - (unsigned)bits * (unsigned)(i % each + 1);
        to[i] = (uint8_t)(((unsigned)from[i / each] >> shift & mask) * factor);
    }
}

/* IEEE 754 binary16. */
static float half(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
    uint32_t bits = sign | (exponent + 112) << 23 | fraction << 13;
    float value;
    if (exponent == 31)
        bits = sign | 0x7F800000 | fraction << 13;
    if (exponent == 0) {
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void widen_floats(const uint8_t *from, int bits, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t h;
        double d;
        if (bits == 16) {
            memcpy(&h, from + 2 * i, sizeof h);
            to[i] = half(h);
        } else {
            memcpy(&d, from + 8 * i, sizeof d);
            to[i] = (float)d;
        }
    }
}

static const void *widen(smp_tiff_samples *samples, int plane, const uint8_t *row)
{
    const smp_tiff_page *page = samples->page;
    const size_t count = (size_t)page->width * (size_t)(page->planar ? 1 : page->samples);
    uint8_t *line = samples->lines[plane];
    if (!line)
        return row;
    if (page->is_float)
        widen_floats(row, page->bits, count, (float *)(void *)line);
    else
        widen_bits(row, page->bits, page->photometric != TIFF_PALETTE_COLOUR, count, line);
    return line;
}

/* ------------------------------------------------------------------------------------------------ pixels */

static uint8_t clamp(double v)
{
    return v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)(v + 0.5);
}

/* ITU-R BT.601 of full range, as in JFIF. */
static void ycbcr_to_rgb(uint32_t *s)
{
    const double y = s[0], cb = (double)s[1] - 128, cr = (double)s[2] - 128;
    s[0] = clamp(y + 1.402 * cr);
    s[1] = clamp(y - 0.344136286 * cb - 0.714136286 * cr);
    s[2] = clamp(y + 1.772 * cb);
}

/* Whole numbers: s has the file's samples and gets the picture's. */
static void convert_pixel(const smp_tiff_samples *samples, uint32_t *s)
{
    const smp_tiff_page *page = samples->page;
    const uint32_t full = samples->shape.format == SMP_U16 ? UINT16_MAX : UINT8_MAX;
    const uint32_t alpha = s[page->alpha_at];
    switch (page->photometric) {
    case TIFF_WHITE_IS_ZERO:
        s[0] = full - s[0];
        break;
    case TIFF_PALETTE_COLOUR: {
        const uint8_t *colour = samples->palette[s[0] & 255];
        for (int c = 0; c < 3; c++)
            s[c] = colour[c];
        break;
    }
    case TIFF_INK:
        smp_cmyk_pixel(samples->cmyk, s, s);
        break;
    case TIFF_YCBCR:
        if (page->compression != 7 || page->planar)
            ycbcr_to_rgb(s);
        break;
    default:
        break;
    }
    const int colours = samples->shape.channels - (page->alpha ? 1 : 0);
    for (int c = 0; page->premultiplied && c < colours; c++)
        s[c] = smp_divide_alpha(s[c], alpha, full);
    if (page->alpha)
        s[colours] = alpha;
}

static void convert_floats(const smp_tiff_samples *samples, const float *const *planes, size_t step, float *to)
{
    const smp_tiff_page *page = samples->page;
    const int channels = samples->shape.channels, colours = page->colours;
    for (int64_t x = 0; x < page->width; x++, to += channels) {
        for (int c = 0; c < channels; c++)
            to[c] = planes[c < colours ? c : page->alpha_at][(size_t)x * step];
        for (int c = 0; page->premultiplied && c < colours; c++)
            to[c] = to[colours] > 0 ? to[c] / to[colours] : 0;
    }
}

void smp_tiff_samples_row(smp_tiff_samples *samples, const uint8_t *const *rows, void *to)
{
    const smp_tiff_page *page = samples->page;
    const smp_shape *shape = &samples->shape;
    const size_t size = (size_t)smp_sample_size((int)shape->format), step = page->planar ? 1 : (size_t)page->samples;
    const uint8_t *planes[TIFF_MOST_PLANES]; /* the first sample of each kind */
    if (!samples->converted) {
        memcpy(to, rows[0], (size_t)smp_row_bytes(shape));
        return;
    }
    for (int i = 0; i < (page->planar ? page->samples : 1); i++)
        planes[i] = widen(samples, i, rows[i]);
    for (int i = 1; !page->planar && i < page->samples; i++)
        planes[i] = planes[0] + (size_t)i * size;
    if (shape->format == SMP_F32) {
        const float *floats[TIFF_MOST_PLANES];
        for (int i = 0; i < page->samples; i++)
            floats[i] = (const float *)(const void *)planes[i];
        convert_floats(samples, floats, step, to);
        return;
    }
    for (int64_t x = 0; x < page->width; x++) {
        uint32_t s[TIFF_MOST_PLANES + 4];
        for (int i = 0; i < page->samples; i++)
            s[i] =
                size == 2 ? ((const uint16_t *)(const void *)planes[i])[(size_t)x * step] : planes[i][(size_t)x * step];
        convert_pixel(samples, s);
        for (int c = 0; c < shape->channels; c++) {
            const size_t at = (size_t)x * (size_t)shape->channels + (size_t)c;
            if (size == 2)
                ((uint16_t *)to)[at] = (uint16_t)s[c];
            else
                ((uint8_t *)to)[at] = (uint8_t)s[c];
        }
    }
}
