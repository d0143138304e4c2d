/* Reads the primary picture of HEIC and AVIF through libheif, as gray or RGB, with alpha, of 8 or 16 bits. The library
 * turns, mirrors and crops by itself, and decodes a whole picture, on one thread. */
#include "io/heif/heif_glue.h"

#ifdef SMP_HAVE_HEIF

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"

static const smp_heif_functions *const lib = &smp_heif_library;

enum { HELD = 12 /* bytes a pixel that the library holds, for samples of up to 8 bits */ };
enum { PADDING = 64 /* pixels: coded blocks reach past a picture's sides, and the library's limit is exclusive */ };
enum { KEPT_BYTES = 32 << 20, SRGB_PRIMARIES = 1, UNSPECIFIED = 2, SRGB_TRANSFER = 13, BT601_TRANSFER = 6 };

/* libheif has libde265 decode H.265 on a thread. The process that decodes may start none, and libde265 would wait for
 * it for ever; without one it decodes where it is called. This stands in front of libde265's function of that name,
 * because the linker looks for the functions that a library calls in the program first. */
int de265_start_worker_threads(void *decoder, int threads);
int de265_start_worker_threads(void *, int)
{
    return 0; /* DE265_OK */
}

/* ------------------------------------------------------------------------------------------------ bytes */

static int64_t position(void *context)
{
    return (int64_t)((heif_input *)context)->position;
}

/* If the picture is turned otherwise than its alpha, libheif is shown boxes that turn neither: else it would find that
 * they do not fit each other, and leave the alpha out. */
static const char no_turn[5] = "irot"; /* by 0 quarters */

static int read_bytes(void *to, size_t size, void *context)
{
    heif_input *input = context;
    if (size && !smp_source_look(input->source, input->position, to, size)) /* libheif asks for nothing at no address */
        return 1;
    for (int i = 0; i < input->covered; i++)
        for (size_t k = 0; k < sizeof no_turn; k++)
            if (input->cover[i] + k - input->position < size)
                ((uint8_t *)to)[input->cover[i] + k - input->position] = (uint8_t)no_turn[k];
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

/* Kinds of pictures that a libheif may be without, by the types of their items. */
static const struct {
    char type[5];
    const char *name;
} kinds[] = {
    {"avc1", "H.264"},         {"evc1", "EVC"},    {"j2k1", "JPEG 2000"},       {"jpeg", "JPEG"},
    {"lhv1", "layered H.265"}, {"mski", "a mask"}, {"tili", "a tiled picture"}, {"unci", "uncompressed samples"},
    {"vvc1", "H.266"},
};

/* The kind of the primary picture, or of what it is made of, where it is one of these. */
static const char *kind_of(const smp_heif_primary *primary, const char **type)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        *type = kinds[i].type;
        if (strcmp(*type, primary->type) == 0 || strcmp(*type, primary->coding) == 0)
            return kinds[i].name;
    }
    return NULL;
}

smp_code smp_heif_failed(const heif_state *state, const char *name, struct heif_error why, smp_error *err)
{
    const char *type, *kind = kind_of(&state->primary, &type);
    if (why.code == heif_error_Ok)
        return SMP_OK;
    if (why.code == heif_error_Memory_allocation_error) {
        smp_fail(err, SMP_E_LIMIT, "the %s needs more memory than it may take (libheif: %.150s)", name, why.message);
        return smp_hint(err, "raise the limits with --max-memory and --max-pixels");
    }
    if (kind)
        return smp_fail(err, SMP_E_DECODE, "the %s holds %s (an item '%s'), which the libheif here does not read", name,
                        kind, type),
               smp_hint(err, "make a PNG of it with the program that wrote it, or with a newer libheif: heif-dec IN "
                             "OUT.png");
    if (why.code == heif_error_Unsupported_filetype || why.code == heif_error_Unsupported_feature)
        return smp_fail(err, SMP_E_DECODE, "the %s has what this libheif does not read (%.150s)", name, why.message),
               smp_hint(err, "libheif may be without the codec: install its plugins (libheif-plugin-...)");
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
    if (lib->heif_image_handle_get_metadata(state->handle, id, data).code == heif_error_Ok)
        done = exif ? smp_meta_keep_exif_box(meta, data, size)
                    : smp_meta_add_text(meta, SMP_XMP_KEY, (const char *)data, size);
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
    SMP_TRY(smp_library_need(SMP_LIBRARY_HEIF, SMP_E_READ, err));
    state->input.source = &reader->source;
    state->context = lib->heif_context_alloc();
    SMP_NEED(state->context, name, 0, err);
    lib->heif_context_set_max_decoding_threads(state->context, 0);
    const int64_t side = smp_max_i64(state->heif.width, state->heif.height);
    lib->heif_context_set_maximum_image_size_limit(state->context, (int)smp_min_i64(side + PADDING, INT32_MAX));
    struct heif_error why = lib->heif_context_read_from_reader(state->context, &callbacks, &state->input, NULL);
    if (why.code == heif_error_Ok)
        why = lib->heif_context_get_primary_image_handle(state->context, &state->handle);
    return smp_heif_failed(state, name, why, err);
}

