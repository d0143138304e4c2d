/* Converts rows of a TIFF: see tiff_samples.h. */
#include "io/tiff/tiff_glue.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/alpha.h"
#include "io/bytes.h"
#include "media/icc.h"

/* ------------------------------------------------------------------------------------------------ opening */

static smp_code read_palette(smp_tiff_samples *samples, const smp_tiff *tiff, smp_error *err)
{
    const smp_tiff_entry *entry = smp_tiff_find(tiff, TIFF_PALETTE);
    const uint64_t count = UINT64_C(1) << samples->page->bits;
    uint64_t values[TIFF_VALUES];
    bool wide = false; /* some programs write palettes of 8 bits */
    SMP_NEED(samples->palette = smp_alloc_array((size_t)count, sizeof *samples->palette), "a palette", 3 * count, err);
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < 3 * count; i++) {
            const uint64_t k = i % TIFF_VALUES, n = 3 * count - i < TIFF_VALUES ? 3 * count - i : TIFF_VALUES;
            if (!k && !smp_tiff_values(tiff, entry, i, n, values))
                return smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: its palette has not 3 x %llu numbers",
                                (unsigned long long)count);
            wide |= values[k] > UINT8_MAX;
            samples->palette[i % count][i / count] = (uint8_t)(values[k] >> (wide ? 8 : 0));
        }
    return SMP_OK;
}

/* Bytes of a sample before its pixel is converted. */
static size_t unit_of(const smp_tiff_page *page)
{
    return page->is_float || page->numbers ? sizeof(float) : page->bits > 8 ? sizeof(uint16_t) : 1;
}

smp_code smp_tiff_samples_open(smp_tiff_samples *samples, const smp_tiff *tiff, const smp_tiff_page *page,
                               smp_error *err)
{
    smp_shape *shape = &samples->shape;
    const bool palette = page->photometric == TIFF_PALETTE_COLOUR;
    samples->page = page;
    shape->kind = SMP_IMAGE;
    shape->width = page->width;
    shape->height = page->height;
    shape->channels = palette || page->photometric == TIFF_INK || page->rgba ? 3 : page->colours;
    shape->channels += page->alpha ? 1 : 0;
    shape->alpha = page->alpha;
    shape->format = palette || page->rgba || unit_of(page) == 1 ? SMP_U8 : unit_of(page) == 2 ? SMP_U16 : SMP_F32;
    if (page->rgba)
        return SMP_OK;
    const bool widened = page->bits != 8 * (int)unit_of(page) || page->numbers;
    samples->converted = widened || page->planar || page->photometric == TIFF_WHITE_IS_ZERO || palette ||
                         page->photometric == TIFF_INK || page->photometric >= TIFF_LAB ||
                         (page->photometric == TIFF_YCBCR && (page->compression != TIFF_JPEG || page->planar)) ||
                         page->premultiplied || page->samples != shape->channels;
    const int planes = page->planar ? page->samples : 1;
    const size_t line = (size_t)page->width * (size_t)(page->planar ? 1 : page->samples);
    for (int i = 0; widened && i < planes; i++)
        SMP_NEED(samples->lines[i] = smp_alloc_array(line, unit_of(page)), "a row", line, err);
    const double x = smp_tiff_rational(tiff, TIFF_WHITE, 0), y = smp_tiff_rational(tiff, TIFF_WHITE, 1);
    const bool said = page->photometric == TIFF_LAB && x > 0 && y > 1e-3 && x + y < 1;
    memcpy(samples->white, said ? (double[]){x / y, 1, (1 - x - y) / y} : smp_icc_d50, sizeof samples->white);
    smp_srgb_of_white(samples->white, samples->matrix);
    return palette ? read_palette(samples, tiff, err) : SMP_OK;
}

void smp_tiff_samples_close(smp_tiff_samples *samples)
{
    for (int i = 0; i < TIFF_MOST_PLANES; i++)
        smp_free(samples->lines[i]);
    memset(samples->lines, 0, sizeof samples->lines);
    smp_free(samples->palette);
    smp_cmyk_close(samples->cmyk);
}

/* ------------------------------------------------------------------------------------------------ widening */

/* Samples of up to 16 bits lie one behind the other, the highest bit first; wider ones are whole bytes, as the machine
 * has them. full: what the largest becomes; 0: they stay. */
static void widen_bits(const uint8_t *from, int bits, uint64_t full, size_t count, uint8_t *to)
{
    const uint64_t most = UINT64_MAX >> (bits > 32 ? 32 : 64 - bits);
    const uint64_t factor = full % most ? 0 : full / most; /* spares a division for each sample */
    uint64_t held = 0;
    int have = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t v = bits > 16 ? smp_get_bytes(from + i * (size_t)bits / 8, bits / 8, !smp_little_endian()) : 0;
        v >>= bits > 32 ? bits - 32 : 0;
        for (; bits <= 16 && have < bits; have += 8)
            held = held << 8 | *from++;
        if (bits <= 16)
            v = held >> (have -= bits) & most;
        v = factor ? v * factor : full ? (v * full + most / 2) / most : v;
        if (bits > 8)
            ((uint16_t *)(void *)to)[i] = (uint16_t)v;
        else
            to[i] = (uint8_t)v;
    }
}

