/* Writes WebP through libwebp, with loss or without. The library codes a whole picture, which is kept until its last
 * row; around what it gives come the chunks of the profile, EXIF and XMP. Of each picture of an animation the part
 * alone is coded that differs from the one before, which it replaces. */
#include "io/webp/webp_glue.h"

#ifdef SMP_HAVE_WEBP

#include <string.h>

#include <webp/encode.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"
#include "io/canvas.h"

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
    /* Of an animation: */
    uint32_t *before; /* the picture in front; null: none, it may be a single one */
    unsigned char *frames;
    size_t frames_size, frames_room;
    uint64_t time, told; /* microseconds of the pictures so far; milliseconds that the file has of them */
    bool alpha;          /* a picture has some */
} webp_writer;

smp_code smp_webp_write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    if (shape->width > WEBP_MOST_SIDE || shape->height > WEBP_MOST_SIDE)
        return smp_fail(err, SMP_E_WRITE, "a WebP holds at most %d x %d pixels; this has %lld x %lld", WEBP_MOST_SIDE,
                        WEBP_MOST_SIDE, (long long)shape->width, (long long)shape->height),
               smp_hint(err, "write a .png or .tif, which may be larger");
    shape->format = SMP_U8;
    return smp_check_colour("WebP", shape, err);
}

/* ------------------------------------------------------------------------------------------------ opening */

static bool keep_meta(webp_writer *state, const smp_meta *meta, bool gray, smp_notes *notes)
{
    if (!gray && meta->icc.size && smp_icc_fits(&meta->icc, 3) &&
        !smp_blob_set(&state->icc, meta->icc.data, meta->icc.size))
        return false;
    if (gray && smp_icc_fits(&meta->icc, 1))
        smp_note(notes, "the ICC profile is left out: it is for gray, and a WebP has colours");
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

static bool configure(webp_writer *state, const smp_write_options *options, bool lossless)
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
    if (!configure(state, &writer->options, is_lossless(writer)))
        return smp_fail(err, SMP_E_PROCESS, "this libwebp is older than the one that smempipe was built with");
    state->pixels = smp_alloc_array((size_t)pixels, sizeof *state->pixels);
    SMP_NEED(state->pixels && smp_alloc_borrow(held), "a WebP", held, err);
    state->borrowed = held;
    return !meta || keep_meta(state, meta, writer->shape.channels <= 2, &writer->notes)
               ? SMP_OK
               : smp_fail_memory(err, "metadata", 0);
}