/* libheif turns neither the picture nor its alpha. */
static void cover_turns(heif_state *state)
{
    const smp_heif_turns *const both[2] = {&state->primary.turns, &state->primary.alpha_turns};
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < both[b]->count; i++)
            state->input.cover[state->input.covered++] = both[b]->items[i].name;
}

/* p of a place before a step becomes that after it, of a picture of that size. */
static void step_back(int64_t p[3], const smp_heif_turn *turn, int64_t width, int64_t height)
{
    if (!turn->mirrors) { /* a quarter to the left: x was width - 1 - y, y was x */
        const int64_t across = p[0];
        p[0] = p[1];
        p[1] = -across;
        p[2] += across * (width - 1);
    } else {
        const int along = turn->how ? 0 : 1;
        p[2] += p[along] * ((turn->how ? width : height) - 1);
        p[along] = -p[along];
    }
}

/* Turns as the boxes say. *width and *height become those that come. */
static void place_turns(heif_state *state, int64_t *width, int64_t *height)
{
    const smp_heif_turns *turns = &state->primary.turns;
    heif_place *place = &state->place;
    *place = (heif_place){{1, 0, 0}, {0, 1, 0}};
    for (int i = 0; i < turns->count; i++)
        for (int left = turns->items[i].mirrors ? 1 : turns->items[i].how; left > 0; left--) {
            const int64_t wide = *width;
            step_back(place->x, &turns->items[i], *width, *height);
            step_back(place->y, &turns->items[i], *width, *height);
            *width = turns->items[i].mirrors ? wide : *height;
            *height = turns->items[i].mirrors ? *height : wide;
        }
}

static void describe(heif_state *state, smp_reader *reader)
{
    smp_media *media = &reader->media;
    smp_shape *shape = &media->shape;
    const int bits = lib->heif_image_handle_get_luma_bits_per_pixel(state->handle);
    const int others = lib->heif_context_get_number_of_top_level_images(state->context) - 1;
    state->premultiplied = lib->heif_image_handle_is_premultiplied_alpha(state->handle) != 0;
    shape->width = state->width = lib->heif_image_handle_get_width(state->handle);
    shape->height = state->height = lib->heif_image_handle_get_height(state->handle);
    if (state->primary.apart)
        place_turns(state, &shape->width, &shape->height);
    shape->alpha = lib->heif_image_handle_has_alpha_channel(state->handle) != 0;
    shape->channels = (state->primary.gray ? 1 : 3) + shape->alpha;
    shape->format = bits > 8 ? SMP_U16 : SMP_U8;
    media->bits = bits > 0 ? bits : 8;
    static const char *const names[] = {"", "gray", "gray and alpha", "RGB", "RGBA"};
    snprintf(media->detail, sizeof media->detail, "%s", names[shape->channels]);
    if (state->primary.alpha && !shape->alpha)
        smp_note(&reader->notes, "the transparency is left out: it has not the size of the picture");
    if (others > 0)
        smp_note(&reader->notes, "the file holds %d pictures; only the primary one is read", others + 1);
    if (state->heif.film)
        smp_note(&reader->notes, "the file is an animation; " SMP_FIRST_ALONE);
}

smp_code smp_heif_read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    SMP_TRY(smp_source_spool(&reader->source, err));
    heif_state *state = reader->state = smp_alloc(sizeof *state);
    SMP_NEED(state, media->file_format, sizeof *state, err);
    const smp_heif *heif = &state->heif;
    SMP_TRY(smp_heif_walk(&reader->source, &state->heif, err));
    uint64_t memory;
    if (__builtin_mul_overflow(heif->pixels, heif->bits > 8 ? 2 * HELD : HELD, &memory) ||
        !smp_add_u64(memory, reader->source.size, &memory))
        memory = UINT64_MAX;
    SMP_TRY(smp_check_picture(&reader->options.limits, heif->width, heif->height, memory, err));
    if ((heif->width > INT32_MAX || heif->height > INT32_MAX))
        return smp_fail(err, SMP_E_LIMIT, "the picture has a side of more than %d pixels", INT32_MAX);
    smp_heif_find_primary(&reader->source, heif, &state->primary);
    if (state->primary.apart)
        cover_turns(state);
    SMP_TRY(open_library(state, reader, err));
    describe(state, reader);
    SMP_TRY(smp_check_picture(&reader->options.limits, media->shape.width, media->shape.height, memory, err));
    return keep_metadata(state, reader, err);
}

#endif
