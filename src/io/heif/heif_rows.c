/* Decodes the picture of a HEIC or AVIF and gives its rows. Gray is taken as it is coded, since libheif makes colours
 * of it without regard to its range; so is a picture that is turned otherwise than its alpha, and turned here. */
#include "io/heif/heif_glue.h"

#ifdef SMP_HAVE_HEIF

#include <string.h>

#include "base/alloc.h"
#include "io/alpha.h"
#include "io/bytes.h"

static const smp_heif_functions *const lib = &smp_heif_library;

static smp_code decode_as(heif_state *state, const smp_reader *reader, enum heif_colorspace space,
                          enum heif_chroma chroma, smp_error *err)
{
    struct heif_decoding_options *options = lib->heif_decoding_options_alloc();
    SMP_NEED(options, reader->media.file_format, 0, err);
    if (options->version >= 3)
        options->strict_decoding = 1;
    const struct heif_error why = lib->heif_decode_image(state->handle, &state->image, space, chroma, options);
    lib->heif_decoding_options_free(options);
    return smp_heif_failed(state, reader->media.file_format, why, err);
}

static smp_code open_plane(heif_state *state, const smp_reader *reader, enum heif_channel channel, int samples,
                           heif_plane *plane, smp_error *err)
{
    plane->samples = lib->heif_image_get_plane_readonly(state->image, channel, &plane->stride);
    plane->bits = lib->heif_image_get_bits_per_pixel_range(state->image, channel);
    plane->pixel = (size_t)samples * (plane->bits > 8 ? 2 : 1);
    if (!plane->samples || plane->bits < (plane->limited ? 8 : 1) || plane->bits > 16 ||
        plane->stride < (int64_t)plane->pixel * state->width ||
        lib->heif_image_get_width(state->image, channel) != state->width ||
        lib->heif_image_get_height(state->image, channel) != state->height)
        return smp_fail(err, SMP_E_DECODE, "the %s is damaged: its picture has another size than its boxes say",
                        reader->media.file_format);
    return SMP_OK;
}

/* By what the coded picture says or, where libheif puts it together of tiles, by its box. */
static bool is_limited(const heif_state *state)
{
    struct heif_color_profile_nclx *nclx = NULL;
    if (lib->heif_image_get_nclx_color_profile(state->image, &nclx).code || !nclx)
        (void)lib->heif_image_handle_get_nclx_color_profile(state->handle, &nclx);
    const bool limited = nclx && !nclx->full_range_flag;
    if (nclx)
        lib->heif_nclx_color_profile_free(nclx);
    return limited;
}

/* Opens the planes, unless libheif has made colours of them, as it does with tiles: then state->gray stays false. */
static smp_code decode_gray(heif_state *state, const smp_reader *reader, smp_error *err)
{
    SMP_TRY(decode_as(state, reader, heif_colorspace_undefined, heif_chroma_undefined, err));
    state->planes[0].limited = is_limited(state);
    state->gray = lib->heif_image_get_colorspace(state->image) == heif_colorspace_monochrome;
    if (!state->gray) {
        lib->heif_image_release(state->image);
        state->image = NULL;
        return SMP_OK;
    }
    SMP_TRY(open_plane(state, reader, heif_channel_Y, 1, &state->planes[0], err));
    if (reader->media.shape.alpha)
        SMP_TRY(open_plane(state, reader, heif_channel_Alpha, 1, &state->planes[1], err));
    return SMP_OK;
}

static smp_code decode(heif_state *state, const smp_reader *reader, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    const bool deep = shape->format == SMP_U16;
    const enum heif_chroma chroma =
        deep ? (shape->alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE)
             : (shape->alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB);
    heif_plane *colours = &state->planes[0];
    smp_code code = state->primary.gray ? decode_gray(state, reader, err) : SMP_OK;
    if (code || state->gray)
        return code;
    code = decode_as(state, reader, heif_colorspace_RGB, chroma, err);
    code = code ? code : open_plane(state, reader, heif_channel_interleaved, 3 + shape->alpha, colours, err);
    if (!code && (colours->bits > 8) != deep) /* as many bits as its boxes say */
        code = smp_fail(err, SMP_E_DECODE, "the %s is damaged: its samples have %d bits", reader->media.file_format,
                        colours->bits);
    return code;
}

/* Row y of a plane, turned where that is done here. */
static const uint8_t *fetch(const heif_state *state, int plane, int64_t width, int64_t y)
{
    const heif_plane *from = &state->planes[plane];
    const heif_place *place = &state->place;
    uint8_t *to = state->lines[plane];
    if (!to)
        return from->samples + y * from->stride;
    for (int64_t x = 0; x < width; x++, to += from->pixel) {
        const int64_t column = place->x[0] * x + place->x[1] * y + place->x[2];
        const int64_t row = place->y[0] * x + place->y[1] * y + place->y[2];
        memcpy(to, from->samples + row * from->stride + column * (int64_t)from->pixel, from->pixel);
    }
    return state->lines[plane];
}