/* Returns whether one has more digits than a float. */
static bool widen_numbers(const uint8_t *from, int bits, bool is_signed, size_t count, float *to)
{
    bool rounded = false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t v = smp_get_bytes(from + i * (size_t)bits / 8, bits / 8, !smp_little_endian());
        const int64_t s = (int64_t)(v << (64 - bits)) >> (64 - bits);
        const uint64_t size = is_signed && s < 0 ? -(uint64_t)s : v;
        rounded |= size && size >> __builtin_ctzll(size) >= UINT64_C(1) << 24;
        to[i] = is_signed && s < 0 ? -(float)size : (float)size;
    }
    return rounded;
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
    const uint64_t full = page->photometric == TIFF_PALETTE_COLOUR ? 0 : page->bits > 8 ? UINT16_MAX : UINT8_MAX;
    if (page->is_float)
        widen_floats(row, page->bits, count, (float *)(void *)line);
    else if (page->numbers)
        samples->rounded |= widen_numbers(row, page->bits, page->is_signed, count, (float *)(void *)line);
    else
        widen_bits(row, page->bits, full, count, line);
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

/* a* or b*, of 8 or 16 bits: with an offset in ICC's kind, else with a sign. */
static double chroma(uint32_t v, uint32_t full, bool icc)
{
    const double half = full / 2 + 1;
    return (v - (icc ? half : v < half ? 0 : 2 * half)) / (full > UINT8_MAX ? 256 : 1);
}

/* White is what the file says, or that of paper. Source: TIFF 6.0, section 23; Adobe Photoshop TIFF Technical Notes. */
static void lab_to_rgb(const smp_tiff_samples *samples, uint32_t full, uint32_t *s)
{
    const bool icc = samples->page->photometric == TIFF_ICC_LAB;
    const double l = (s[0] / (icc && full > UINT8_MAX ? 0xFF00 : (double)full) * 100 + 16) / 116;
    double xyz[3] = {l + chroma(s[1], full, icc) / 500, l, l - chroma(s[2], full, icc) / 200};
    for (int c = 0; c < 3; c++)
        xyz[c] = samples->white[c] * (xyz[c] > 6. / 29 ? xyz[c] * xyz[c] * xyz[c] : (xyz[c] - 16. / 116) * 108 / 841);
    for (int c = 0; c < 3; c++) {
        const double *m = samples->matrix + 3 * c, light = m[0] * xyz[0] + m[1] * xyz[1] + m[2] * xyz[2];
        s[c] = (uint32_t)(smp_icc_encoded(fmin(fmax(light, 0), 1)) * full + 0.5);
    }
}

/* Whole numbers: s has the file's samples and gets the picture's. */
static void convert_pixel(const smp_tiff_samples *samples, uint32_t *s)
{
    const smp_tiff_page *page = samples->page;
    const uint32_t full = samples->shape.format == SMP_U16 ? UINT16_MAX : UINT8_MAX;
    uint32_t alpha = s[page->alpha_at];
    if (page->photometric == TIFF_PALETTE_COLOUR) { /* its samples are not widened: the others are numbers of colours */
        const uint32_t most = (1U << page->bits) - 1;
        alpha = (alpha * full + most / 2) / most;
    }
    switch (page->photometric) {
    case TIFF_WHITE_IS_ZERO:
        s[0] = full - s[0];
        break;
    case TIFF_PALETTE_COLOUR: {
        const uint8_t *colour = samples->palette[s[0]];
        for (int c = 0; c < 3; c++)
            s[c] = colour[c];
        break;
    }
    case TIFF_LAB:
    case TIFF_ICC_LAB:
        lab_to_rgb(samples, full, s);
        break;
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

/* Light: linear sRGB of IEC 61966-2-1, whose white LogLuv's colours are of, too. */
static void xyz_to_rgb(float *s)
{
    const double x = (double)s[0], y = (double)s[1], z = (double)s[2];
    s[0] = (float)(3.2404542 * x - 1.5371385 * y - 0.4985314 * z);
    s[1] = (float)(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z);
    s[2] = (float)(0.0556434 * x - 0.2040259 * y + 1.0572252 * z);
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
        if (page->photometric == TIFF_LOG_LUV)
            xyz_to_rgb(to);
    }
}

void smp_tiff_samples_row(smp_tiff_samples *samples, const uint8_t *const *rows, void *to)
{
    const smp_tiff_page *page = samples->page;
    const smp_shape *shape = &samples->shape;
    const size_t size = unit_of(page), step = page->planar ? 1 : (size_t)page->samples;
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
            if (shape->format == SMP_U16)
                ((uint16_t *)to)[at] = (uint16_t)s[c];
            else
                ((uint8_t *)to)[at] = (uint8_t)s[c];
        }
    }
}
