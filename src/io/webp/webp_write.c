/* Writes WebP through libwebp, with loss or without. The library codes a whole picture, which is kept until its last
 * row; around what it gives come the chunks of the profile, EXIF and XMP. */
#include "io/webp/webp_glue.h"

#ifdef SMP_HAVE_WEBP

#include <string.h>

#include <webp/encode.h>

#include "base/alloc.h"
#include "io/bytes.h"

enum { DEFAULT_QUALITY = 80, METHOD = 4, EFFORT = 75 /* of 100, without loss: libwebp's own default */ };
enum { LOSSY_HELD = 3, LOSSLESS_HELD = 20 /* bytes a pixel that the library holds beside the picture, measured */ };

typedef struct webp_writer {
    WebPConfig config;
    WebPPicture picture;
    uint32_t *pixels; /* ARGB in native order */
    uint64_t borrowed;
    smp_blob icc, exif, xmp;
    unsigned char *coded; /* a file by libwebp, without metadata */
    size_t size, capacity;
    bool failed; /* for want of memory */
} webp_writer;

smp_code smp_webp_write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    if (shape->width > WEBP_MOST_SIDE || shape->height > WEBP_MOST_SIDE) {
        smp_fail(err, SMP_E_WRITE, "a WebP holds at most %d x %d pixels; this has %lld x %lld", WEBP_MOST_SIDE,
                 WEBP_MOST_SIDE, (long long)shape->width, (long long)shape->height);
        return smp_hint(err, "write a .png or .tif, which may be larger");
    }
    shape->format = SMP_U8;
    return smp_check_colour("WebP", shape, err);
}

/* ------------------------------------------------------------------------------------------------ opening */

static bool keep_meta(webp_writer *state, const smp_meta *meta, smp_notes *notes)
{
    if (meta->icc.size && smp_icc_fits(&meta->icc, 3) && !smp_blob_set(&state->icc, meta->icc.data, meta->icc.size))
        return false;
    return smp_meta_keep_blocks(meta, "a WebP", &state->exif, &state->xmp, notes);
}

static int take_bytes(const uint8_t *data, size_t size, const WebPPicture *picture)
{
    webp_writer *state = picture->custom_ptr;
    if (!smp_grow(&state->coded, &state->capacity, state->size + size, 1)) {
        state->failed = true;
        return 0;
    }
    memcpy(state->coded + state->size, data, size);
    state->size += size;
    return 1;
}

static bool is_lossless(const smp_writer *writer)
{
    return smp_write_value(&writer->options.values, &smp_write_lossless) ||
           (smp_coding_webp(&writer->coding)->lossless &&
            !smp_write_value(&writer->options.values, &smp_write_quality));
}

static bool configure(webp_writer *state, const smp_shape *shape, const smp_write_options *options, bool lossless)
{
    WebPConfig *config = &state->config;
    WebPPicture *picture = &state->picture;
    const int quality = smp_write_value(&options->values, &smp_write_quality);
    if (!WebPConfigInit(config) || !WebPPictureInit(picture))
        return false;
    config->lossless = lossless;
    config->quality = (float)(lossless ? EFFORT : quality ? quality : DEFAULT_QUALITY);
    config->method = METHOD;
    config->exact = lossless;
    config->thread_level = options->threads != 1;
    picture->use_argb = 1;
    picture->width = (int)shape->width;
    picture->height = (int)shape->height;
    picture->writer = take_bytes;
    picture->custom_ptr = state;
    return WebPValidateConfig(config) != 0;
}

smp_code smp_webp_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    const uint64_t pixels = (uint64_t)shape->width * (uint64_t)shape->height;
    const uint64_t held = pixels * (is_lossless(writer) ? LOSSLESS_HELD : LOSSY_HELD);
    webp_writer *state = writer->state = smp_alloc(sizeof *state);
    SMP_NEED(state, "a WebP", sizeof *state, err);
    if (!configure(state, shape, &writer->options, is_lossless(writer)))
        return smp_fail(err, SMP_E_PROCESS, "this libwebp is older than the one that smempipe was built with");
    state->pixels = smp_alloc_array((size_t)pixels, sizeof *state->pixels);
    SMP_NEED(state->pixels && smp_alloc_borrow(held), "a WebP", held, err);
    state->borrowed = held;
    state->picture.argb = state->pixels;
    state->picture.argb_stride = (int)shape->width;
    return !meta || keep_meta(state, meta, &writer->notes) ? SMP_OK : smp_fail_memory(err, "metadata", 0);
}

