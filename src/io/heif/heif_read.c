/* Reads the primary picture of HEIC and AVIF through libheif, as RGB or RGBA of 8 or 16 bits. The library turns,
 * mirrors and crops by itself, and decodes a whole picture, on one thread. */
#include "io/heif/heif_glue.h"

#ifdef SMP_HAVE_HEIF

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/alpha.h"
#include "io/bytes.h"
#include "io/heif/heif_library.h"

static const smp_heif_functions *const lib = &smp_heif_library;

enum { HELD = 12 /* bytes a pixel that the library holds, for samples of up to 8 bits */ };
enum { PADDING = 64 /* pixels: coded blocks reach past a picture's sides, and the library's limit is exclusive */ };
enum { KEPT_BYTES = 32 << 20, SRGB_PRIMARIES = 1, UNSPECIFIED = 2, SRGB_TRANSFER = 13, BT601_TRANSFER = 6 };

typedef struct heif_input {
    smp_source *source;
    uint64_t position;
} heif_input;

typedef struct heif_state {
    smp_heif heif;
    heif_input input;
    struct heif_context *context;
    struct heif_image_handle *handle;
    struct heif_image *image;
    const uint8_t *samples;
    int stride, bits;
    bool premultiplied;
} heif_state;

/* libheif has libde265 decode H.265 on a thread. The process that decodes may start none, and libde265 would wait for
 * it for ever; without one it decodes where it is called. This stands in front of libde265's function of that name,
 * because the linker looks for the functions that a library calls in the program first. */
int de265_start_worker_threads(void *decoder, int threads);
int de265_start_worker_threads(void *decoder, int threads)
{
    (void)decoder, (void)threads;
    return 0; /* DE265_OK */
}

/* ------------------------------------------------------------------------------------------------ bytes */

static int64_t position(void *context)
{
    return (int64_t)((heif_input *)context)->position;
}

static int read_bytes(void *to, size_t size, void *context)
{
    heif_input *input = context;
    if (size && !smp_source_look(input->source, input->position, to, size)) /* libheif asks for nothing at no address */
        return 1;
    input->position += size;
    return 0;
}

static int seek(int64_t to, void *context)
{
    heif_input *input = context;
    if (to < 0 || (uint64_t)to > input->source->size)
        return 1;
    input->position = (uint64_t)to;
    return 0;
}

static enum heif_reader_grow_status wait_for(int64_t size, void *context)
{
    const heif_input *input = context;
    return size >= 0 && (uint64_t)size <= input->source->size ? heif_reader_grow_status_size_reached
                                                              : heif_reader_grow_status_size_beyond_eof;
}

static const struct heif_reader callbacks = {.reader_api_version = 1,
                                             .get_position = position,
                                             .read = read_bytes,
                                             .seek = seek,
                                             .wait_for_file_size = wait_for};

static smp_code fail_library(const char *name, struct heif_error why, smp_error *err)
{
    if (why.code == heif_error_Memory_allocation_error) {
        smp_fail(err, SMP_E_LIMIT, "the %s needs more memory than it may take (libheif: %.150s)", name, why.message);
        return smp_hint(err, "raise the limits with --max-memory and --max-pixels");
    }
    if (why.code == heif_error_Unsupported_filetype || why.code == heif_error_Unsupported_feature) {
        smp_fail(err, SMP_E_DECODE, "the %s has what this libheif does not read (%.150s)", name, why.message);
        return smp_hint(err, "libheif may be without the codec: install its plugins (libheif-plugin-...)");
    }
    smp_fail(err, SMP_E_DECODE, "the %s is damaged (libheif: %.150s)", name, why.message);
    return smp_hint_damaged(err);
}

/* ------------------------------------------------------------------------------------------------ metadata */

static bool keep_block(const heif_state *state, heif_item_id id, smp_reader *reader)
{
    const char *type = lib->heif_image_handle_get_metadata_type(state->handle, id);
    const char *content = lib->heif_image_handle_get_metadata_content_type(state->handle, id);
    const size_t size = lib->heif_image_handle_get_metadata_size(state->handle, id);
    const bool exif = type && strcmp(type, "Exif") == 0;
    const bool xmp = type && strcmp(type, "mime") == 0 && content && strcmp(content, "application/rdf+xml") == 0;
    smp_meta *meta = &reader->media.meta;
    if ((!exif && !xmp) || !size)
        return true;
    if (size > KEPT_BYTES) {
        smp_note(&reader->notes, "%s is left out: it has %zu bytes", exif ? "EXIF" : "the XMP packet", size);
        return true;
    }
    uint8_t *data = smp_alloc_raw(size);
    if (!data)
        return false;
    bool done = true;
    if (lib->heif_image_handle_get_metadata(state->handle, id, data).code == heif_error_Ok) {
        /* EXIF begins with the distance to its TIFF structure, from behind these four bytes. */
        const uint64_t skip = exif && size > 4 ? 4 + (uint64_t)smp_get_be(data, 4) : 0;
        if (exif && skip >= 4 && skip < size && !meta->exif.size)
            done = smp_blob_set(&meta->exif, data + skip, size - (size_t)skip);
        else if (xmp)
            done = smp_meta_add_text(meta, SMP_XMP_KEY, (const char *)data, size);
    }
    smp_free(data);
    return done;
}

