/* Reads WebP through libwebp, as RGB or RGBA of 8 bits: pictures with loss, without, with alpha; of an animation the
 * first picture, on a transparent canvas, or with --frames each (webp_frames.c). The library wants memory for the whole
 * picture. It gets the file in portions, so that upper rows can be used while lower ones are decoded. */
#include "io/webp/webp_glue.h"

#ifdef SMP_HAVE_WEBP

#include <stdio.h>
#include <string.h>

#include <webp/decode.h>

#include "base/alloc.h"

enum { PORTION = 1 << 16, PORTIONS = 64 };

typedef struct webp_reader {
    smp_webp webp;
    WebPDecoderConfig config;
    WebPIDecoder *decoder;
    uint8_t *data, *pixels;
    size_t stride; /* of pixels */
    size_t given;  /* bytes of data that the decoder has seen */
    int64_t ready; /* rows that are decoded; of an animation: the picture is drawn */
    bool complete;
    /* With --frames, of an animation: */
    smp_webp_movie *movie;
    int64_t drawn; /* pictures before it */
} webp_reader;

static smp_code keep_metadata(smp_reader *reader, const smp_webp *webp, smp_error *err)
{
    smp_meta *meta = &reader->media.meta;
    smp_blob xmp = {.size = 0};
    bool done =
        smp_meta_read(&reader->source, "the ICC profile", webp->icc.at, webp->icc.size, &meta->icc, &reader->notes) &&
        smp_meta_read(&reader->source, "EXIF", webp->exif.at, webp->exif.size, &meta->exif, &reader->notes) &&
        smp_meta_read(&reader->source, "the XMP packet", webp->xmp.at, webp->xmp.size, &xmp, &reader->notes);
    if (done && xmp.size)
        done = smp_meta_add_text(meta, SMP_XMP_KEY, (const char *)xmp.data, xmp.size);
    smp_free(xmp.data);
    SMP_NEED(done, "metadata of a WebP", webp->icc.size + webp->exif.size + webp->xmp.size, err);
    if (meta->exif.size > 6 && memcmp(meta->exif.data, "Exif\0", 6) == 0) { /* some programs store JPEG's marker */
        meta->exif.size -= 6;
        memmove(meta->exif.data, meta->exif.data + 6, meta->exif.size);
    }
    reader->media.orientation = smp_exif_orientation(meta->exif.data, meta->exif.size);
    return SMP_OK;
}

/* Bytes of the picture's samples, of the coded file, and of what the library holds. */
static uint64_t memory_of(const smp_webp *webp, int channels)
{
    const uint64_t pixels = (uint64_t)webp->inner_width * (uint64_t)webp->inner_height;
    const uint64_t inside = webp->lossless ? 4 * pixels : webp->alpha ? 5 * pixels : 0;
    return pixels * (uint64_t)channels + inside + webp->coded.size + 256 * (uint64_t)webp->inner_width;
}

static smp_code open_decoder(smp_reader *reader, int channels, smp_error *err)
{
    webp_reader *state = reader->state;
    const smp_webp *webp = &state->webp;
    state->stride = (size_t)webp->inner_width * (size_t)channels;
    const size_t size = state->stride * (size_t)webp->inner_height;
    state->data = smp_alloc_raw((size_t)webp->coded.size);
    state->pixels = smp_alloc_raw(size);
    SMP_NEED(state->data && state->pixels, "a WebP", size + webp->coded.size, err);
    if (!smp_source_look(&reader->source, webp->coded.at, state->data, (size_t)webp->coded.size))
        return smp_fail(err, SMP_E_READ, "cannot read the picture of the WebP");
    if (!WebPInitDecoderConfig(&state->config))
        return smp_fail(err, SMP_E_PROCESS, "this libwebp is older than the one that smempipe was built with");
    WebPDecBuffer *out = &state->config.output;
    out->colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    out->is_external_memory = 1;
    out->u.RGBA = (WebPRGBABuffer){state->pixels, (int)state->stride, size};
    state->decoder = WebPIDecode(NULL, 0, &state->config);
    return state->decoder ? SMP_OK : smp_fail_memory(err, "a WebP", size);
}

static void tell_movie(smp_reader *reader, const smp_webp *webp)
{
    smp_media *media = &reader->media;
    media->pages = webp->frames;
    media->meta.coding.rate[0] = webp->delay ? 1000 : 10;
    media->meta.coding.rate[1] = webp->delay ? webp->delay : 1;
    media->meta.coding.plays = webp->plays;
    media->meta.coding.uneven = webp->uneven;
}

