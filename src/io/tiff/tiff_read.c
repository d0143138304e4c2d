/* Reads TIFF by rows through libtiff, as gray, RGB or with alpha, of 8 or 16 bits or of floats. The directories were
 * walked and checked before (tiff_walk.c, tiff_page.c); strips are decoded a row at a time, tiles a row of tiles.
 * Planes have a handle of the library each, so that none of them is decoded twice. */
#include "io/tiff/tiff_glue.h"

#ifdef SMP_HAVE_TIFF

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

typedef struct tiff_reader {
    smp_tiff tiff, below; /* below: of the picture of which the page is a thumbnail */
    const smp_tiff *shown;
    smp_tiff_page page;
    smp_tiff_samples samples;
    int planes;
    smp_tiff_handle *handles[TIFF_MOST_PLANES];
    smp_tiff_inflate *inflates[TIFF_MOST_PLANES]; /* in place of the handle; null: of none */
    uint8_t *rows[TIFF_MOST_PLANES];              /* of strips one row, of tiles a row of them */
    uint8_t *tile;
    int64_t band; /* the row of tiles that rows hold; -1: none */
} tiff_reader;

static void describe(smp_reader *reader, const tiff_reader *state)
{
    static const char *const kinds[] = {"white is zero", "gray",  "RGB", "palette", "",
                                        "CMYK",          "YCbCr", "",    "L*a*b*",  "L*a*b*"};
    const smp_tiff_page *page = &state->page;
    const bool light = page->photometric >= TIFF_LOG_L;
    smp_media *media = &reader->media;
    char pages[40] = "";
    media->bits = page->bits;
    const bool palette = page->photometric == TIFF_PALETTE_COLOUR;
    const int bits = page->bits > 4 ? 8 : page->bits > 2 ? 4 : page->bits; /* that a PNG has */
    if (page->samples == 1 && page->bits <= 8 && (palette || (page->bits < 8 && page->bits == bits)))
        media->meta.coding = (smp_coding){.kind = SMP_CODING_PNG, .png = {bits, palette}};
    if (light)
        media->meta.gamma = 1;
    media->pages = state->tiff.pages;
    if (state->tiff.pages > 1)
        snprintf(pages, sizeof pages, ", page %lld of %lld",
                 (long long)(reader->options.page ? reader->options.page : 1), (long long)state->tiff.pages);
    snprintf(media->detail, sizeof media->detail, "%s%s, %s%s%s%s%s", light ? "light" : kinds[page->photometric],
             smp_cmyk_profiled(state->samples.cmyk) ? " to sRGB by its profile" : "",
             smp_tiff_compression_name(page->compression), page->tiled ? ", tiles" : "", page->planar ? ", planes" : "",
             state->tiff.big ? ", BigTIFF" : "", pages);
    if (page->is_float && page->bits != 32)
        smp_note(&reader->notes, "floats of %d bits are read as floats of 32", page->bits);
    if (page->numbers)
        smp_note(&reader->notes, "integers of %d bits%s are read as floats of the same value", page->bits,
                 page->is_signed ? " with a sign" : "");
    else if (page->bits > 16 && !page->is_float)
        smp_note(&reader->notes, "samples of %d bits are read as 16", page->bits);
    if (state->tiff.broken)
        smp_note(&reader->notes, "what the TIFF names as the page behind its last, %lld, is none: it is damaged",
                 (long long)state->tiff.pages);
    if ((page->is_float || page->numbers) && page->photometric == TIFF_WHITE_IS_ZERO)
        smp_note(&reader->notes, "white is zero in the TIFF, and its floats are kept as they are: `invert` turns them");
    if (page->photometric == TIFF_BLACK_IS_ZERO && page->colours > 1)
        snprintf(media->detail + strlen(media->detail), sizeof media->detail - strlen(media->detail), ", %d channels",
                 page->colours);
    const int others = page->samples - page->colours - (page->alpha ? 1 : 0);
    if (others > 0)
        smp_note(&reader->notes, "%d sample%s of each pixel %s left out: the TIFF does not say what %s", others,
                 others == 1 ? "" : "s", others == 1 ? "is" : "are", others == 1 ? "it means" : "they mean");
    if (state->tiff.pages > 1 && !reader->options.page)
        smp_note(&reader->notes, "the file holds %lld pages; the first is read (--page N reads another)",
                 (long long)state->tiff.pages);
}

static smp_code take_memory(tiff_reader *state, smp_error *err)
{
    const smp_tiff_page *page = &state->page;
    const size_t unit = (size_t)(page->row_bytes * (uint64_t)(page->tiled ? page->unit_rows : 1));
    state->band = -1;
    for (int i = 0; i < state->planes; i++)
        SMP_NEED(state->rows[i] = smp_alloc_array(unit, (size_t)page->across), "rows of a TIFF", unit, err);
    if (page->tiled && !(state->tile = smp_alloc_raw(unit)))
        return smp_fail_memory(err, "a tile", unit);
    return SMP_OK;
}

