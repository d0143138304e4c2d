/* Writes AVIF through libheif and its encoder of AV1, gray or RGB, with alpha, of 8 bits. The library codes a whole
 * picture, which is kept until its last row. */
#include "io/heif/heif_glue.h"

#ifdef SMP_HAVE_HEIF

#include <string.h>

#include "base/alloc.h"
#include "io/heif/heif_library.h"

static const smp_heif_functions *const lib = &smp_heif_library;

enum { DEFAULT_QUALITY = 60, SPEED = 8, THREADS = 4, MOST_SIDE = 65536 };
enum { HELD = 27 /* bytes a pixel that the library holds, measured */ };

typedef struct avif_writer {
    struct heif_context *context;
    struct heif_encoder *encoder;
    struct heif_image *image;
    uint8_t *samples;
    int stride;
    uint64_t borrowed;
    smp_blob exif, xmp;
    smp_writer *writer;
    smp_error *err; /* of the call in progress */
    smp_code code;
} avif_writer;

smp_code smp_avif_write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    SMP_TRY(smp_library_need(SMP_LIBRARY_HEIF, SMP_E_WRITE, err));
    if (!lib->heif_have_encoder_for_format(heif_compression_AV1))
        return smp_fail(err, SMP_E_WRITE, "AVIF cannot be written: libheif has no encoder of AV1 here"),
               smp_hint(err, "install one (libheif-plugin-aomenc), or write a .webp");
    if (shape->width > MOST_SIDE || shape->height > MOST_SIDE)
        return smp_fail(err, SMP_E_WRITE, "an AVIF holds at most %d x %d pixels; this has %lld x %lld", MOST_SIDE,
                        MOST_SIDE, (long long)shape->width, (long long)shape->height);
    shape->format = SMP_U8;
    return smp_check_colour("AVIF", shape, err);
}

static smp_code check(struct heif_error why, smp_error *err)
{
    if (why.code == heif_error_Ok)
        return SMP_OK;
    SMP_NEED(why.code != heif_error_Memory_allocation_error, "an AVIF", 0, err);
    return smp_fail(err, SMP_E_WRITE, "the AVIF cannot be written (libheif: %.150s)", why.message);
}

static smp_code open_encoder(avif_writer *state, smp_error *err)
{
    const int quality = smp_write_value(&state->writer->options.values, &smp_write_quality);
    state->context = lib->heif_context_alloc();
    SMP_NEED(state->context, "an AVIF", 0, err);
    SMP_TRY(
        check(lib->heif_context_get_encoder_for_format(state->context, heif_compression_AV1, &state->encoder), err));
    SMP_TRY(check(lib->heif_encoder_set_lossy_quality(state->encoder, quality ? quality : DEFAULT_QUALITY), err));
    /* not every encoder has them */
    (void)lib->heif_encoder_set_parameter_integer(state->encoder, "speed", SPEED);
    (void)lib->heif_encoder_set_parameter_integer(state->encoder, "threads", THREADS);
    return SMP_OK;
}

static smp_code open_image(avif_writer *state, const smp_shape *shape, smp_error *err)
{
    const bool gray = shape->channels == 1;
    const enum heif_channel channel = gray ? heif_channel_Y : heif_channel_interleaved;
    const int width = (int)shape->width, height = (int)shape->height;
    SMP_TRY(check(lib->heif_image_create(width, height, gray ? heif_colorspace_monochrome : heif_colorspace_RGB,
                                         gray           ? heif_chroma_monochrome
                                         : shape->alpha ? heif_chroma_interleaved_RGBA
                                                        : heif_chroma_interleaved_RGB,
                                         &state->image),
                  err));
    SMP_TRY(check(lib->heif_image_add_plane(state->image, channel, width, height, 8), err));
    SMP_NEED(state->samples = lib->heif_image_get_plane(state->image, channel, &state->stride), "an AVIF", 0, err);
    return SMP_OK;
}

