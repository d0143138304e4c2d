/* Writes PNG by rows: gray, gray and alpha, RGB or RGBA of 8 or 16 bits, with the metadata that was kept. libpng writes
 * the header and the metadata, png_blocks.c the picture data. The same rows, level and metadata give the same bytes: no
 * time is written. */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/pool.h"
#include "io/png/png_glue.h"

enum {
    FIXED_MAX = 21474, /* libpng stores gamma and chromaticities as hundred-thousandths in 32 bits */
    DEFAULT_LEVEL = 1,
    COMPRESS_TEXT = 1024,  /* bytes from which texts are compressed */
    MEMORY_CAP = 256 << 20 /* bytes libpng may hold besides rows */
};

typedef struct png_writer {
    smp_png base;
    smp_writer *writer;
    const smp_meta *meta; /* during write_open only */
    uint8_t *exif;        /* a copy with the orientation reset */
    png_text *texts;
    char **latin1; /* texts converted for tEXt; entries may be null */
    size_t text_count;
    smp_png_blocks *blocks;
    smp_png_pack *pack; /* a PNG of fewer bits; else null */
    smp_meta chunks;    /* of the metadata: what write_chunks puts; no pointers */
} png_writer;

static void drain(png_structp png, png_bytep from, size_t size)
{
    smp_png *state = png_get_io_ptr(png);
    smp_code code = smp_output_write(state->output, from, size, state->err);
    if (code != SMP_OK)
        smp_png_stop(state, code);
}

static void flush(png_structp) {}

smp_code smp_png_write_shape(const smp_file_format *, const char *, smp_shape *shape, smp_error *err)
{
    if (shape->width > INT32_MAX || shape->height > INT32_MAX)
        return smp_fail(err, SMP_E_WRITE, "a PNG holds at most %d x %d pixels", INT32_MAX, INT32_MAX);
    if (shape->format == SMP_F32)
        shape->format = SMP_U16;
    return smp_check_colour("PNG", shape, err);
}

/* ------------------------------------------------------------------------------------------------ metadata */

static void put_colour(png_writer *state, int colours)
{
    png_structp png = state->base.png;
    png_infop info = state->base.info;
    const smp_meta *meta = state->meta;
    /* A profile replaces the other colour chunks; libpng itself writes those that agree with sRGB. */
    if (meta->icc.size && smp_icc_fits(&meta->icc, colours)) {
        png_set_iCCP(png, info, meta->icc_name[0] ? meta->icc_name : "ICC profile", PNG_COMPRESSION_TYPE_BASE,
                     meta->icc.data, (png_uint_32)meta->icc.size);
        if (png_get_valid(png, info, PNG_INFO_iCCP))
            return;
        smp_note(&state->writer->notes, "the ICC profile is invalid and is left out");
    }
    if (meta->srgb_intent >= 0 && meta->srgb_intent < PNG_sRGB_INTENT_LAST) {
        png_set_sRGB(png, info, meta->srgb_intent);
        return;
    }
    if (meta->gamma > 0 && meta->gamma < FIXED_MAX)
        png_set_gAMA(png, info, meta->gamma);
    const double *c = meta->chrm;
    bool fits = meta->has_chrm;
    for (int i = 0; i < 8; i++)
        fits &= c[i] > -FIXED_MAX && c[i] < FIXED_MAX;
    if (fits)
        png_set_cHRM(png, info, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
}

/* UTF-8 converted to Latin-1. Null when it has characters past U+00FF (*fits is false) or memory is exhausted. */
static char *to_latin1(const char *text, bool *fits)
{
    size_t length = strlen(text), n = 0;
    *fits = true;
    char *out = smp_alloc(length + 1);
    for (size_t i = 0; out && i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80) {
            out[n++] = (char)c;
        } else if (c == 0xC2 || c == 0xC3) {
            out[n++] = (char)((c & 3) << 6 | (text[++i] & 0x3F));
        } else {
            smp_free(out);
            *fits = false;
            return NULL;
        }
    }
    return out;
}