static smp_code open_plane(smp_reader *reader, tiff_reader *state, int i, smp_error *err)
{
    smp_code code = smp_tiff_handle_open(reader, state->shown, &state->page, &state->handles[i], err);
    return code || state->page.rgba ? code
                                    : smp_tiff_inflate_open(&reader->source, state->shown, &state->page,
                                                            !reader->options.no_verify, &state->inflates[i], err);
}

static smp_code read_tile(tiff_reader *state, int i, int64_t x, int64_t y, smp_error *err)
{
    if (state->inflates[i])
        return smp_tiff_inflate_tile(state->inflates[i], i, x, y, state->tile, err);
    return smp_tiff_handle_tile(state->handles[i], i, x, y, state->tile, err);
}

static smp_code read_strip_row(tiff_reader *state, int i, int64_t y, smp_error *err)
{
    if (state->inflates[i])
        return smp_tiff_inflate_row(state->inflates[i], i, y, state->rows[i], err);
    return smp_tiff_handle_row(state->handles[i], i, y, state->rows[i], err);
}

smp_code smp_tiff_read_open(smp_reader *reader, smp_error *err)
{
    tiff_reader *state = reader->state = smp_alloc(sizeof *state);
    SMP_NEED(state, "a TIFF", sizeof *state, err);
    SMP_TRY(smp_source_spool(&reader->source, err));
    SMP_TRY(smp_tiff_open(&state->tiff, &reader->source, reader->options.page ? reader->options.page : 1, err));
    state->shown = smp_tiff_open_below(&state->below, &state->tiff) ? &state->below : &state->tiff;
    SMP_TRY(smp_tiff_check_page(state->shown, &reader->options.limits, &state->page, err));
    SMP_TRY(smp_tiff_samples_open(&state->samples, state->shown, &state->page, err));
    state->planes = state->page.planar ? state->page.samples : 1;
    for (int i = 0; i < state->planes; i++)
        SMP_TRY(open_plane(reader, state, i, err));
    SMP_TRY(take_memory(state, err));
    SMP_TRY(smp_tiff_keep_meta(&state->tiff, reader, err));
    if (state->page.photometric == TIFF_INK)
        SMP_TRY(smp_cmyk_open(reader, state->page.bits == 16 ? UINT16_MAX : UINT8_MAX, &state->samples.cmyk, err));
    const smp_kind kind = reader->media.shape.kind;
    reader->media.shape = state->samples.shape;
    reader->media.shape.kind = kind;
    describe(reader, state);
    return SMP_OK;
}

/* Decodes the row of tiles that row y is in. */
static smp_code read_band(tiff_reader *state, int64_t y, smp_error *err)
{
    const smp_tiff_page *page = &state->page;
    const size_t row = (size_t)page->row_bytes, line = row * (size_t)page->across;
    const int64_t band = y / page->unit_rows;
    smp_code code = SMP_OK;
    if (band == state->band)
        return SMP_OK;
    for (int i = 0; i < state->planes; i++)
        for (int64_t t = 0; t < page->across && !code; t++) {
            code = read_tile(state, i, t * page->unit, band * page->unit_rows, err);
            for (int64_t r = 0; r < page->unit_rows && !code; r++)
                memcpy(state->rows[i] + (size_t)r * line + (size_t)t * row, state->tile + (size_t)r * row, row);
        }
    state->band = code ? -1 : band;
    return code;
}

static smp_code fetch_row(tiff_reader *state, int64_t y, const uint8_t **rows, smp_error *err)
{
    const smp_tiff_page *page = &state->page;
    const size_t line = (size_t)page->row_bytes * (size_t)page->across;
    SMP_TRY(page->tiled ? read_band(state, y, err) : SMP_OK);
    for (int i = 0; i < state->planes; i++) {
        rows[i] = state->rows[i] + (page->tiled ? (size_t)(y % page->unit_rows) * line : 0);
        if (!page->tiled)
            SMP_TRY(read_strip_row(state, i, y, err));
    }
    return SMP_OK;
}

smp_code smp_tiff_read_row(smp_reader *reader, int64_t y, void *to, smp_error *err)
{
    tiff_reader *state = reader->state;
    const uint8_t *planes[TIFF_MOST_PLANES];
    if (state->page.rgba)
        return smp_tiff_handle_rgb(state->handles[0], y, to, err);
    SMP_TRY(fetch_row(state, y, planes, err));
    smp_tiff_samples_row(&state->samples, planes, to);
    if (state->samples.rounded)
        smp_note(&reader->notes, "integers beyond 16777216 are rounded to the digits of a float");
    return SMP_OK;
}

void smp_tiff_read_close(smp_reader *reader)
{
    tiff_reader *state = reader->state;
    for (int i = 0; i < TIFF_MOST_PLANES; i++) {
        smp_tiff_handle_close(state->handles[i]);
        smp_tiff_inflate_close(state->inflates[i]);
        smp_free(state->rows[i]);
    }
    smp_free(state->tile);
    smp_tiff_samples_close(&state->samples);
    smp_tiff_close(&state->below);
    smp_tiff_close(&state->tiff);
    smp_free(state);
}

#endif
