/* Reads PNG by rows through libpng: every colour type and depth, as gray, gray and alpha, RGB or RGBA of 8 or 16 bits.
 * Refuses damaged files. Keeps colour and resolution chunks, texts and EXIF. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/bytes.h"
#include "io/png/png_glue.h"

enum {
    ROWS_HELD = 4,       /* rows that libpng holds, at their widest */
    AHEAD = 64 << 20,    /* bytes of a pipe that are read ahead to find EXIF and texts after the picture */
    DEFLATE_RATIO = 1032 /* the most a deflate stream expands: zlib technical details, "maximum compression factor" */
};

typedef struct png_reader {
    smp_png base;
    smp_reader *reader;
    uint8_t frame[8];       /* libpng's last read of this size: the length and type of the chunk where it stopped */
    smp_png_plain *plain;   /* reads the rows instead of libpng */
    bool plain_format;      /* png_plain.h can read it */
    png_infop behind;       /* what follows the picture in a long pipe */
    bool again;             /* the header is read for the second time: nothing of it is kept */
    smp_png_cut cut;        /* with --no-verify */
    bool moves;             /* it is an animation, */
    uint32_t pictures;      /* of so many, */
    uint32_t plays;         /* shown so often; 0: for ever */
    int64_t got;            /* rows that libpng gave, of a picture that is not interlaced */
    bool ended;             /* there are no more */
    uint8_t *whole;         /* interlaced: the finished picture, its rows as they are stored */
    uint8_t *line;          /* room for one more */
    size_t row;             /* bytes of each */
    int pixel;              /* bits of a pixel in them */
    smp_png_expand *expand; /* interlaced, of 8 bits a pixel or less: makes samples of stored rows */
    int64_t stride;
    /* of the call in progress */
    uint8_t *to;
    int64_t to_stride, rows;
} png_reader;

bool smp_png_sniff(const uint8_t *head, size_t size)
{
    return size >= 8 && memcmp(head, "\x89PNG\r\n\x1A\n", 8) == 0;
}

static smp_code source_ended(png_reader *state)
{
    const smp_source *source = state->base.source;
    const smp_code code = smp_source_ended(source, state->base.err);
    if (code == SMP_E_DECODE && !state->cut.is && smp_png_find_cut(source).is)
        smp_hint_no_verify(state->base.err);
    return code;
}

static void feed(png_structp png, png_bytep to, size_t size)
{
    smp_png *state = png_get_io_ptr(png);
    smp_png_cut *cut = &((png_reader *)state)->cut;
    if (cut->is ? !smp_png_read_cut(cut, state->source, to, size) : smp_source_read(state->source, to, size) != size)
        smp_png_stop(state, source_ended((png_reader *)state));
    if (size == sizeof((png_reader *)state)->frame) {
        memcpy(((png_reader *)state)->frame, to, size);
        smp_png_count_chunk(state, to);
    }
}

/* Checks the limits from the bytes of the header, before libpng sees them. */
static smp_code check_header(smp_reader *reader, uint64_t *row_bytes, smp_error *err)
{
    enum { SIZE = 33, INTERLACED = 28 }; /* signature and IHDR */
    const uint8_t *head;
    if (smp_source_peek(&reader->source, &head, SIZE) < SIZE) {
        smp_source_skip(&reader->source, SIZE);
        return smp_source_ended(&reader->source, err);
    }
    if (memcmp(head + 8, "\0\0\0\x0DIHDR", 8) != 0)
        return smp_fail(err, SMP_E_DECODE, "the PNG is damaged: it does not begin with its header");
    uint64_t width = smp_get_be(head + 16, 4), height = smp_get_be(head + 20, 4), depth = head[24];
    static const uint8_t samples[] = {1, 0, 3, 1, 2, 0, 4};
    uint64_t bits = head[25] < sizeof samples ? samples[head[25]] * depth : 0;
    if (width > INT32_MAX || height > INT32_MAX)
        return smp_fail(err, SMP_E_DECODE, "the PNG is damaged: its size is not possible");
    static const uint8_t expanded[] = {2, 0, 4, 4, 2, 0, 4}; /* channels, at most */
    *row_bytes = width * (head[25] < sizeof expanded ? expanded[head[25]] : 4) * (depth == 16 ? 2 : 1);
    const uint64_t kept = bits <= 8 ? (width * bits + 7) / 8 : *row_bytes; /* of a row, where all are */
    uint64_t held = *row_bytes * ROWS_HELD + (head[INTERLACED] ? kept * height : 0);
    SMP_TRY(smp_check_picture(&reader->options.limits, (int64_t)width, (int64_t)height, held, err));
    SMP_TRY(smp_source_read_ahead(&reader->source, AHEAD, err));
    if (reader->options.no_verify)
        return SMP_OK;
    smp_code code = smp_check_size(&reader->source, (width * bits + 7) / 8 * height / DEFLATE_RATIO, err);
    return code ? smp_hint_no_verify(err) : SMP_OK;
}