/* A profile, or numbers where they say other colours than sRGB. */
static bool keep_colours(const heif_state *state, smp_meta *meta)
{
    const size_t size = lib->heif_image_handle_get_raw_color_profile_size(state->handle);
    struct heif_color_profile_nclx *nclx = NULL;
    if (size && size <= KEPT_BYTES) {
        meta->icc.data = smp_alloc_raw(size);
        meta->icc.size = meta->icc.data ? size : 0;
        if (meta->icc.data && lib->heif_image_handle_get_raw_color_profile(state->handle, meta->icc.data).code)
            memset(meta->icc.data, 0, size);
        return meta->icc.data != NULL;
    }
    if (lib->heif_image_handle_get_nclx_color_profile(state->handle, &nclx).code || !nclx)
        return true;
    const int primaries = (int)nclx->color_primaries, transfer = (int)nclx->transfer_characteristics;
    const bool usual_primaries = primaries == SRGB_PRIMARIES || primaries == UNSPECIFIED;
    const bool usual_transfer = transfer == SRGB_PRIMARIES || transfer == UNSPECIFIED || transfer == SRGB_TRANSFER ||
                                transfer == BT601_TRANSFER;
    if ((!usual_primaries || !usual_transfer) && primaries > 0 && primaries < 256 && transfer > 0 && transfer < 256) {
        meta->has_cicp = true;
        meta->cicp[0] = (uint8_t)primaries;
        meta->cicp[1] = (uint8_t)transfer;
        meta->cicp[2] = 0; /* RGB */
        meta->cicp[3] = 1; /* of full range */
    }
    lib->heif_nclx_color_profile_free(nclx);
    return true;
}

static smp_code keep_metadata(const heif_state *state, smp_reader *reader, smp_error *err)
{
    enum { MOST = 16 };
    heif_item_id ids[MOST];
    smp_meta *meta = &reader->media.meta;
    const int count = lib->heif_image_handle_get_list_of_metadata_block_IDs(state->handle, NULL, ids, MOST);
    bool done = keep_colours(state, meta);
    for (int i = 0; i < count && i < MOST && done; i++)
        done = keep_block(state, ids[i], reader);
    /* The boxes say how the picture is turned, and libheif has done it. */
    smp_exif_reset_orientation(meta->exif.data, meta->exif.size);
    for (size_t i = 0; i < meta->text_count; i++)
        if (strcmp(meta->texts[i].key, SMP_XMP_KEY) == 0)
            smp_xmp_reset_orientation(meta->texts[i].value);
    return done ? SMP_OK : smp_fail_memory(err, "metadata", 0);
}

/* ------------------------------------------------------------------------------------------------ opening */

static smp_code open_library(heif_state *state, smp_reader *reader, smp_error *err)
{
    const char *name = reader->media.file_format;
    const smp_code code = smp_heif_need(SMP_E_READ, err);
    if (code)
        return code;
    state->input.source = &reader->source;
    state->context = lib->heif_context_alloc();
    if (!state->context)
        return smp_fail_memory(err, name, 0);
    lib->heif_context_set_max_decoding_threads(state->context, 0);
    const int64_t side = smp_max_i64(state->heif.width, state->heif.height);
    lib->heif_context_set_maximum_image_size_limit(state->context, (int)smp_min_i64(side + PADDING, INT32_MAX));
    struct heif_error why = lib->heif_context_read_from_reader(state->context, &callbacks, &state->input, NULL);
    if (why.code == heif_error_Ok)
        why = lib->heif_context_get_primary_image_handle(state->context, &state->handle);
    return why.code == heif_error_Ok ? SMP_OK : fail_library(name, why, err);
}

