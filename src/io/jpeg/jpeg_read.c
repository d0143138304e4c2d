/* Reads JPEG by rows through libjpeg-turbo, as 8-bit gray or RGB. Stops where the library would continue with invented
 * samples (jpeg.c). Keeps the ICC profile, EXIF, XMP, comments and resolution. */
#include <string.h>

#include "base/alloc.h"
#include "io/jpeg/jpeg_glue.h"
#include "io/jpeg/jpeg_lossless.h"
#include "io/meta/cmyk.h"

#include <jerror.h>

enum {
    HEADER_CAP = 1 << 20,    /* bytes that libjpeg may hold before the picture's size is known: tables */
    MOST_SCANS = 500,        /* a progressive file has about ten; each is a pass over the picture */
    LEAST_SCANS = 25,        /* allowed for a picture of any size */
    SCANNED_BLOCKS = 1 << 26 /* scans times blocks of 64 coefficients: a few seconds */
};

typedef struct jpeg_reader {
    smp_jpeg base;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    smp_jpeg_markers markers;
    int most_scans;
    smp_reader *reader;
    bool created;
    uint8_t *cmyk; /* a row, when it must be converted */
    smp_cmyk *to_rgb;
    uint8_t *scan;        /* its rows, when they are given instead of the picture's */
    const char *followed; /* with a scan: as smp_jpeg_follower */
    bool told;            /* that the file is cut short */
    /* of the call in progress */
    uint8_t *to;
    int64_t stride, rows;
} jpeg_reader;

bool smp_jpeg_sniff(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 0xFF && head[1] == 0xD8 && head[2] == 0xFF;
}

/* ------------------------------------------------------------------------------------------------ bytes */

static jpeg_reader *reader_of(j_decompress_ptr jpeg)
{
    return jpeg->client_data;
}

static void source_start(j_decompress_ptr) {}

static _Noreturn void source_ended(jpeg_reader *state)
{
    const smp_source *source = &state->reader->source;
    const smp_code code = smp_source_ended(source, state->base.err);
    if (state->markers.closed && code == SMP_E_DECODE) /* the header is whole */
        smp_hint_no_verify(state->base.err);
    smp_jpeg_stop(&state->base, code);
}

/* The end of a file that is cut short: stops, or gives the marker of a JPEG's end. */
static void give_end(jpeg_reader *state)
{
    static const uint8_t end[] = {0xFF, JPEG_EOI};
    const smp_source *source = &state->reader->source;
    if (!state->reader->options.no_verify || !state->markers.closed || source->failed || source->over_limit)
        source_ended(state);
    state->base.cut.reached = true;
    state->source.next_input_byte = end;
    state->source.bytes_in_buffer = sizeof end;
    if (state->jpeg.arith_code) /* whose decoder says nothing */
        smp_jpeg_lacks(&state->base, &state->jpeg);
}

static boolean source_fill(j_decompress_ptr jpeg)
{
    jpeg_reader *state = reader_of(jpeg);
    const uint8_t *at;
    size_t size = smp_source_take(&state->reader->source, &at);
    if (!size) {
        give_end(state);
        return !jpeg->unread_marker; /* no end within a marker: it is passed over, see start() */
    }
    state->source.next_input_byte = at;
    state->source.bytes_in_buffer = size;
    return TRUE;
}

static void source_skip(j_decompress_ptr jpeg, long count)
{
    jpeg_reader *state = reader_of(jpeg);
    if (count <= 0)
        return;
    size_t size = (size_t)count, have = state->source.bytes_in_buffer;
    if (size <= have) {
        state->source.next_input_byte += size;
        state->source.bytes_in_buffer -= size;
        return;
    }
    state->source.bytes_in_buffer = 0;
    if (smp_source_skip(&state->reader->source, size - have) != size - have)
        give_end(state);
}

/* ------------------------------------------------------------------------------------------------ header */

static void check(jpeg_reader *state, smp_code code)
{
    if (code != SMP_OK)
        smp_jpeg_stop(&state->base, code);
}