static void keep_colour(png_reader *state, smp_meta *meta)
{
    png_structp png = state->base.png;
    png_infop info = state->base.info;
    png_charp name;
    png_bytep profile;
    int method, intent;
    png_uint_32 size;
    if (png_get_iCCP(png, info, &name, &method, &profile, &size) && !state->base.icc_damaged) {
        smp_png_need(&state->base, smp_blob_set(&meta->icc, profile, size), "an ICC profile", size);
        snprintf(meta->icc_name, sizeof meta->icc_name, "%s", name);
    } else if (state->base.icc_fault[0] && !state->base.icc_damaged) {
        smp_note(state->base.notes, "the ICC profile is invalid and is left out (libpng: %s)", state->base.icc_fault);
    }
    if (png_get_sRGB(png, info, &intent))
        meta->srgb_intent = intent;
    double gamma;
    if (png_get_gAMA(png, info, &gamma) && gamma > 0)
        meta->gamma = gamma;
    double *c = meta->chrm;
    meta->has_chrm = png_get_cHRM(png, info, c, c + 1, c + 2, c + 3, c + 4, c + 5, c + 6, c + 7) != 0;
}

static bool keep_chunk(const png_unknown_chunk *chunk, const char *type, uint8_t *to, size_t size)
{
    bool fits = memcmp(chunk->name, type, 4) == 0 && chunk->size == size;
    if (fits)
        memcpy(to, chunk->data, size);
    return fits;
}

/* Chunks that this version of libpng may not know. */
static void keep_chunks(png_reader *state, smp_meta *meta)
{
    png_unknown_chunkp chunks = NULL;
    int count = png_get_unknown_chunks(state->base.png, state->base.info, &chunks);
    uint8_t frames[8];
    for (int i = 0; i < count; i++) {
        const png_unknown_chunk *chunk = &chunks[i];
        meta->has_cicp |= keep_chunk(chunk, "cICP", meta->cicp, sizeof meta->cicp);
        meta->has_mdcv |= keep_chunk(chunk, "mDCV", meta->mdcv, sizeof meta->mdcv);
        meta->has_clli |= keep_chunk(chunk, "cLLI", meta->clli, sizeof meta->clli);
        if (!keep_chunk(chunk, "acTL", frames, sizeof frames))
            continue;
        state->moves = true;
        state->pictures = smp_get_be(frames, 4);
        state->plays = smp_get_be(frames + 4, 4);
        if (state->pictures > 1) {
            char *detail = state->reader->media.detail;
            const size_t used = strlen(detail);
            snprintf(detail + used, sizeof state->reader->media.detail - used, ", animation of %u pictures",
                     state->pictures);
            if (!state->reader->options.frames)
                smp_note(state->base.notes,
                         "the file is an animation of %u pictures; " SMP_FIRST_ALONE
                         "; --frames of run and convert reads all",
                         state->pictures);
        }
    }
}