smp_code smp_heif_read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_code code = smp_source_spool(&reader->source, err);
    if (code)
        return code;
    heif_state *state = reader->state = smp_alloc(sizeof *state);
    if (!state)
        return smp_fail_memory(err, media->file_format, sizeof *state);
    const smp_heif *heif = &state->heif;
    code = smp_heif_walk(&reader->source, &state->heif, err);
    if (code)
        return code;
    uint64_t memory;
    if (__builtin_mul_overflow(heif->pixels, heif->bits > 8 ? 2 * HELD : HELD, &memory) ||
        !smp_add_u64(memory, reader->source.size, &memory))
        memory = UINT64_MAX;
    code = smp_check_picture(&reader->limits, heif->width, heif->height, memory, err);
    if (!code && (heif->width > INT32_MAX || heif->height > INT32_MAX))
        code = smp_fail(err, SMP_E_LIMIT, "the picture has a side of more than %d pixels", INT32_MAX);
    if (!code)
        code = open_library(state, reader, err);
    if (code)
        return code;
    state->bits = lib->heif_image_handle_get_luma_bits_per_pixel(state->handle);
    state->premultiplied = lib->heif_image_handle_is_premultiplied_alpha(state->handle) != 0;
    media->shape.width = lib->heif_image_handle_get_width(state->handle);
    media->shape.height = lib->heif_image_handle_get_height(state->handle);
    media->shape.alpha = lib->heif_image_handle_has_alpha_channel(state->handle) != 0;
    media->shape.channels = media->shape.alpha ? 4 : 3;
    media->shape.format = state->bits > 8 ? SMP_U16 : SMP_U8;
    media->bits = state->bits > 0 ? state->bits : 8;
    snprintf(media->detail, sizeof media->detail, "%s", media->shape.alpha ? "RGBA" : "RGB");
    code = smp_check_picture(&reader->limits, media->shape.width, media->shape.height, memory, err);
    const int others = lib->heif_context_get_number_of_top_level_images(state->context) - 1;
    if (others > 0)
        smp_note(&reader->notes, "the file holds %d pictures; only the primary one is read", others + 1);
    return code ? code : keep_metadata(state, reader, err);
}

/* ------------------------------------------------------------------------------------------------ rows */

static smp_code decode(heif_state *state, const smp_reader *reader, smp_error *err)
{
    const smp_shape *shape = &reader->media.shape;
    const bool deep = shape->format == SMP_U16;
    const enum heif_chroma chroma =
        deep ? (shape->alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE)
             : (shape->alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB);
    struct heif_decoding_options *options = lib->heif_decoding_options_alloc();
    if (!options)
        return smp_fail_memory(err, reader->media.file_format, 0);
    if (options->version >= 3)
        options->strict_decoding = 1;
    const struct heif_error why =
        lib->heif_decode_image(state->handle, &state->image, heif_colorspace_RGB, chroma, options);
    lib->heif_decoding_options_free(options);
    if (why.code != heif_error_Ok)
        return fail_library(reader->media.file_format, why, err);
    state->samples = lib->heif_image_get_plane_readonly(state->image, heif_channel_interleaved, &state->stride);
    state->bits = lib->heif_image_get_bits_per_pixel_range(state->image, heif_channel_interleaved);
    if (!state->samples || state->stride < smp_row_bytes(shape) || state->bits < 1 || state->bits > (deep ? 16 : 8) ||
        lib->heif_image_get_width(state->image, heif_channel_interleaved) != shape->width ||
        lib->heif_image_get_height(state->image, heif_channel_interleaved) != shape->height)
        return smp_fail(err, SMP_E_DECODE, "the %s is damaged: its picture has another size than its boxes say",
                        reader->media.file_format);
    return SMP_OK;
}

/* 10 and 12 bits become 16, to nearest. */
static void widen(const heif_state *state, const uint8_t *from, size_t count, uint16_t *to)
{
    const uint32_t most = (1u << state->bits) - 1;
    for (size_t i = 0; i < count; i++) {
        const uint32_t value = smp_get_le(from + 2 * i, 2);
        to[i] = (uint16_t)((smp_min_u64(value, most) * UINT16_MAX + most / 2) / most);
    }
}

/* Alpha was multiplied in. */
static void divide_alpha(const smp_shape *shape, void *row)
{
    for (int64_t x = 0; x < shape->width; x++)
        for (int c = 0; c < 3; c++) {
            uint16_t *deep = (uint16_t *)row + 4 * x;
            uint8_t *plain = (uint8_t *)row + 4 * x;
            if (shape->format == SMP_U16)
                deep[c] = (uint16_t)smp_divide_alpha(deep[c], deep[3], UINT16_MAX);
            else
                plain[c] = (uint8_t)smp_divide_alpha(plain[c], plain[3], UINT8_MAX);
        }
}

smp_code smp_heif_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    heif_state *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    const size_t samples = (size_t)(shape->width * shape->channels);
    smp_code code = state->image ? SMP_OK : decode(state, reader, err);
    for (int64_t i = 0; i < rows && !code; i++) {
        const uint8_t *from = state->samples + (reader->next_row + i) * state->stride;
        uint8_t *row = (uint8_t *)to + i * stride;
        if (shape->format == SMP_U16)
            widen(state, from, samples, (uint16_t *)(void *)row);
        else
            memcpy(row, from, samples);
        if (state->premultiplied && shape->alpha)
            divide_alpha(shape, row);
    }
    return code;
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
    smp_free(state);
}

#endif