/* PNG keys: 1 to 79 printable Latin-1 characters. libpng removes blanks at the ends. */
static bool is_key(const char *latin1)
{
    size_t length = strlen(latin1), shown = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)latin1[i];
        shown += (c > 0x20 && c < 0x7F) || c > 0xA0;
    }
    return shown > 0 && length <= 79;
}

static void put_texts(png_writer *state)
{
    const smp_meta *meta = state->meta;
    if (!meta->text_count)
        return;
    size_t count = state->text_count = meta->text_count, used = 0;
    state->texts = smp_alloc_array(count, sizeof *state->texts);
    smp_png_need(&state->base, state->texts, "texts", count);
    state->latin1 = smp_alloc_array(2 * count, sizeof *state->latin1);
    smp_png_need(&state->base, state->latin1, "texts", count);
    for (size_t i = 0; i < count; i++) {
        const char *value = meta->texts[i].value;
        bool fits, international = strcmp(meta->texts[i].key, SMP_XMP_KEY) == 0;
        char *key = state->latin1[2 * i] = to_latin1(meta->texts[i].key, &fits);
        if (!fits || (key && !is_key(key))) {
            smp_note(&state->writer->notes, "the text '%.80s' is left out: a PNG cannot hold its keyword",
                     meta->texts[i].key);
            continue;
        }
        smp_png_need(&state->base, key, "a text", strlen(meta->texts[i].key));
        char *latin1 = state->latin1[2 * i + 1] = to_latin1(value, &fits);
        if (fits)
            smp_png_need(&state->base, latin1, "a text", strlen(value));
        png_text *text = &state->texts[used++];
        text->key = key;
        bool compress =
            strlen(value) > COMPRESS_TEXT && !international; /* programs that know no PNG search files for XMP */
        if (international || !fits) {
            text->compression = compress ? PNG_ITXT_COMPRESSION_zTXt : PNG_ITXT_COMPRESSION_NONE;
            text->text = meta->texts[i].value;
        } else {
            text->compression = compress ? PNG_TEXT_COMPRESSION_zTXt : PNG_TEXT_COMPRESSION_NONE;
            text->text = latin1;
        }
    }
    if (used)
        png_set_text(state->base.png, state->base.info, state->texts, (int)used);
}

/* Chunks that this version of libpng may not know. They precede the palette and the picture. */
static void write_chunks(png_writer *state)
{
    const smp_meta *meta = &state->chunks;
    if (meta->has_cicp)
        png_write_chunk(state->base.png, (png_const_bytep) "cICP", meta->cicp, sizeof meta->cicp);
    if (meta->has_mdcv)
        png_write_chunk(state->base.png, (png_const_bytep) "mDCV", meta->mdcv, sizeof meta->mdcv);
    if (meta->has_clli)
        png_write_chunk(state->base.png, (png_const_bytep) "cLLI", meta->clli, sizeof meta->clli);
}

static void put_metadata(png_writer *state)
{
    const smp_meta *meta = state->meta;
    png_structp png = state->base.png;
    png_infop info = state->base.info;
    put_colour(state, state->writer->shape.channels <= 2 ? 1 : 3);
    if (meta->x_density >= 0.5 && meta->y_density >= 0.5 && meta->x_density < INT32_MAX && meta->y_density < INT32_MAX)
        png_set_pHYs(png, info, (png_uint_32)lrint(meta->x_density), (png_uint_32)lrint(meta->y_density),
                     meta->density_is_aspect ? PNG_RESOLUTION_UNKNOWN : PNG_RESOLUTION_METER);
    else if (meta->x_density > 0 && !smp_exif_says_resolution(&meta->exif))
        smp_note(&state->writer->notes, "the resolution is left out: a PNG holds 1 to %d pixels a metre", INT32_MAX);
    if (meta->exif.size >= 8 && meta->exif.size < INT32_MAX) {
        state->exif = smp_alloc_raw(meta->exif.size);
        smp_png_need(&state->base, state->exif, "EXIF", meta->exif.size);
        memcpy(state->exif, meta->exif.data, meta->exif.size);
        smp_exif_reset_orientation(state->exif, meta->exif.size);
        png_set_eXIf_1(png, info, (png_uint_32)meta->exif.size, state->exif);
    }
    put_texts(state);
}