static void keep_metadata(png_reader *state)
{
    png_structp png = state->base.png;
    png_infop info = state->base.info;
    smp_meta *meta = &state->reader->media.meta;
    keep_colour(state, meta);
    keep_chunks(state, meta);
    png_uint_32 x, y;
    int unit;
    if (png_get_pHYs(png, info, &x, &y, &unit)) {
        meta->x_density = x;
        meta->y_density = y;
        meta->density_is_aspect = unit != PNG_RESOLUTION_METER;
    }
    smp_png_keep_texts(&state->base, &state->reader->media);
}

/* Memory for all rows, of `row` bytes and pixels of so many bits. */
static void begin_interlaced(png_reader *state, size_t row, size_t height, int pixel)
{
    size_t size;
    smp_png_need(&state->base, smp_mul_size(row, height, &size), "an interlaced picture", SIZE_MAX);
    state->whole = smp_alloc(size);
    state->line = smp_alloc_raw(row);
    smp_png_need(&state->base, state->whole && state->line, "an interlaced picture", size);
    state->row = row;
    state->pixel = pixel;
}

static void read_header(void *context)
{
    png_reader *state = context;
    png_structp png = state->base.png;
    png_infop info = state->base.info;
    smp_media *media = &state->reader->media;
    smp_png_limit(&state->base);
    static const png_byte kept[] = "cICP\0mDCV\0cLLI\0acTL";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, kept, 4);
    png_set_read_fn(png, &state->base, feed);
    png_read_info(png, info);

    png_uint_32 width, height;
    int depth, colour, interlace;
    png_get_IHDR(png, info, &width, &height, &depth, &colour, &interlace, NULL, NULL);
    bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0, interlaced = interlace != PNG_INTERLACE_NONE;
    const bool expand = interlaced && depth <= 8 && (colour == PNG_COLOR_TYPE_PALETTE || colour == PNG_COLOR_TYPE_GRAY);
    if (colour == PNG_COLOR_TYPE_PALETTE && !expand)
        png_set_palette_to_rgb(png);
    if (colour == PNG_COLOR_TYPE_GRAY && depth < 8 && !expand)
        png_set_expand_gray_1_2_4_to_8(png);
    if (transparent && !expand)
        png_set_tRNS_to_alpha(png);
    if (depth == 16 && smp_little_endian())
        png_set_swap(png);
    png_read_update_info(png, info);
    if (expand) {
        smp_png_expand_free(state->expand);
        smp_png_need(&state->base, (state->expand = smp_png_expand_new(png, info)) != NULL, "a palette",
                     sizeof(void *));
    }

    media->shape.width = width;
    media->shape.height = height;
    media->shape.channels = expand ? smp_png_expand_channels(state->expand) : png_get_channels(png, info);
    media->shape.alpha = media->shape.channels == 2 || media->shape.channels == 4;
    media->shape.format = depth == 16 ? SMP_U16 : SMP_U8;
    media->bits = depth;
    if (colour == PNG_COLOR_TYPE_PALETTE || (colour == PNG_COLOR_TYPE_GRAY && depth < 8 && !transparent))
        media->meta.coding = (smp_coding){.kind = SMP_CODING_PNG, .png = {depth, colour == PNG_COLOR_TYPE_PALETTE}};
    static const char *const names[] = {"gray", "?", "RGB", "palette", "gray and alpha", "?", "RGBA"};
    snprintf(media->detail, sizeof media->detail, "%s%s%s", names[colour], transparent ? ", transparent colour" : "",
             interlaced ? ", interlaced" : "");
    state->stride = smp_row_bytes(&media->shape);
    const size_t row = png_get_rowbytes(png, info);
    if ((size_t)state->stride != row && !expand)
        png_error(png, "unexpected row size");
    if (!state->again)
        keep_metadata(state);
    /* libpng leaves metadata out when memory is short; report that instead. */
    if (state->base.refused)
        png_error(png, "memory");
    state->plain_format = !interlaced && !transparent && depth >= 8 && colour != PNG_COLOR_TYPE_PALETTE;
    if (interlaced)
        begin_interlaced(state, row, height,
                         expand ? depth : (int)png_get_bit_depth(png, info) * png_get_channels(png, info));
}