static void keep_metadata(void *context)
{
    jpeg_reader *state = context;
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    smp_media *media = &state->reader->media;
    smp_meta *meta = &media->meta;
    media->orientation = smp_exif_orientation(meta->exif.data, meta->exif.size);
    const bool stays = state->cmyk && state->reader->options.want.coded; /* with its profile */
    if (!stays)
        smp_jpeg_keep_icc(&state->base, &meta->icc);
    if (state->cmyk && !stays)
        check(state, smp_cmyk_open(state->reader, UINT8_MAX, &state->to_rgb, state->base.err));
    if (state->markers.left.count)
        smp_note(state->base.notes, "left out, since it is of other programs: %s", smp_names_end(&state->markers.left));
    if (state->markers.pictures > 1)
        smp_note(state->base.notes, "the file holds %u pictures (MPO); " SMP_FIRST_ALONE, state->markers.pictures);
    double unit = jpeg->density_unit == 1 ? 1 / 0.0254 : 100; /* dots an inch, a centimetre */
    bool aspect = jpeg->density_unit == 0;
    if (jpeg->saw_JFIF_marker && jpeg->X_density && jpeg->Y_density &&
        !(aspect && jpeg->X_density == jpeg->Y_density)) {
        meta->x_density = jpeg->X_density * (aspect ? 1 : unit);
        meta->y_density = jpeg->Y_density * (aspect ? 1 : unit);
        meta->density_is_aspect = aspect;
    }
}

/* The 8 x 8 blocks of coefficients in the file, of all components. */
static uint64_t count_blocks(const struct jpeg_decompress_struct *jpeg)
{
    uint64_t blocks = 0, widest = 1, highest = 1;
    for (int i = 0; i < jpeg->num_components; i++) {
        widest = jpeg->comp_info[i].h_samp_factor > (int)widest ? (uint64_t)jpeg->comp_info[i].h_samp_factor : widest;
        highest =
            jpeg->comp_info[i].v_samp_factor > (int)highest ? (uint64_t)jpeg->comp_info[i].v_samp_factor : highest;
    }
    for (int i = 0; i < jpeg->num_components; i++) {
        uint64_t across = (uint64_t)jpeg->image_width * (uint64_t)jpeg->comp_info[i].h_samp_factor;
        uint64_t down = (uint64_t)jpeg->image_height * (uint64_t)jpeg->comp_info[i].v_samp_factor;
        blocks += (across + 8 * widest - 1) / (8 * widest) * ((down + 8 * highest - 1) / (8 * highest));
    }
    return blocks;
}

static void describe_picture(jpeg_reader *state)
{
    const struct jpeg_decompress_struct *jpeg = &state->jpeg;
    smp_media *media = &state->reader->media;
    char sampling[24] = "";
    if (jpeg->num_components >= 3) {
        int h = jpeg->comp_info[0].h_samp_factor, v = jpeg->comp_info[0].v_samp_factor;
        bool plain = true;
        for (int i = 1; i < 3; i++)
            plain &= jpeg->comp_info[i].h_samp_factor == 1 && jpeg->comp_info[i].v_samp_factor == 1;
        const char *name = !plain             ? "mixed sampling"
                           : h == 1 && v == 1 ? "4:4:4"
                           : h == 2 && v == 1 ? "4:2:2"
                           : h == 2 && v == 2 ? "4:2:0"
                           : h == 1 && v == 2 ? "4:4:0"
                           : h == 4 && v == 1 ? "4:1:1"
                                              : "other sampling";
        snprintf(sampling, sizeof sampling, ", %s", name);
    }
    static const char *const spaces[] = {"unknown", "gray", "RGB", "YCbCr", "CMYK", "YCCK"};
    unsigned space = (unsigned)jpeg->jpeg_color_space;
    snprintf(media->detail, sizeof media->detail, "%s%s%s%s%s", space < 6 ? spaces[space] : spaces[0],
             smp_cmyk_profiled(state->to_rgb) ? " to sRGB by its profile" : "", sampling,
             jpeg->progressive_mode ? ", progressive" : "", jpeg->arith_code ? ", arithmetic coding" : "");
}

static void check_scans(jpeg_reader *state, int scans)
{
    if (scans <= state->most_scans)
        return;
    smp_fail(state->base.err, SMP_E_LIMIT, "the JPEG has more than %d scans, too many for its %u x %u pixels",
             state->most_scans, state->jpeg.image_width, state->jpeg.image_height);
    smp_hint(state->base.err, "if the file is to be trusted, save it as a baseline JPEG or PNG with another program");
    smp_jpeg_stop(&state->base, SMP_E_LIMIT);
}