/* A sample of full range, 0..full, to nearest. */
static uint32_t widen(const heif_plane *plane, uint32_t value, uint32_t full)
{
    const uint32_t most = (1u << plane->bits) - 1, step = plane->limited ? 1u << (plane->bits - 8) : 0;
    const uint32_t low = 16 * step, range = plane->limited ? 219 * step : most;
    const uint32_t above = value > low ? value - low : 0;
    return ((above < range ? above : range) * full + range / 2) / range;
}

static uint32_t sample(const heif_plane *plane, const uint8_t *row, int64_t x)
{
    uint16_t deep;
    if (plane->bits <= 8)
        return row[x];
    memcpy(&deep, row + 2 * x, sizeof deep);
    return deep;
}

static void put(const smp_shape *shape, void *row, int64_t at, uint32_t value)
{
    if (shape->format == SMP_U16)
        ((uint16_t *)row)[at] = (uint16_t)value;
    else
        ((uint8_t *)row)[at] = (uint8_t)value;
}

static void take_gray(const heif_state *state, const smp_shape *shape, int64_t y, void *to)
{
    const uint32_t full = shape->format == SMP_U16 ? UINT16_MAX : UINT8_MAX;
    const uint8_t *gray = fetch(state, 0, shape->width, y);
    const uint8_t *alpha = shape->alpha ? fetch(state, 1, shape->width, y) : NULL;
    for (int64_t x = 0; x < shape->width; x++) {
        const uint32_t value = widen(&state->planes[0], sample(&state->planes[0], gray, x), full);
        put(shape, to, x * shape->channels, value);
        if (alpha)
            put(shape, to, x * shape->channels + 1,
                widen(&state->planes[1], sample(&state->planes[1], alpha, x), full));
    }
}

/* Takes colours; of gray, libheif's three are the same. */
static void take_colours(const heif_state *state, const smp_shape *shape, int64_t y, void *to)
{
    const int given = 3 + shape->alpha, colours = shape->channels - shape->alpha;
    const bool deep = shape->format == SMP_U16;
    const uint8_t *from = fetch(state, 0, shape->width, y);
    const heif_plane *colour = &state->planes[0];
    const heif_plane alpha = {.bits = colour->bits};
    if (!deep && !colour->limited && colours == 3) {
        memcpy(to, from, (size_t)(shape->width * given));
        return;
    }
    for (int64_t x = 0; x < shape->width; x++)
        for (int c = 0; c < shape->channels; c++) {
            const bool last = c == colours;
            const int64_t i = x * given + (last ? 3 : c);
            const uint32_t value = deep ? smp_get_le(from + 2 * i, 2) : from[i];
            put(shape, to, x * shape->channels + c,
                widen(last ? &alpha : colour, value, deep ? UINT16_MAX : UINT8_MAX));
        }
}

/* Alpha was multiplied in. */
static void divide_alpha(const smp_shape *shape, void *row)
{
    const int colours = shape->channels - 1;
    for (int64_t x = 0; x < shape->width; x++)
        for (int c = 0; c < colours; c++) {
            uint16_t *deep = (uint16_t *)row + shape->channels * x;
            uint8_t *plain = (uint8_t *)row + shape->channels * x;
            if (shape->format == SMP_U16)
                deep[c] = (uint16_t)smp_divide_alpha(deep[c], deep[colours], UINT16_MAX);
            else
                plain[c] = (uint8_t)smp_divide_alpha(plain[c], plain[colours], UINT8_MAX);
        }
}

static smp_code begin(heif_state *state, const smp_reader *reader, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    SMP_TRY(decode(state, reader, err));
    for (int i = 0; i < 2 && state->primary.apart && state->planes[i].samples; i++)
        SMP_NEED(state->lines[i] = smp_alloc_array((size_t)shape->width, state->planes[i].pixel), "a row",
                 (uint64_t)shape->width, err);
    return SMP_OK;
}

smp_code smp_heif_read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    heif_state *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    if (!state->image)
        SMP_TRY(begin(state, reader, err));
    if (state->gray)
        take_gray(state, shape, y, to);
    else
        take_colours(state, shape, y, to);
    if (state->premultiplied && shape->alpha)
        divide_alpha(shape, to);
    return SMP_OK;
}

void smp_heif_read_close(smp_reader *reader)
{
    heif_state *state = reader->state;
    if (state->image)
        lib->heif_image_release(state->image);
    if (state->handle)
        lib->heif_image_handle_release(state->handle);
    if (state->context)
        lib->heif_context_free(state->context);
    for (int i = 0; i < 2; i++)
        smp_free(state->lines[i]);
    smp_free(state);
}

#endif