smp_code smp_webp_read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    SMP_TRY(smp_source_spool(&reader->source, err));
    webp_reader *state = reader->state = smp_alloc(sizeof *state);
    SMP_NEED(state, "a WebP", sizeof *state, err);
    const smp_webp *webp = &state->webp;
    SMP_TRY(smp_webp_walk(&reader->source, &state->webp, err));
    const bool movie = reader->options.frames && webp->frames;
    if (movie)
        SMP_TRY(smp_webp_walk_frames(&reader->source, &state->webp, err));
    const bool covers = webp->inner_width == webp->width && webp->inner_height == webp->height;
    media->shape.width = webp->width;
    media->shape.height = webp->height;
    media->shape.alpha = webp->alpha || webp->clears || !covers;
    media->shape.channels = media->shape.alpha ? 4 : 3;
    media->shape.format = SMP_U8;
    media->bits = 8;
    media->meta.coding = (smp_coding){.kind = SMP_CODING_WEBP, .webp = {webp->lossless}};
    char moving[48] = "";
    if (webp->moving)
        snprintf(moving, sizeof moving, ", animation of %lld picture%s", (long long)webp->frames,
                 webp->frames == 1 ? "" : "s");
    snprintf(media->detail, sizeof media->detail, "%s%s%s", webp->lossless ? "lossless" : "lossy",
             webp->alpha ? ", alpha" : "", moving);
    smp_code code = smp_check_picture(&reader->options.limits, webp->width, webp->height,
                                      movie ? smp_webp_movie_bytes(webp) : memory_of(webp, media->shape.channels), err);
    if (!code)
        code = movie ? smp_webp_movie_open(webp, &media->shape, &state->movie, err)
                     : open_decoder(reader, media->shape.channels, err);
    code = code ? code : keep_metadata(reader, webp, err);
    if (!code && movie)
        tell_movie(reader, webp);
    else if (!code && webp->frames > 1)
        smp_note(&reader->notes,
                 "the file is an animation of %lld pictures; " SMP_FIRST_ALONE
                 "; --frames of run and convert reads all",
                 (long long)webp->frames);
    return code;
}

smp_code smp_webp_status(int status, smp_error *err)
{
    static const char *const texts[] = {
        [VP8_STATUS_INVALID_PARAM] = "its header is not possible",
        [VP8_STATUS_BITSTREAM_ERROR] = "its coded bits are not possible",
        [VP8_STATUS_UNSUPPORTED_FEATURE] = "it has a feature that libwebp does not know",
        [VP8_STATUS_SUSPENDED] = "its coded picture ends too early",
        [VP8_STATUS_USER_ABORT] = "its decoding stopped",
        [VP8_STATUS_NOT_ENOUGH_DATA] = "its coded picture ends too early",
    };
    if (status == VP8_STATUS_OK)
        return SMP_OK;
    SMP_NEED(status != VP8_STATUS_OUT_OF_MEMORY, "a WebP", 0, err);
    const size_t known = sizeof texts / sizeof texts[0];
    smp_fail(err, SMP_E_DECODE, "the WebP is damaged: %s",
             (size_t)status < known && texts[status] ? texts[status] : "its coded bits are not possible");
    return smp_hint_damaged(err);
}

/* Decodes until so many rows are there; -1: all. */
static smp_code decode(webp_reader *state, int64_t rows, smp_error *err)
{
    const size_t size = (size_t)state->webp.coded.size;
    const size_t portion = size / PORTIONS > PORTION ? size / PORTIONS : PORTION;
    while (!state->complete && (rows < 0 || state->ready < rows)) {
        state->given += size - state->given < portion ? size - state->given : portion;
        const VP8StatusCode status = WebPIUpdate(state->decoder, state->data, state->given);
        int last = 0;
        state->complete = status == VP8_STATUS_OK;
        if (!state->complete && (status != VP8_STATUS_SUSPENDED || state->given == size))
            return smp_webp_status((int)status, err);
        if (WebPIDecGetRGB(state->decoder, &last, NULL, NULL, NULL) && last > 0)
            state->ready = last;
    }
    if (state->complete)
        state->ready = state->webp.inner_height;
    return SMP_OK;
}

static smp_code read_canvas(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    webp_reader *state = reader->state;
    if (!state->ready) {
        SMP_TRY(smp_webp_movie_draw(state->movie, &reader->source, &reader->delay, err));
        reader->delay *= 1000; /* microseconds, of 24 bits of milliseconds */
        state->ready = 1;
    }
    smp_webp_movie_row(state->movie, y, to);
    return SMP_OK;
}

smp_code smp_webp_read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    webp_reader *state = reader->state;
    const smp_webp *webp = &state->webp;
    if (state->movie)
        return read_canvas(reader, y, to, err);
    const size_t whole = (size_t)smp_row_bytes(&reader->media.shape);
    const size_t left = (size_t)(webp->x * reader->media.shape.channels);
    const int64_t inner = y - webp->y;
    const bool inside = inner >= 0 && inner < webp->inner_height;
    if (inside)
        SMP_TRY(decode(state, inner + 1, err));
    if (!inside || state->stride != whole)
        memset(to, 0, whole);
    if (inside)
        memcpy((uint8_t *)to + left, state->pixels + (size_t)inner * state->stride, state->stride);
    return SMP_OK;
}

smp_code smp_webp_read_end(smp_reader *reader, smp_error *err)
{
    webp_reader *state = reader->state;
    return state->movie ? SMP_OK : decode(state, -1, err);
}

smp_code smp_webp_read_next(smp_reader *reader, bool *more, smp_error *)
{
    webp_reader *state = reader->state;
    *more = state->movie && ++state->drawn < state->webp.frames;
    state->ready = 0;
    return SMP_OK;
}

void smp_webp_read_close(smp_reader *reader)
{
    webp_reader *state = reader->state;
    if (state->decoder)
        WebPIDelete(state->decoder);
    smp_webp_movie_close(state->movie);
    smp_free_all(state->data, state->pixels, state);
}

#endif