smp_code smp_png_read_open(smp_reader *reader, smp_error *err)
{
    uint64_t row_bytes = 0;
    SMP_TRY(reader->options.frames ? smp_source_spool(&reader->source, err) : SMP_OK);
    SMP_TRY(check_header(reader, &row_bytes, err));
    png_reader *state = smp_alloc(sizeof *state);
    SMP_NEED(state, "PNG", sizeof *state, err);
    reader->state = state;
    state->reader = reader;
    state->base.source = &reader->source;
    state->base.fault = SMP_E_DECODE;
    state->base.notes = &reader->notes;
    state->base.cap = SMP_PNG_METADATA_CAP + row_bytes * ROWS_HELD;
    state->base.lenient = reader->options.no_verify;
    if (reader->options.no_verify)
        state->cut = smp_png_find_cut(&reader->source);
    SMP_TRY(smp_png_create(&state->base, true, err));
    SMP_TRY(smp_png_guard(&state->base, read_header, state, err));
    SMP_TRY(smp_png_read_late(reader, err));
    SMP_TRY(smp_png_read_raw(reader, err));
    if (state->moves && reader->options.frames)
        return smp_png_frames_open(reader, state->pictures, state->plays, err);
    if (!state->plain_format || state->cut.is || !reader->source.seekable || memcmp(state->frame + 4, "IDAT", 4) != 0)
        return SMP_OK;
    /* Only for a file that can be read again: see fall_back(). */
    const int sample = (int)smp_sample_size((int)reader->media.shape.format);
    return smp_png_plain_open(&reader->source, smp_get_be(state->frame, 4), state->stride,
                              reader->media.shape.channels * sample, sample, &state->plain, err);
}

static void skip_rows(void *context)
{
    png_reader *state = context;
    for (int64_t i = 0; i < state->reader->next_row; i++)
        png_read_row(state->base.png, state->to, NULL);
}

/* Something in the picture is unusual: libpng reads the file from its beginning, so that a refusal is libpng's, in its
 * words. `to` has room for a row. */
static smp_code fall_back(png_reader *state, void *to, smp_error *err)
{
    smp_png_plain_close(state->plain);
    state->plain = NULL;
    state->again = true;
    state->to = to;
    smp_png_destroy(&state->base, true);
    if (!smp_source_seek(&state->reader->source, 0))
        return smp_fail(err, SMP_E_READ, "cannot read the file again");
    SMP_TRY(smp_png_create(&state->base, true, err));
    SMP_TRY(smp_png_guard(&state->base, read_header, state, err));
    return smp_png_guard(&state->base, skip_rows, state, err);
}

static void read_rows(void *context)
{
    png_reader *state = context;
    const smp_shape *shape = &state->reader->media.shape;
    if (state->whole)
        smp_png_read_passes(state->base.png, state->pixel, (uint32_t)shape->width, (uint32_t)shape->height, state->line,
                            state->whole, state->row);
    for (int64_t i = 0; !state->whole && i < state->rows; i++, state->got++)
        png_read_row(state->base.png, state->to + i * state->to_stride, NULL);
}

/* Reads all passes of an interlaced picture, with its first row. */
static void take_whole(const png_reader *state)
{
    for (int64_t i = 0; i < state->rows; i++) {
        const uint8_t *from = state->whole + (size_t)(state->reader->next_row + i) * state->row;
        if (state->expand)
            smp_png_expand_row(state->expand, from, state->to + i * state->to_stride, state->reader->media.shape.width);
        else
            memcpy(state->to + i * state->to_stride, from, (size_t)state->stride);
    }
}