smp_code smp_webp_write_row(smp_writer *writer, int64_t y, const void *from, smp_error *)
{
    webp_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const int n = shape->channels, green = n >= 3 ? 1 : 0, blue = n >= 3 ? 2 : 0;
    const uint8_t *s = from;
    uint32_t *to = state->pixels + y * shape->width;
    for (int64_t x = 0; x < shape->width; x++, s += n)
        to[x] =
            (shape->alpha ? (uint32_t)s[n - 1] : 255u) << 24 | (uint32_t)s[0] << 16 | (uint32_t)s[green] << 8 | s[blue];
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ the end */

static smp_code write_chunk(smp_writer *writer, const char *type, const void *data, size_t size, smp_error *err)
{
    uint8_t head[8];
    memcpy(head, type, 4);
    smp_put_le(head + 4, size, 4);
    SMP_TRY(smp_output_write(writer->output, head, sizeof head, err));
    SMP_TRY(smp_output_write(writer->output, data, size, err));
    if (size & 1)
        SMP_TRY(smp_output_write(writer->output, "", 1, err));
    return SMP_OK;
}

static uint64_t room_of(size_t size)
{
    return size ? 8 + (uint64_t)size + (size & 1) : 0;
}

/* libwebp's file is "RIFF", size, "WEBP", chunks; alpha beside a lossy picture makes it begin with a VP8X. */
static smp_code write_extended(webp_writer *state, smp_writer *writer, smp_error *err)
{
    enum { RIFF = 12, HEADER = 10 };
    size_t at = RIFF;
    uint8_t riff[RIFF] = "RIFF", head[HEADER] = {0};
    if (memcmp(state->coded + at, "VP8X", 4) == 0)
        at += 8 + HEADER;
    const uint64_t size = 4 + room_of(HEADER) + room_of(state->icc.size) + (state->size - at) +
                          room_of(state->exif.size) + room_of(state->xmp.size);
    if (size > UINT32_MAX - 10)
        return smp_fail(err, SMP_E_WRITE, "the WebP becomes larger than 4 GB");
    smp_put_le(riff + 4, size, 4);
    memcpy(riff + 8, "WEBP", 4);
    head[0] = (uint8_t)((state->icc.size ? WEBP_HAS_ICC : 0) | (writer->shape.alpha ? WEBP_HAS_ALPHA : 0) |
                        (state->exif.size ? WEBP_HAS_EXIF : 0) | (state->xmp.size ? WEBP_HAS_XMP : 0));
    smp_put_le(head + 4, (uint64_t)writer->shape.width - 1, 3);
    smp_put_le(head + 7, (uint64_t)writer->shape.height - 1, 3);
    SMP_TRY(smp_output_write(writer->output, riff, sizeof riff, err));
    SMP_TRY(write_chunk(writer, "VP8X", head, sizeof head, err));
    if (state->icc.size)
        SMP_TRY(write_chunk(writer, "ICCP", state->icc.data, state->icc.size, err));
    SMP_TRY(smp_output_write(writer->output, state->coded + at, state->size - at, err));
    if (state->exif.size)
        SMP_TRY(write_chunk(writer, "EXIF", state->exif.data, state->exif.size, err));
    if (state->xmp.size)
        SMP_TRY(write_chunk(writer, "XMP ", state->xmp.data, state->xmp.size, err));
    return SMP_OK;
}

smp_code smp_webp_write_end(smp_writer *writer, smp_error *err)
{
    webp_writer *state = writer->state;
    if (!WebPEncode(&state->config, &state->picture)) {
        const WebPEncodingError why = state->picture.error_code;
        if (state->failed || why == VP8_ENC_ERROR_OUT_OF_MEMORY || why == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY)
            return smp_fail_memory(err, "a WebP", state->borrowed);
        smp_fail(err, SMP_E_WRITE, "the WebP cannot be written (libwebp's error %d)", (int)why);
        return why == VP8_ENC_ERROR_PARTITION0_OVERFLOW || why == VP8_ENC_ERROR_PARTITION_OVERFLOW
                   ? smp_hint(err, "write it with a lower --quality, or with --lossless")
                   : SMP_E_WRITE;
    }
    if (state->icc.size || state->exif.size || state->xmp.size)
        return write_extended(state, writer, err);
    return smp_output_write(writer->output, state->coded, state->size, err);
}

void smp_webp_write_close(smp_writer *writer)
{
    webp_writer *state = writer->state;
    smp_alloc_elsewhere(state->borrowed, 0, 0, 0);
    WebPPictureFree(&state->picture); /* what the library made of it; our pixels are not its own */
    smp_free_all(state->pixels, state->icc.data, state->exif.data, state->xmp.data, state->coded, state);
}

#endif