/* ------------------------------------------------------------------------------------------------ rows */

/* Only numbers are taken, which stay when the metadata is gone. */
static void keep_chunks(png_writer *state)
{
    const smp_meta *from = state->meta;
    smp_meta *to = &state->chunks;
    to->has_cicp = from->has_cicp;
    to->has_mdcv = from->has_mdcv;
    to->has_clli = from->has_clli;
    memcpy(to->cicp, from->cicp, sizeof to->cicp);
    memcpy(to->mdcv, from->mdcv, sizeof to->mdcv);
    memcpy(to->clli, from->clli, sizeof to->clli);
}

/* Gives libpng what is known before the first row; it keeps copies. */
static void begin_header(void *context)
{
    png_writer *state = context;
    png_structp png = state->base.png;
    const smp_shape *shape = &state->writer->shape;
    static const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                  PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_user_limits(png, INT32_MAX, INT32_MAX);
    png_set_benign_errors(png, 1); /* faulty metadata of the input is left out and does not lose the picture */
    png_set_write_fn(png, &state->base, drain, flush);
    png_set_IHDR(png, state->base.info, (png_uint_32)shape->width, (png_uint_32)shape->height,
                 shape->format == SMP_U16 ? 16 : 8, colours[shape->channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (state->meta) {
        put_metadata(state);
        keep_chunks(state);
    }
    if (state->base.refused)
        png_error(png, "memory");
}

static void write_header(void *context)
{
    png_writer *state = context;
    png_write_info_before_PLTE(state->base.png, state->base.info);
    write_chunks(state);
    png_write_info(state->base.png, state->base.info);
}

/* The header of what was packed. */
static void write_packed_header(void *context)
{
    png_writer *state = context;
    png_structp png = state->base.png;
    const smp_png_pack *pack = state->pack;
    png_color palette[256];
    png_byte alpha[256];
    int transparent = 0;
    png_set_IHDR(png, state->base.info, (png_uint_32)pack->width, (png_uint_32)pack->height, pack->bits,
                 pack->palette.count ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    for (int i = 0; i < pack->palette.count; i++) {
        const uint8_t *colour = pack->palette.colours[i];
        palette[i] = (png_color){colour[0], colour[1], colour[2]};
        alpha[i] = colour[3];
        transparent = colour[3] < 255 ? i + 1 : transparent;
    }
    if (pack->palette.count)
        png_set_PLTE(png, state->base.info, palette, pack->palette.count);
    if (transparent)
        png_set_tRNS(png, state->base.info, alpha, transparent, NULL);
    write_header(state);
}

static smp_code open_blocks(png_writer *state, smp_error *err)
{
    const smp_shape *shape = &state->writer->shape;
    const smp_write_options *options = &state->writer->options;
    const int sample = (int)smp_sample_size((int)shape->format);
    const int level = smp_write_value(&options->values, &smp_png_level);
    smp_png_blocks_setup setup = {
        .row_bytes = state->pack ? state->pack->row_bytes : smp_row_bytes(shape),
        .rows = shape->height,
        .pixel_bytes = state->pack ? 1 : shape->channels * sample,
        .swap = sample == 2 && smp_little_endian(),
        .level = level >= 0 ? level : DEFAULT_LEVEL,
        .threads = options->threads > 0 ? options->threads : smp_pool_cores(),
    };
    return smp_png_blocks_open(&setup, &state->blocks, err);
}

smp_code smp_png_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err)
{
    png_writer *state = smp_alloc(sizeof *state);
    SMP_NEED(state, "PNG", sizeof *state, err);
    writer->state = state;
    state->writer = writer;
    state->meta = meta;
    state->base.output = writer->output;
    state->base.fault = SMP_E_WRITE;
    state->base.cap = MEMORY_CAP + 8 * (uint64_t)smp_row_bytes(&writer->shape);
    smp_code code = smp_png_create(&state->base, false, err);
    if (code == SMP_OK)
        code = smp_png_guard(&state->base, begin_header, state, err);
    state->meta = NULL;
    if (!code && smp_png_pack_wanted(&writer->options))
        return smp_png_pack_open(&writer->shape, &writer->options, &state->pack, err);
    code = code ? code : smp_png_pack_keep(&writer->shape, smp_coding_png(&writer->coding), &state->pack, err);
    if (state->pack || code)
        return code;
    code = code ? code : smp_png_guard(&state->base, write_header, state, err);
    return code ? code : open_blocks(state, err);
}

static smp_code put_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    png_writer *state = writer->state;
    smp_code code = SMP_OK;
    while (rows > 0 && !code) {
        int64_t put = smp_png_blocks_put(state->blocks, from, stride, rows);
        from = (const char *)from + put * stride;
        rows -= put;
        while (!code && smp_png_blocks_due(state->blocks)) {
            size_t size;
            const uint8_t *chunk = smp_png_blocks_next(state->blocks, &size);
            code = smp_output_write(writer->output, chunk, size, err);
        }
    }
    smp_png_blocks_settle(state->blocks);
    return code;
}

/* The picture does not fit few bits: writes the rows that were held as any others. */
static smp_code give_up(smp_writer *writer, int64_t held, smp_error *err)
{
    enum { STRIP = 1 << 20 }; /* bytes */
    png_writer *state = writer->state;
    smp_png_pack *pack = state->pack;
    const int64_t row = smp_row_bytes(&writer->shape), strip = smp_clamp_i64(STRIP / row, 1, smp_max_i64(held, 1));
    uint8_t *rows = smp_alloc_raw((size_t)(strip * row));
    state->pack = NULL;
    smp_code code = rows ? smp_png_guard(&state->base, write_header, state, err)
                         : smp_fail_memory(err, "rows of a picture", (uint64_t)(strip * row));
    code = code ? code : open_blocks(state, err);
    for (int64_t y = 0; !code && y < held; y += strip) {
        const int64_t count = smp_min_i64(strip, held - y);
        smp_png_pack_restore(pack, y, count, rows);
        code = put_rows(writer, rows, row, count, err);
    }
    smp_free(rows); /* settled: blocks read it no more */
    smp_png_pack_close(pack);
    return code;
}

smp_code smp_png_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    png_writer *state = writer->state;
    if (!state->pack)
        return put_rows(writer, from, stride, rows, err);
    const int64_t held = smp_png_pack_put(state->pack, writer->next_row, from, stride, rows);
    if (held == rows || !state->pack->kept)
        return SMP_OK;
    SMP_TRY(give_up(writer, writer->next_row + held, err));
    return put_rows(writer, (const char *)from + held * stride, stride, rows - held, err);
}

