/* Runs libtiff: see tiff_library.h. It has no memory of ours: what it takes was counted by tiff_page.c, is bounded for
 * one allocation here, and in all by the limits of the process that decodes. */
#include "io/tiff/tiff_glue.h"

#ifdef SMP_HAVE_TIFF

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <tiffio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"

enum { SPARE = 1 << 20 /* bytes of an allocation beside what pictures need: tables, directories */ };

struct smp_tiff_handle {
    TIFF *tiff;
    smp_source *source;
    const smp_tiff_page *page;
    uint64_t position;
    smp_notes *notes;
    uint32_t *raster; /* RGBA of a strip or tile, or of a row of tiles, the bottom row first */
    bool reading;     /* most warnings are errors: libtiff goes on with invented samples after them */
    bool lenient;     /* with --no-verify: they are notes */
    bool failed, memory;
    bool warned;       /* it failed by a warning */
    char message[160]; /* the first */
};

/* ------------------------------------------------------------------------------------------------ callbacks */

static tmsize_t read_bytes(thandle_t context, void *to, tmsize_t size)
{
    smp_tiff_handle *handle = context;
    smp_source *source = handle->source;
    const uint64_t left = handle->position < source->size ? source->size - handle->position : 0;
    const size_t n = (size_t)smp_min_u64(left, size > 0 ? (uint64_t)size : 0);
    const double start = smp_now();
    const bool whole = smp_source_look(source, handle->position, to, n);
    source->seconds += smp_now() - start;
    if (!whole)
        return 0;
    handle->position += n;
    return (tmsize_t)n;
}

static tmsize_t write_bytes(thandle_t, void *, tmsize_t)
{
    return 0;
}

static toff_t seek(thandle_t context, toff_t offset, int whence)
{
    smp_tiff_handle *handle = context;
    const uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? handle->position : handle->source->size;
    handle->position = from + offset;
    return handle->position;
}

static toff_t size_of(thandle_t context)
{
    return ((smp_tiff_handle *)context)->source->size;
}

static int close_nothing(thandle_t)
{
    return 0;
}

/* 1: libtiff's own handler, which prints, is not called. */
static int keep_message(TIFF *, void *context, const char *, const char *format, va_list list)
{
    smp_tiff_handle *handle = context;
    if (!handle->failed)
        vsnprintf(handle->message, sizeof handle->message, format, list);
    handle->failed = true;
    if (strstr(handle->message, "emory") || strstr(handle->message, "No space"))
        handle->memory = true;
    return 1;
}

/* Whether every sample was in the file, as far as a warning tells. Bytes before a restart marker were samples. */
static bool is_harmless(const char *text)
{
    static const char stray[] = "extraneous bytes before marker 0x";
    const char *found = strstr(text, stray), *marker = found ? found + sizeof stray - 1 : "";
    return strstr(text, "Old-style LZW codes") || strstr(text, "unknown JFIF revision") ||
           strstr(text, "old-style JPEG") || (found && !(marker[0] == 'd' && marker[1] >= '0' && marker[1] <= '7'));
}

static int keep_warning(TIFF *tiff, void *context, const char *module, const char *format, va_list list)
{
    smp_tiff_handle *handle = context;
    char text[160];
    va_list again;
    va_copy(again, list);
    vsnprintf(text, sizeof text, format, again);
    va_end(again);
    if (!handle->reading)
        return 1;
    if (is_harmless(text)) {
        smp_note(handle->notes, "the TIFF is read with a reservation (libtiff: %s)", text);
    } else if (handle->lenient) {
        smp_note(handle->notes, "the picture may be damaged (libtiff: %s)", text);
    } else {
        handle->warned = handle->warned || !handle->failed;
        keep_message(tiff, context, module, format, list);
    }
    return 1;
}

static smp_code fail_library(const smp_tiff_handle *handle, smp_error *err)
{
    if (handle->memory)
        return smp_fail_memory(err, "a TIFF", handle->page->memory);
    if (strstr(handle->message, "SOF type 0xc3"))
        return smp_fail(err, SMP_E_DECODE, "the TIFF is of lossless JPEGs, which libtiff does not read"),
               smp_hint(err, "save it with another compression where it was made");
    smp_fail(err, SMP_E_DECODE, "the TIFF is damaged (libtiff: %.150s)",
             handle->message[0] ? handle->message : "no reason is given");
    return handle->warned ? smp_hint_no_verify(err) : smp_hint_damaged(err);
}

/* ------------------------------------------------------------------------------------------------ opening */

/* Whether libtiff goes by the values that were checked. */
static bool agrees(TIFF *tiff, const smp_tiff_page *page)
{
    uint32_t width = 0, height = 0, unit = 0, rows = 0;
    uint16_t bits = 0, samples = 0, planar = 0, compression = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    if (width != page->width || height != page->height || bits != page->bits || samples != page->samples ||
        compression != page->compression || (samples > 1 && (planar == PLANARCONFIG_SEPARATE) != page->planar) ||
        (TIFFIsTiled(tiff) != 0) != page->tiled)
        return false;
    TIFFGetField(tiff, page->tiled ? TIFFTAG_TILEWIDTH : TIFFTAG_IMAGEWIDTH, &unit);
    TIFFGetFieldDefaulted(tiff, page->tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows);
    if (unit != page->unit || (page->tiled || rows < height ? rows : height) != page->unit_rows)
        return false;
    if (page->rgba)
        return true;
    const tmsize_t row = page->tiled ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff);
    if (row < 0 || (uint64_t)row != page->row_bytes)
        return false;
    return !page->tiled || (uint64_t)TIFFTileSize(tiff) == page->row_bytes * (uint64_t)page->unit_rows;
}