/* Makes the missing rows of a truncated file black. */
static smp_code take_missing(png_reader *state, smp_code code)
{
    const int64_t first = state->reader->next_row, all = state->reader->media.shape.height;
    if (code == SMP_E_DECODE && state->base.lacks_rows && state->cut.is && !state->ended) {
        state->ended = true;
        if (state->whole)
            smp_note(state->base.notes, "the file is cut short: what there is of it is read, and pixels of its later "
                                        "passes (it is interlaced) are missing and black");
        else
            smp_note_cut(state->base.notes, all - state->got, all, "black");
    }
    for (int64_t y = first; !state->whole && state->ended && y < first + state->rows; y++)
        if (y >= state->got)
            memset(state->to + (y - first) * state->to_stride, 0, (size_t)state->stride);
    return state->ended ? SMP_OK : code;
}

smp_code smp_png_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    png_reader *state = reader->state;
    if (state->plain && smp_png_plain_rows(state->plain, to, stride, rows))
        return SMP_OK;
    smp_code code = state->plain ? fall_back(state, to, err) : SMP_OK;
    state->to = to;
    state->to_stride = stride;
    state->rows = rows;
    if (code == SMP_OK && !state->ended && (!state->whole || reader->next_row == 0))
        code = smp_png_guard(&state->base, read_rows, state, err);
    code = take_missing(state, code);
    if (code == SMP_OK && state->whole)
        take_whole(state);
    return code;
}

/* EXIF after the picture, in a pipe too long to look ahead: its orientation comes too late. */
static void check_late_exif(png_reader *state, png_infop info)
{
    png_uint_32 size;
    png_bytep exif;
    if (state->reader->media.meta.exif.data || !png_get_eXIf_1(state->base.png, info, &size, &exif) ||
        smp_exif_orientation(exif, size) == 1)
        return;
    smp_fail(state->base.err, SMP_E_DECODE,
             "the orientation comes after the picture, too late in a pipe of more than %d bytes", AHEAD);
    smp_hint(state->base.err, "write the picture to a file first, and name that");
    smp_png_stop(&state->base, SMP_E_DECODE);
}

static void read_end(void *context)
{
    png_reader *state = context;
    if (state->reader->source.seekable) {
        png_read_end(state->base.png, NULL); /* what is kept was read before: smp_png_read_late() */
        return;
    }
    state->behind = png_create_info_struct(state->base.png);
    smp_png_need(&state->base, state->behind != NULL, "PNG", sizeof(void *));
    png_read_end(state->base.png, state->behind);
    check_late_exif(state, state->behind);
}

static smp_code finish(smp_reader *reader, smp_error *err)
{
    png_reader *state = reader->state;
    uint64_t next;
    if (state->cut.is) {
        if (!state->ended)
            smp_note_cut(&reader->notes, 0, reader->media.shape.height, "");
        return SMP_OK;
    }
    if (state->plain && smp_png_plain_end(state->plain, &next))
        return smp_png_read_behind(reader, next, err);
    if (state->plain) {
        void *row = smp_alloc_raw((size_t)state->stride);
        smp_code code = row ? fall_back(state, row, err) : smp_fail_memory(err, "a row", (uint64_t)state->stride);
        smp_free(row);
        if (code)
            return code;
    }
    return smp_png_guard(&state->base, read_end, state, err);
}

smp_code smp_png_read_end(smp_reader *reader, smp_error *err)
{
    SMP_TRY(finish(reader, err));
    smp_code code = SMP_OK;
    const uint8_t *next;
    size_t size = smp_source_peek(&reader->source, &next, SMP_BEHIND);
    if (smp_png_sniff(next, size))
        smp_note(&reader->notes, "another PNG follows; " SMP_FIRST_ALONE);
    else if (smp_behind_counts(next, size))
        smp_note(&reader->notes, SMP_BEHIND_LOST);
    return code;
}

smp_code smp_png_read_next(smp_reader *, bool *more, smp_error *)
{
    *more = false; /* of an animation png_frames.c reads the pictures */
    return SMP_OK;
}

void smp_png_read_close(smp_reader *reader)
{
    png_reader *state = reader->state;
    smp_png_plain_close(state->plain);
    if (state->behind)
        png_destroy_info_struct(state->base.png, &state->behind);
    smp_png_destroy(&state->base, true);
    smp_free_all(state->whole, state->line);
    smp_png_expand_free(state->expand);
    smp_free(state);
}