/* Callback of libjpeg that counts a pipe's scans as they come. */
static void count_scans(j_common_ptr cinfo)
{
    jpeg_reader *state = reader_of((j_decompress_ptr)cinfo);
    check_scans(state, state->jpeg.input_scan_number);
}

static void begin_library(void *context)
{
    jpeg_reader *state = context;
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    jpeg->err = smp_jpeg_errors(&state->base, SMP_E_DECODE);
    state->base.piped = !state->reader->source.seekable;
    jpeg_create_decompress(jpeg);
    state->created = true;
    smp_jpeg_adopt_memory(&state->base, (j_common_ptr)jpeg, HEADER_CAP);
    jpeg->client_data = state;
    state->source = (struct jpeg_source_mgr){
        .init_source = source_start,
        .fill_input_buffer = source_fill,
        .skip_input_data = source_skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = source_start,
    };
    jpeg->src = &state->source;
    state->progress.progress_monitor = count_scans;
    jpeg->progress = &state->progress;
    smp_jpeg_watch_markers(jpeg);
    jpeg_read_header(jpeg, TRUE);
    state->markers.closed = true;
}

/* Checks the cost of decoding before it begins. */
static void check_cost(jpeg_reader *state)
{
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    const smp_source *source = &state->reader->source;
    uint64_t blocks = count_blocks(jpeg), scans = SCANNED_BLOCKS / (blocks ? blocks : 1);
    state->most_scans = scans < LEAST_SCANS ? LEAST_SCANS : scans > MOST_SCANS ? MOST_SCANS : (int)scans;
    bool whole = jpeg->progressive_mode || jpeg_has_multiple_scans(jpeg);
    if (whole && source->seekable) {
        smp_jpeg_seen further;
        smp_jpeg_look(source, source->position - state->source.bytes_in_buffer, state->most_scans, &further);
        check_scans(state, further.scans + 1);
    }
    check(state, smp_check_picture(&state->reader->options.limits, jpeg->image_width, jpeg->image_height,
                                   whole ? blocks * sizeof(JBLOCK) : 0, state->base.err));
    /* A Huffman code takes at least one bit for each block. Arithmetic coding has no such minimum. */
    if (!jpeg->arith_code && !state->reader->options.no_verify) {
        const smp_code code = smp_check_size(source, blocks / 8, state->base.err);
        if (code)
            smp_hint_no_verify(state->base.err);
        check(state, code);
    }
    state->base.memory.cap = UINT64_MAX; /* from here on only --max-memory limits it */
}

static void choose_colours(jpeg_reader *state)
{
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE:
        jpeg->out_color_space = JCS_GRAYSCALE;
        break;
    case JCS_RGB:
    case JCS_YCbCr:
        jpeg->out_color_space = JCS_RGB;
        break;
    case JCS_CMYK:
    case JCS_YCCK:
        jpeg->out_color_space = JCS_CMYK;
        state->cmyk = smp_alloc_array(jpeg->image_width, 4);
        smp_jpeg_need(&state->base, state->cmyk, "a row", (uint64_t)jpeg->image_width * 4);
        break;
    default:
        check(state, smp_fail(state->base.err, SMP_E_DECODE, "the JPEG has %d components of unknown meaning",
                              jpeg->num_components));
    }
}

static void read_header(void *context)
{
    jpeg_reader *state = context;
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    smp_media *media = &state->reader->media;
    begin_library(state);
    check_cost(state);
    choose_colours(state);
    jpeg->dct_method = JDCT_ISLOW;
    if (state->reader->options.want.shrink > 1)
        jpeg->scale_denom = (unsigned)state->reader->options.want.shrink;
    jpeg_calc_output_dimensions(jpeg);
    media->shape.width = jpeg->output_width;
    media->shape.height = jpeg->output_height;
    media->shrinks = true;
    media->copies = jpeg->jpeg_color_space == JCS_GRAYSCALE || state->cmyk ||
                    (jpeg->jpeg_color_space == JCS_YCbCr && jpeg->num_components == 3) ||
                    (jpeg->jpeg_color_space == JCS_RGB && jpeg->saw_Adobe_marker);
    media->shape.channels = jpeg->out_color_space == JCS_GRAYSCALE ? 1 : 3;
    media->shape.alpha = false;
    media->shape.format = SMP_U8;
    media->bits = jpeg->data_precision;
    keep_metadata(state);
    describe_picture(state);
    smp_coding_begin(&media->meta.coding, SMP_CODING_JPEG);
    smp_jpeg_keep_coding(jpeg, &media->meta.coding.jpeg);
}