static TIFF *open_library(smp_tiff_handle *handle)
{
    const smp_tiff_page *page = handle->page;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    const uint64_t most = smp_min_u64(page->memory, INT64_MAX - SPARE) + SPARE;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_message, handle);
    TIFFOpenOptionsSetWarningHandlerExtR(options, keep_warning, handle);
    TIFFSetErrorHandler(NULL); /* of messages that belong to no file */
    TIFFSetWarningHandler(NULL);
    /* Read, no directory yet, no memory map, no strips made of others. */
    TIFF *tiff = TIFFClientOpenExt("", "rhmc", handle, read_bytes, write_bytes, seek, close_nothing, size_of, NULL,
                                   NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

smp_code smp_tiff_handle_open(smp_reader *reader, const smp_tiff *tiff, const smp_tiff_page *page,
                              smp_tiff_handle **out, smp_error *err)
{
    smp_tiff_handle *handle = *out = smp_alloc(sizeof *handle);
    SMP_NEED(handle, "a TIFF", sizeof *handle, err);
    handle->source = &reader->source;
    handle->notes = &reader->notes;
    handle->lenient = reader->options.no_verify;
    handle->page = page;
    smp_code code = SMP_OK;
    handle->tiff = open_library(handle);
    if (!handle->tiff || !TIFFSetSubDirectory(handle->tiff, tiff->folder)) {
        code = fail_library(handle, err);
    } else if (!TIFFIsCODECConfigured((uint16_t)page->compression)) {
        code = smp_fail(err, SMP_E_DECODE, "the TIFF has compression %s, which the libtiff here is built without",
                        smp_tiff_compression_name(page->compression));
    } else {
        if (page->photometric >= TIFF_LOG_L)
            TIFFSetField(handle->tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_FLOAT);
        if (page->rgba) /* turning is the program's */
            TIFFSetField(handle->tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
        if (page->compression == COMPRESSION_JPEG && page->photometric == TIFF_YCBCR && !page->planar)
            TIFFSetField(handle->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        if (!agrees(handle->tiff, page))
            code = smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: its entries contradict each other");
    }
    handle->reading = true;
    handle->failed = handle->memory = false;
    handle->message[0] = '\0';
    if (code) {
        smp_tiff_handle_close(handle);
        *out = NULL;
    }
    return code;
}

void smp_tiff_handle_close(smp_tiff_handle *handle)
{
    if (!handle)
        return;
    if (handle->tiff)
        TIFFClose(handle->tiff);
    smp_free_all(handle->raster, handle);
}

/* ------------------------------------------------------------------------------------------------ samples */

smp_code smp_tiff_handle_row(smp_tiff_handle *handle, int plane, int64_t y, void *to, smp_error *err)
{
    const int done = TIFFReadScanline(handle->tiff, to, (uint32_t)y, (uint16_t)plane);
    return done == 1 && !handle->failed ? SMP_OK : fail_library(handle, err);
}

smp_code smp_tiff_handle_rgb(smp_tiff_handle *handle, int64_t y, uint8_t *to, smp_error *err)
{
    const smp_tiff_page *page = handle->page;
    const int64_t first = y / page->unit_rows * page->unit_rows;
    const size_t unit = (size_t)page->unit * (size_t)page->unit_rows;
    const int64_t rows = page->tiled ? page->unit_rows : smp_min_i64(page->unit_rows, page->height - first);
    if (!handle->raster)
        SMP_NEED(handle->raster = smp_alloc_array(unit * (size_t)page->across, sizeof(uint32_t)), "a TIFF", 4 * unit,
                 err);
    for (int64_t t = 0; y == first && t < page->across; t++) {
        uint32_t *raster = handle->raster + (size_t)t * unit;
        const int done = page->tiled
                             ? TIFFReadRGBATileExt(handle->tiff, (uint32_t)(t * page->unit), (uint32_t)y, raster, 1)
                             : TIFFReadRGBAStripExt(handle->tiff, (uint32_t)y, raster, 1);
        if (done != 1 || handle->failed)
            return fail_library(handle, err);
    }
    for (int64_t x = 0; x < page->width; x++, to += 3) {
        const uint32_t *raster = handle->raster + (size_t)(x / page->unit) * unit;
        const uint32_t pixel = raster[(rows - 1 - (y - first)) * page->unit + x % page->unit];
        to[0] = (uint8_t)TIFFGetR(pixel);
        to[1] = (uint8_t)TIFFGetG(pixel);
        to[2] = (uint8_t)TIFFGetB(pixel);
    }
    return SMP_OK;
}

smp_code smp_tiff_handle_tile(smp_tiff_handle *handle, int plane, int64_t x, int64_t y, void *to, smp_error *err)
{
    const tmsize_t want = (tmsize_t)(handle->page->row_bytes * (uint64_t)handle->page->unit_rows);
    const uint32_t tile = TIFFComputeTile(handle->tiff, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane);
    const tmsize_t got = TIFFReadEncodedTile(handle->tiff, tile, to, want);
    return got == want && !handle->failed ? SMP_OK : fail_library(handle, err);
}

#endif