smp_code smp_webp_write_row(smp_writer *writer, int64_t y, const void *from, smp_error *)
{
    webp_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const int n = shape->channels, green = n >= 3 ? 1 : 0, blue = n >= 3 ? 2 : 0;
    const uint8_t *s = from;
    uint32_t *to = state->pixels + y * shape->width;
    state->alpha |= shape->alpha;
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

/* A part of the picture that is kept: what the library makes of it is in `coded`. */
static smp_code encode(webp_writer *state, const smp_shape *shape, const int64_t part[4], smp_error *err)
{
    WebPPicture *picture = &state->picture;
    WebPPictureFree(picture); /* what the library made of the last one */
    picture->width = (int)part[2];
    picture->height = (int)part[3];
    picture->argb = state->pixels + part[1] * shape->width + part[0];
    picture->argb_stride = (int)shape->width;
    state->size = 0;
    if (WebPEncode(&state->config, picture))
        return SMP_OK;
    const WebPEncodingError why = picture->error_code;
    if (state->failed || why == VP8_ENC_ERROR_OUT_OF_MEMORY || why == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY)
        return smp_fail_memory(err, "a WebP", state->borrowed);
    smp_fail(err, SMP_E_WRITE, "the WebP cannot be written (libwebp's error %d)", (int)why);
    return why == VP8_ENC_ERROR_PARTITION0_OVERFLOW || why == VP8_ENC_ERROR_PARTITION_OVERFLOW
               ? smp_hint(err, "write it with a lower --quality, or with --lossless")
               : SMP_E_WRITE;
}

/* libwebp's file is "RIFF", size, "WEBP", chunks; alpha beside a lossy picture makes it begin with a VP8X. */
static size_t chunks_at(const webp_writer *state)
{
    enum { RIFF = 12, EXTENDED = 8 + 10 };
    return memcmp(state->coded + RIFF, "VP8X", 4) == 0 ? RIFF + EXTENDED : RIFF;
}

/* Codes the picture that has come as one of an animation. RFC 9649, section 2.7.1.1. */
static smp_code add_frame(smp_writer *writer, smp_error *err)
{
    enum { HEADER = 16, CHUNK = 8, REPLACES = 2, MILLISECOND = 1000, MOST_DELAY = (1 << 24) - 1 };
    webp_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const size_t pixels = (size_t)shape->width * (size_t)shape->height;
    const smp_shape argb = {.width = shape->width, .height = shape->height, .channels = 4, .format = SMP_U8};
    int64_t part[4] = {0, 0, shape->width, shape->height};
    uint8_t head[CHUNK + HEADER] = "ANMF";
    if (state->before)
        smp_canvas_differs(&argb, state->pixels, state->before, 2, part);
    SMP_TRY(encode(state, shape, part, err));
    const size_t at = chunks_at(state), size = state->size - at;
    state->time += smp_writer_shown(writer);
    const uint64_t delay = smp_min_u64((state->time + MILLISECOND / 2) / MILLISECOND - state->told, MOST_DELAY);
    state->told += delay;
    smp_put_le(head + 4, HEADER + size, 4);
    for (int i = 0; i < 4; i++)
        smp_put_le(head + CHUNK + 3 * i, (uint64_t)(i < 2 ? part[i] / 2 : part[i] - 1), 3);
    smp_put_le(head + CHUNK + 12, delay, 3);
    head[CHUNK + 15] = REPLACES;
    SMP_NEED(smp_grow(&state->frames, &state->frames_room, state->frames_size + sizeof head + size, 1), "a WebP", size,
             err);
    memcpy(state->frames + state->frames_size, head, sizeof head);
    memcpy(state->frames + state->frames_size + sizeof head, state->coded + at, size);
    state->frames_size += sizeof head + size; /* chunks are even already */
    if (!state->before)
        SMP_NEED(state->before = smp_alloc_array(pixels, sizeof *state->before), "a WebP", pixels, err);
    uint32_t *free = state->before;
    state->before = state->pixels;
    state->pixels = free;
    return SMP_OK;
}

smp_code smp_webp_write_next(smp_writer *writer, const smp_meta *, smp_error *err)
{
    return add_frame(writer, err);
}

static smp_code write_extended(webp_writer *state, smp_writer *writer, smp_error *err)
{
    enum { RIFF = 12, HEADER = 10, ANIM = 6 };
    const bool moves = state->before != NULL;
    const size_t at = moves ? 0 : chunks_at(state), body = moves ? state->frames_size : state->size - at;
    uint8_t riff[RIFF] = "RIFF", head[HEADER] = {0}, anim[ANIM] = {0};
    const uint64_t size = 4 + room_of(HEADER) + room_of(state->icc.size) + (moves ? room_of(ANIM) : 0) + body +
                          room_of(state->exif.size) + room_of(state->xmp.size);
    if (size > UINT32_MAX - 10)
        return smp_fail(err, SMP_E_WRITE, "the WebP becomes larger than 4 GB");
    smp_put_le(riff + 4, size, 4);
    memcpy(riff + 8, "WEBP", 4);
    head[0] = (uint8_t)((state->icc.size ? WEBP_HAS_ICC : 0) | (state->alpha ? WEBP_HAS_ALPHA : 0) |
                        (state->exif.size ? WEBP_HAS_EXIF : 0) | (state->xmp.size ? WEBP_HAS_XMP : 0) |
                        (moves ? WEBP_IS_MOVING : 0));
    smp_put_le(head + 4, (uint64_t)writer->shape.width - 1, 3);
    smp_put_le(head + 7, (uint64_t)writer->shape.height - 1, 3);
    smp_put_le(anim + 4, smp_min_u64(smp_writer_plays(writer), UINT16_MAX), 2);
    SMP_TRY(smp_output_write(writer->output, riff, sizeof riff, err));
    SMP_TRY(write_chunk(writer, "VP8X", head, sizeof head, err));
    if (state->icc.size)
        SMP_TRY(write_chunk(writer, "ICCP", state->icc.data, state->icc.size, err));
    if (moves)
        SMP_TRY(write_chunk(writer, "ANIM", anim, sizeof anim, err));
    SMP_TRY(smp_output_write(writer->output, moves ? state->frames : state->coded + at, body, err));
    if (state->exif.size)
        SMP_TRY(write_chunk(writer, "EXIF", state->exif.data, state->exif.size, err));
    if (state->xmp.size)
        SMP_TRY(write_chunk(writer, "XMP ", state->xmp.data, state->xmp.size, err));
    return SMP_OK;
}

smp_code smp_webp_write_end(smp_writer *writer, smp_error *err)
{
    webp_writer *state = writer->state;
    const int64_t all[4] = {0, 0, writer->shape.width, writer->shape.height};
    SMP_TRY(state->before ? add_frame(writer, err) : encode(state, &writer->shape, all, err));
    if (state->before || state->icc.size || state->exif.size || state->xmp.size)
        return write_extended(state, writer, err);
    return smp_output_write(writer->output, state->coded, state->size, err);
}

void smp_webp_write_close(smp_writer *writer)
{
    webp_writer *state = writer->state;
    smp_alloc_elsewhere(state->borrowed, 0, 0, 0);
    WebPPictureFree(&state->picture); /* what the library made of it; our pixels are not its own */
    smp_free_all(state->pixels, state->before, state->frames, state->icc.data, state->exif.data, state->xmp.data);
    smp_free_all(state->coded, state);
}

#endif