static void close_state(jpeg_reader *state)
{
    if (state->created)
        jpeg_destroy_decompress(&state->jpeg);
    smp_jpeg_free_markers(&state->markers);
    smp_free(state->cmyk);
    smp_cmyk_close(state->to_rgb);
    smp_free_all(state->scan, state);
}

static jpeg_reader *open_state(smp_reader *reader)
{
    jpeg_reader *state = smp_alloc(sizeof *state);
    if (!state)
        return NULL;
    state->reader = reader;
    state->base.markers = &state->markers;
    state->base.notes = &reader->notes;
    state->markers.meta = &reader->media.meta;
    return state;
}

smp_code smp_jpeg_read_lossless(smp_reader *reader, bool *ycc, smp_error *err)
{
    enum { LOSSLESS = 0xC3 };
    jpeg_reader *state = open_state(reader);
    SMP_NEED(state, "JPEG", sizeof *state, err);
    smp_code code = smp_jpeg_guard(&state->base, begin_library, state, err);
    if (!code /* libjpeg-turbo 3 reads it, by others of its functions */ ||
        (state->base.errors.msg_code == JERR_SOF_UNSUPPORTED && state->jpeg.unread_marker == LOSSLESS))
        code = smp_jpeg_guard(&state->base, keep_metadata, state, err);
    *ycc = state->jpeg.saw_Adobe_marker && state->jpeg.Adobe_transform;
    close_state(state);
    return code;
}

static bool wants_scan(const smp_reader *reader)
{
    const smp_read_options *options = &reader->options;
    const smp_shape *shape = &reader->media.shape;
    return options->want.scan_from && options->want.shrink <= 1 && !options->want.coded && !options->frames &&
           (uint64_t)shape->width * (uint64_t)shape->height >= options->want.scan_from;
}

smp_code smp_jpeg_read_open(smp_reader *reader, smp_error *err)
{
    jpeg_reader *state = reader->state = open_state(reader);
    SMP_NEED(state, "JPEG", sizeof *state, err);
    SMP_TRY(smp_jpeg_guard(&state->base, read_header, state, err));
    if (wants_scan(reader))
        smp_jpeg_read_scan(&state->jpeg, &reader->source, reader->source.position - state->source.bytes_in_buffer,
                           &reader->options.limits, &reader->media.scan, &state->scan, &state->followed);
    return reader->options.want.coded ? smp_jpeg_keep_coded(reader, state->jpeg.jpeg_color_space, err) : SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ rows */

/* 255 is no ink, as Adobe stores it; decoders assume that with and without Adobe's marker. */
static void cmyk_to_rgb(const jpeg_reader *state, uint8_t *to)
{
    for (int64_t x = 0; x < state->reader->media.shape.width; x++) {
        uint32_t ink[4], light[3];
        for (int c = 0; c < 4; c++)
            ink[c] = UINT8_MAX - (uint32_t)state->cmyk[4 * x + c];
        smp_cmyk_pixel(state->to_rgb, ink, light);
        for (int c = 0; c < 3; c++)
            to[3 * x + c] = (uint8_t)light[c];
    }
}

/* A marker in which the file ends is left out: the picture ends there. */
static void start(jpeg_reader *state)
{
    while (!jpeg_start_decompress(&state->jpeg))
        state->jpeg.unread_marker = 0;
}

/* Whether scans are missing behind those that were read. */
static bool lacks_scans(const struct jpeg_decompress_struct *jpeg)
{
    bool lacks = false;
    for (int i = 0; i < jpeg->num_components; i++) {
        lacks |= !jpeg->comp_info[i].quant_table; /* set by the first scan with this component */
        for (int k = 0; jpeg->coef_bits && k < DCTSIZE2; k++)
            lacks |= jpeg->coef_bits[i][k] != 0;
    }
    return lacks;
}

/* Notes what a truncated file lacks. lacks: from lacks_scans. In the first scan that is rows; the others refine them,
 * or hold colours. */
static void tell_cut(jpeg_reader *state, bool lacks)
{
    const smp_jpeg_cut *cut = &state->base.cut;
    const struct jpeg_decompress_struct *jpeg = &state->jpeg;
    const int shrink = state->reader->options.want.shrink, block = DCTSIZE / (shrink > 1 ? shrink : 1);
    const int64_t all = jpeg->output_height, first = cut->row * jpeg->max_v_samp_factor * block;
    state->told = true;
    if (cut->lacking ? cut->scan > 1 : lacks)
        smp_note(state->base.notes,
                 "the file is cut short %s scan %d of its picture: what there is of it is read, and detail or colour "
                 "is missing",
                 cut->lacking ? "in" : "after", cut->lacking ? cut->scan : jpeg->input_scan_number);
    else
        smp_note_cut(state->base.notes, cut->lacking && first < all ? all - first : 0, all, "gray");
}

static void read_rows(void *context)
{
    jpeg_reader *state = context;
    if (state->reader->next_row == 0)
        start(state);
    for (int64_t i = 0; i < state->rows; i++) {
        uint8_t *row = state->to + i * state->stride;
        JSAMPROW line = state->cmyk ? state->cmyk : row;
        if (jpeg_read_scanlines(&state->jpeg, &line, 1) != 1)
            source_ended(state);
        if (state->cmyk)
            cmyk_to_rgb(state, row);
    }
    const bool asked = state->base.cut.reached && !state->told, lacks = asked && lacks_scans(&state->jpeg);
    if (lacks || (asked && state->base.cut.lacking))
        tell_cut(state, lacks);
}

smp_code smp_jpeg_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    jpeg_reader *state = reader->state;
    const int64_t row = reader->media.scan.shape.width;
    for (int64_t i = 0; state->scan && i < rows; i++)
        memcpy((uint8_t *)to + i * stride, state->scan + (reader->next_row + i) * row, (size_t)row);
    if (state->scan)
        return SMP_OK;
    state->to = to;
    state->stride = stride;
    state->rows = rows;
    return smp_jpeg_guard(&state->base, read_rows, state, err);
}