static smp_code keep_meta(avif_writer *state, const smp_meta *meta, smp_error *err)
{
    smp_writer *writer = state->writer;
    if (meta->icc.size && smp_icc_fits(&meta->icc, writer->shape.channels <= 2 ? 1 : 3))
        SMP_TRY(
            check(lib->heif_image_set_raw_color_profile(state->image, "prof", meta->icc.data, meta->icc.size), err));
    return smp_meta_keep_blocks(meta, "an AVIF", &state->exif, &state->xmp, &writer->notes)
               ? SMP_OK
               : smp_fail_memory(err, "metadata", 0);
}

smp_code smp_avif_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    const smp_shape *shape = &writer->shape;
    const uint64_t held = (uint64_t)shape->width * (uint64_t)shape->height * HELD;
    if (smp_write_value(&writer->options.values, &smp_write_lossless))
        return smp_fail(err, SMP_E_WRITE, "an AVIF is written with some loss: --lossless cannot be had"),
               smp_hint(err, "write a .webp, .png or .tif, or leave --lossless out");
    avif_writer *state = writer->state = smp_alloc(sizeof *state);
    SMP_NEED(state && smp_alloc_borrow(held), "an AVIF", held, err);
    state->borrowed = held;
    state->writer = writer;
    SMP_TRY(open_encoder(state, err));
    SMP_TRY(open_image(state, shape, err));
    return !meta ? SMP_OK : keep_meta(state, meta, err);
}

smp_code smp_avif_write_row(smp_writer *writer, int64_t y, const void *from, smp_error *)
{
    avif_writer *state = writer->state;
    const smp_shape *shape = &writer->shape;
    const uint8_t *s = from;
    uint8_t *to = state->samples + y * state->stride;
    if (shape->channels != 2)
        memcpy(to, s, (size_t)smp_row_bytes(shape));
    else
        for (int64_t x = 0; x < shape->width; x++, s += 2, to += 4) { /* gray with alpha is coded as RGBA */
            memset(to, s[0], 3);
            to[3] = s[1];
        }
    return SMP_OK;
}

static struct heif_error take_bytes(struct heif_context *, const void *data, size_t size, void *given)
{
    avif_writer *state = given;
    state->code = smp_output_write(state->writer->output, data, size, state->err);
    return (struct heif_error){.code = state->code ? heif_error_Encoding_error : heif_error_Ok,
                               .subcode = heif_suberror_Unspecified,
                               .message = state->code ? "the file cannot be written" : "Success"};
}

smp_code smp_avif_write_end(smp_writer *writer, smp_error *err)
{
    avif_writer *state = writer->state;
    struct heif_image_handle *handle = NULL;
    struct heif_writer callbacks = {.writer_api_version = 1, .write = take_bytes};
    smp_code code =
        check(lib->heif_context_encode_image(state->context, state->image, state->encoder, NULL, &handle), err);
    if (!code && state->exif.size)
        code = check(
            lib->heif_context_add_exif_metadata(state->context, handle, state->exif.data, (int)state->exif.size), err);
    if (!code && state->xmp.size)
        code = check(lib->heif_context_add_XMP_metadata(state->context, handle, state->xmp.data, (int)state->xmp.size),
                     err);
    state->err = err;
    if (!code) {
        const struct heif_error why = lib->heif_context_write(state->context, &callbacks, state);
        code = state->code ? state->code : check(why, err);
    }
    if (handle)
        lib->heif_image_handle_release(handle);
    return code;
}

void smp_avif_write_close(smp_writer *writer)
{
    avif_writer *state = writer->state;
    smp_alloc_elsewhere(state->borrowed, 0, 0, 0);
    if (state->image)
        lib->heif_image_release(state->image);
    if (state->encoder)
        lib->heif_encoder_release(state->encoder);
    if (state->context)
        lib->heif_context_free(state->context);
    smp_free_all(state->exif.data, state->xmp.data, state);
}

#endif