static smp_code write_packed(smp_writer *writer, smp_error *err)
{
    png_writer *state = writer->state;
    smp_png_pack *pack = state->pack;
    SMP_TRY(smp_png_pack_finish(pack, err));
    SMP_TRY(smp_png_guard(&state->base, write_packed_header, state, err));
    SMP_TRY(open_blocks(state, err));
    return put_rows(writer, pack->rows, pack->row_bytes, pack->height, err);
}

static void write_end(void *context)
{
    png_writer *state = context;
    png_write_chunk(state->base.png, (png_const_bytep) "IEND", NULL, 0); /* the metadata is before the picture */
}

smp_code smp_png_write_end(smp_writer *writer, smp_error *err)
{
    png_writer *state = writer->state;
    SMP_TRY(state->pack ? write_packed(writer, err) : SMP_OK);
    return smp_png_guard(&state->base, write_end, state, err);
}

void smp_png_write_close(smp_writer *writer)
{
    png_writer *state = writer->state;
    smp_png_destroy(&state->base, false);
    smp_png_blocks_close(state->blocks);
    smp_png_pack_close(state->pack);
    smp_free_all(state->exif, state->texts);
    for (size_t i = 0; state->latin1 && i < 2 * state->text_count; i++)
        smp_free(state->latin1[i]);
    smp_free_all(state->latin1, state);
}