const char *smp_jpeg_follower(const uint8_t *head, size_t size)
{
    return smp_jpeg_sniff(head, size)                  ? "another JPEG follows; " SMP_FIRST_ALONE
           : size >= 8 && !memcmp(head + 4, "ftyp", 4) ? "a video follows, as in a motion photo: it is left out"
           : smp_behind_counts(head, size)             ? SMP_BEHIND_LOST
                                                       : NULL;
}

/* What follows directly. */
static const char *follower(jpeg_reader *state)
{
    uint8_t head[SMP_JPEG_FOLLOWER];
    const uint8_t *more;
    size_t have = state->source.bytes_in_buffer < sizeof head ? state->source.bytes_in_buffer : sizeof head;
    memcpy(head, state->source.next_input_byte, have);
    size_t rest = smp_source_peek(&state->reader->source, &more, sizeof head - have);
    memcpy(head + have, more, rest);
    return smp_jpeg_follower(head, have + rest);
}

void smp_jpeg_note_next(smp_reader *reader, const char *followed)
{
    jpeg_reader *state = reader->state;
    if (followed && state->markers.pictures < 2)
        smp_note(state->base.notes, "%s", followed);
}

static void read_end(void *context)
{
    jpeg_reader *state = context;
    const int components = state->base.cut.reached ? 0 : state->jpeg.num_components;
    for (int i = 0; i < components; i++)
        if (!state->jpeg.comp_info[i].quant_table) /* set by the first scan with this component */
            check(state,
                  smp_fail(state->base.err, SMP_E_DECODE, "the JPEG is damaged: component %d is missing", i + 1));
    const bool lacks = lacks_scans(&state->jpeg); /* finishing frees what tells */
    jpeg_finish_decompress(&state->jpeg);
    if (state->base.cut.reached) {
        if (!state->told)
            tell_cut(state, lacks);
    } else
        smp_jpeg_note_next(state->reader, follower(state));
}

smp_code smp_jpeg_read_end(smp_reader *reader, smp_error *err)
{
    jpeg_reader *state = reader->state;
    if (!state->scan)
        return smp_jpeg_guard(&state->base, read_end, state, err);
    smp_jpeg_note_next(reader, state->followed);
    return SMP_OK;
}

void smp_jpeg_read_close(smp_reader *reader)
{
    close_state(reader->state);
}
